export const when = performance.now();
export const late = await new Promise((done) => setTimeout(done, 40, "later"));
