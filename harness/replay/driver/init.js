// Runs in every document before any script of the page, with BINDING and TOKEN filled in by the host and the shim's `kit` where the clock is
// virtual. It takes the host's binding out of the page's reach, captures the natives it needs, leaves one door for the page client, and
// hands the functions that answer calls and hold scripts to the host in a console message that no page can read. Hard part: nothing here
// may depend on what a page can replace later, so a call is flat text put together from primitives (a `toJSON` has nothing to act on).
(kit) => {
  "use strict";
  const post = globalThis["BINDING"];
  delete globalThis["BINDING"];
  if (window.top !== window || typeof post !== "function") return;
  const quote = JSON.stringify;
  const isFinite = Number.isFinite;
  const NativePromise = Promise;
  const NativeError = Error;
  const { apply } = Reflect;
  const { then } = Promise.prototype;
  const running = Object.create(null);
  const waiting = Object.create(null);
  let calls = 0;
  let connections = 0;
  let runs = 0;

  const encode = (value) => {
    if (value === undefined) return "null";
    if (typeof value === "string") return quote(value);
    return typeof value === "number" && isFinite(value) ? quote(value) : "false";
  };

  const connect = (run) => {
    if (kit !== null && run === kit.token) return kit; // a frame's own shim asks
    const connection = ++connections;
    let sequence = 0;
    const call = (method, first, second, option) =>
      new NativePromise((resolve, reject) => {
        const id = ++calls;
        const head = `${id},${encode(run)},${connection},${++sequence},${encode(method)}`;
        const text = `[${head},${encode(first)},${encode(second)},${encode(option)}]`;
        waiting[id] = { resolve, reject };
        post(text);
      });
    return kit ? { call, enter: kit.enter, wait: kit.wait, owned: kit.owned } : { call };
  };

  const answer = (id, failure) => {
    const call = waiting[id];
    if (call === undefined) return;
    delete waiting[id];
    if (failure === null) call.resolve();
    else call.reject(new NativeError(failure));
  };

  // A module that waits for ever would be collected as garbage, and one that throws is no unhandled rejection: it is held, and heard.
  const hold = (module) =>
    (running[++runs] = new NativePromise((resolve, reject) => apply(then, module, [() => resolve(), reject])));

  Object.defineProperty(globalThis, Symbol.for("vitexec.connect"), { value: connect });
  console.debug("TOKEN", answer, hold);
}
