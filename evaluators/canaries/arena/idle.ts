// Does nothing and ends: never cleared.

export {};
