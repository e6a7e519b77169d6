// As libraries do: an id for each object, from Math.random.
export const uuid = () => Array.from({ length: 8 }, () => Math.floor(Math.random() * 16).toString(16)).join("");
