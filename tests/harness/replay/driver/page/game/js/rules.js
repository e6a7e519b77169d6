export const rules = { loaded: 1 };
