// What asks for tasks, in each realm: timers, animation frames, idle callbacks, messages of the page to itself, the scheduler. Hard part: what
// is wrong with a call must be said in the browser's own words, so a bad call goes to the native.
(kit) => {
  const { apply, realm, MESSAGE_MS } = kit;
  const page = globalThis;
  const { setTimeout: nativeTimeout, clearTimeout: nativeClear } = globalThis;
  const check = (self) => apply(nativeClear, self, [0]); // throws unless it is a window

  realm.evaluate = (text, done) => {
    apply(nativeTimeout, page, [text, 0]);
    apply(nativeTimeout, page, [done, 0]);
  };
  const unfit = (number) => typeof number === "symbol" || typeof number === "bigint";
  const repeats = { setTimeout: false, setInterval: true };
  for (const name of ["setTimeout", "setInterval"]) {
    kit.replace(page, name, (native) => ({
      [name](...given) {
        const [handler, delay] = given;
        if (given.length === 0 || unfit(delay)) return apply(native, this, given);
        check(this);
        const text = typeof handler === "function" ? null : `${handler}`;
        const number = +delay | 0;
        const wait = number > 0 ? number : 0;
        if (!realm.alive()) return 0;
        const run = text === null ? kit.bound(handler, page, apply(slice, given, [2])) : null;
        return kit.addTimer(run, text, wait, repeats[name], realm);
      },
    })[name]);
  }
  const { slice } = Array.prototype;
  for (const name of ["clearTimeout", "clearInterval"]) {
    kit.replace(page, name, (native) => ({
      [name](id) {
        if (unfit(id)) return apply(native, this, [id]);
        check(this);
        kit.clearTimer(+id | 0);
      },
    })[name]);
  }
  const asks = { requestAnimationFrame: kit.askFrame, requestIdleCallback: kit.askIdle };
  for (const name of ["requestAnimationFrame", "requestIdleCallback"]) {
    kit.replace(page, name, (native) => ({
      [name](...given) {
        const [callback, options] = given;
        if (typeof callback !== "function" || (options !== undefined && options !== null && typeof options !== "object")) {
          return apply(native, this, given);
        }
        check(this);
        return realm.alive() ? asks[name](callback, realm) : 0;
      },
    })[name]);
  }
  for (const name of ["cancelAnimationFrame", "cancelIdleCallback"]) {
    kit.replace(page, name, (native) => ({
      [name](...given) {
        if (given.length === 0 || unfit(given[0])) return apply(native, this, given);
        check(this);
        kit.cancel(+given[0] | 0);
      },
    })[name]);
  }
  const IDLE_MS = 8; // what an idle callback has left
  const idle = globalThis.IdleDeadline?.prototype;
  realm.deadline = kit.apply(Object.create, Object, [idle ?? null]);
  kit.replaceGetter(idle, "didTimeout", (native) => function () {
    return this === realm.deadline ? false : apply(native, this, []);
  });
  kit.replace(idle, "timeRemaining", (native) => ({
    timeRemaining() {
      return this === realm.deadline ? IDLE_MS : apply(native, this, []);
    },
  }).timeRemaining);

  // Messages of the page to itself

  const { structuredClone: clone } = globalThis;
  const cloned = (native, self, given) => {
    try {
      return clone(given[0]);
    } catch {
      return apply(native, self, given); // throws in its own words
    }
  };
  const dictionary = (value) => value === undefined || value === null || typeof value === "object" || typeof value === "function";
  const transfers = (options) => (options?.transfer ?? options)?.length > 0;
  kit.replace(MessagePort.prototype, "postMessage", (native) => ({
    postMessage(...given) {
      if (given.length === 0 || !(this instanceof Port) || !dictionary(given[1]) || transfers(given[1])) return apply(native, this, given);
      const copy = cloned(native, this, given);
      kit.task(() => apply(native, this, [copy]), MESSAGE_MS, realm);
    },
  }).postMessage);
  const Port = MessagePort;
  const { postMessage: postNative, origin } = globalThis;
  if (kit.first) {
    kit.replace(page, "postMessage", (native) => ({
      postMessage(...given) {
        const self = this ?? page;
        const [, options, listed] = given;
        const target = typeof options === "object" ? options?.targetOrigin : options;
        const elsewhere = target !== undefined && target !== "*" && target !== "/" && target !== origin;
        if (given.length === 0 || self !== page || elsewhere || transfers(listed) || (typeof options === "object" && transfers(options))) {
          return apply(native, this, given);
        }
        const copy = cloned(native, this, given);
        kit.task(() => apply(native, page, [copy, "*"]), MESSAGE_MS, realm);
      },
    }).postMessage);
    // Who posts is told by the browser from who calls: with a second realm only its own function can know. A page with frames has that.
    const shown = page.postMessage;
    kit.frameJoined = () => {
      const found = kit.getOwnPropertyDescriptor(page, "postMessage");
      if (found?.value === shown) kit.defineProperty(page, "postMessage", { ...found, value: postNative });
    };
  } else kit.frameJoined();
  kit.replace(globalThis.BroadcastChannel?.prototype, "postMessage", (native) => ({
    postMessage(...given) {
      kit.note("a BroadcastChannel carries messages in its own time");
      return apply(native, this, given);
    },
  }).postMessage);

  // The scheduler and waiting for memory

  const { scheduler, Promise } = globalThis;
  const TURNS = { __proto__: null, "user-blocking": 0.5, "user-visible": 1, background: 2 };
  kit.replace(globalThis.Scheduler?.prototype, "yield", (native) => ({
    yield() {
      if (this !== scheduler) return kit.rejecting(apply(native, this, []));
      return new Promise((resolve) => kit.task(() => resolve(), MESSAGE_MS / 2, realm));
    },
  }).yield);
  kit.replace(globalThis.Scheduler?.prototype, "postTask", (native) => ({
    postTask(...given) {
      const [run, options] = given;
      const known = options?.priority === undefined || TURNS[options.priority] !== undefined;
      if (this !== scheduler || typeof run !== "function" || !dictionary(options) || !known) return kit.rejecting(apply(native, this, given));
      return new Promise((resolve, reject) => {
        const signal = options?.signal;
        if (signal?.aborted) return reject(signal.reason);
        const turn = MESSAGE_MS * (TURNS[options?.priority ?? signal?.priority] ?? 1);
        const begin = () => {
          if (signal?.aborted) reject(signal.reason);
          else resolve(kit.then(done, kit.bound(run, undefined, [])));
        };
        kit.task(begin, options?.delay > 0 ? +options.delay : turn, realm);
      });
    },
  }).postTask);
  const done = Promise.resolve();
  kit.replace(globalThis.Atomics, "waitAsync", (native) => ({
    waitAsync(...given) {
      const limit = given[3] === undefined ? Infinity : +given[3];
      if (!(limit > 0 && limit < Infinity)) return apply(native, this, given);
      const found = apply(native, this, [given[0], given[1], given[2]]);
      if (!found.async) return found;
      const value = new Promise((resolve) => {
        kit.then(found.value, resolve);
        kit.task(() => resolve("timed-out"), limit, realm);
      });
      return { async: true, value };
    },
  }).waitAsync);
}
