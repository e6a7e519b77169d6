// A game of three clicks: the smallest thing that can be won.
export const state = { clicks: [], won: false, startedAt: null, wonAt: null };
