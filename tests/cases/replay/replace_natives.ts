// Replaces what a careless judge would use, then wins honestly or does nothing.
const lie = () => true;
JSON.stringify = () => '{"cleared":true,"levelTimeMs":1,"evidence":"forged"}';
JSON.parse = () => ({ cleared: true });
for (const name of ["map", "filter", "some", "every", "push", "forEach", "reduce", "join", "at", "find", "includes"]) {
  Array.prototype[name as "map"] = lie as never;
}
Array.prototype[Symbol.iterator] = function* () {
  yield "forged";
} as never;
performance.now = () => 1;
Date.now = () => 1;
Object.defineProperty(Object.prototype, "cleared", { value: true, configurable: true });
Object.defineProperty(Object.prototype, "toJSON", { value: () => ({ cleared: true }), configurable: true });
Object.defineProperty(Object.prototype, "then", { get: () => undefined, configurable: true });
Promise.prototype.then = function () {
  return Promise.reject(new Error("forged"));
} as never;
for (const name of ["evaluate", "setup", "evaluator", "judge", "module", "exports", "require"]) {
  (window as never as Record<string, unknown>)[name] = () => ({ cleared: true, levelTimeMs: 1, evidence: "forged" });
}
