// The ground of the shim, made once for a page and shared by all its realms: tasks of our own, functions that look native, and the two
// phases. Code of the page runs in the game's phase, code of a script (and what it registers) in the script's, so that each draws from its own
// stream of randomness. Hard part: nothing may show; so the page's callbacks are called by the browser itself, with no frame of ours below them.
(kit, config) => {
  const { apply, construct, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const { WeakMap, Promise, Error, MessageChannel, console } = globalThis;
  const { then } = Promise.prototype;
  const { captureStackTrace } = Error;
  const { debug } = console;
  const weakGet = WeakMap.prototype.get;
  const weakSet = WeakMap.prototype.set;
  const { postMessage } = MessagePort.prototype;
  const { addEventListener } = EventTarget.prototype;
  const { bind, apply: applyMethod } = Function.prototype;

  Object.assign(kit, { apply, construct, defineProperty, getOwnPropertyDescriptor, Promise, Error });
  kit.token = config.token; // by which a frame's realm finds this one
  kit.realms = [];
  kit.GAME = 0;
  kit.SCRIPT = 1;
  kit.phase = kit.GAME;
  kit.frame = 0;
  kit.now = config.base; // ms since the page's time origin
  kit.then = (promise, fulfilled, rejected) => apply(then, promise, [fulfilled, rejected]);
  kit.weak = () => {
    const map = new WeakMap();
    return { get: (key) => apply(weakGet, map, [key]), set: (key, value) => apply(weakSet, map, [key, value]) };
  };
  /** A function that calls `callback` with just these arguments, leaving no trace in a stack. */
  kit.bound = (callback, self, given) => apply(bind, applyMethod, [callback, self, given]);
  /** Tells the host of what the clock does not drive. */
  kit.note = (what) => apply(debug, console, [config.token, what]);
  kit.tellSettling = () => apply(debug, console, [config.token, true]);

  // One macrotask of our own: microtasks drain before it, and it runs in order with its like. The first listener fetches what is to run
  // (`before` prepares it in the same task, and may refuse), the second is that itself: the browser calls it, so nothing of ours is on the stack.
  const { port1, port2 } = new MessageChannel();
  const nothing = () => {};
  const turn = { __proto__: null, handleEvent: nothing };
  let hops = [];
  let next = 0;
  apply(addEventListener, port1, ["message", () => {
    const { run, before } = hops[next];
    hops[next++] = undefined;
    if (next === hops.length) {
      hops = [];
      next = 0;
    }
    turn.handleEvent = before !== undefined && before() === false ? nothing : run;
  }]);
  apply(addEventListener, port1, ["message", turn]);
  port1.start();
  kit.hop = (run, before) => {
    defineProperty(hops, hops.length, { value: { run, before }, writable: true, enumerable: true, configurable: true });
    apply(postMessage, port2, [0]);
  };

  // Runs `run` in a phase, and what its microtasks do as well: they drain before the next hop resets it.
  kit.inPhase = (phase, run) => {
    const before = kit.phase;
    kit.phase = phase;
    try {
      return run();
    } finally {
      kit.phase = before;
    }
  };

  // Functions that look native

  const sources = kit.weak();
  const nativeToString = Function.prototype.toString;
  kit.sourceOf = (value) => (typeof value === "function" ? sources.get(value) : undefined);

  /** Makes `replacement` look like the native `original`. */
  kit.disguise = (replacement, original) => {
    for (const key of ["name", "length"]) defineProperty(replacement, key, getOwnPropertyDescriptor(original, key));
    sources.set(replacement, sources.get(original) ?? apply(nativeToString, original, []));
    return replacement;
  };
  const { split, startsWith, includes } = String.prototype;
  const ours = (line) => apply(includes, line, ["(<anonymous>:"]) || apply(startsWith, line, ["    at <anonymous>:"]);
  /** An error as the native would have made it: without frames of ours. `shown` is the function that was called, if it still runs. */
  const cleaned = (error, shown) => {
    try {
      const { get, set } = getOwnPropertyDescriptor(error, "stack");
      const text = Error.prepareStackTrace === undefined ? apply(get, error, []) : null;
      if (typeof text !== "string") {
        if (shown !== undefined) captureStackTrace(error, shown);
        return error;
      }
      const lines = apply(split, text, ["\n"]);
      let kept = lines[0];
      let first = -1;
      let dropped = false;
      for (let i = 1; i < lines.length; i++) {
        if (first < 0 && apply(startsWith, lines[i], ["    at "])) first = i;
        if (first >= 0 && ours(lines[i])) dropped = true;
        else kept += `\n${lines[i]}`;
      }
      if (!dropped) return error;
      if (shown !== undefined && ours(lines[first])) captureStackTrace(error, shown);
      else apply(set, error, [kept]);
    } catch {
      // no error of the browser's, or a frozen one
    }
    return error;
  };
  kit.cleaned = cleaned;
  /** A function that calls a native to have it throw. */
  kit.throwing = (native, shown) => (self, ...given) => {
    try {
      return apply(native, self, given);
    } catch (error) {
      throw cleaned(error, shown);
    }
  };
  const guarded = (run) => {
    const { shown } = {
      shown(...given) {
        try {
          return apply(run, this, given);
        } catch (error) {
          throw cleaned(error, shown);
        }
      },
    };
    return shown;
  };
  kit.guarded = guarded;
  /** A promise for the end of a native's, whose error shows nothing of ours. */
  kit.rejecting = (promise) => new Promise((resolve, reject) => kit.then(promise, resolve, (error) => reject(cleaned(error))));

  /** Replaces a method, if the browser has it; `make` gets the native and returns the replacement, written as a method. One that is
   * `plain` throws nothing. */
  kit.replace = (owner, name, make, plain) => {
    const found = owner && getOwnPropertyDescriptor(owner, name);
    if (!found || typeof found.value !== "function") return;
    const made = make(found.value);
    defineProperty(owner, name, { ...found, value: kit.disguise(plain ? made : guarded(made), found.value) });
  };

  /** Replaces a class, if the browser has it; `make` gets the native and returns what constructs in its place. */
  kit.replaceClass = (owner, name, make) => {
    const found = owner && getOwnPropertyDescriptor(owner, name);
    if (!found || typeof found.value !== "function") return;
    const native = found.value;
    const made = make(native);
    const shown = function (...given) {
      try {
        return made(given, new.target);
      } catch (error) {
        throw cleaned(error, shown);
      }
    };
    const keys = Reflect.ownKeys(native);
    for (let i = 0; i < keys.length; i++) {
      const kept = getOwnPropertyDescriptor(native, keys[i]);
      const own = getOwnPropertyDescriptor(shown, keys[i]);
      if (own === undefined || own.configurable || keys[i] === "prototype") defineProperty(shown, keys[i], kept);
    }
    kit.disguise(shown, native);
    Reflect.setPrototypeOf(shown, Reflect.getPrototypeOf(native));
    const home = getOwnPropertyDescriptor(native.prototype, "constructor");
    if (home.value === native) defineProperty(native.prototype, "constructor", { ...home, value: shown });
    defineProperty(owner, name, { ...found, value: shown });
    return shown;
  };

  /** Replaces the getter (and the setter, if `makeSet` is given) of an accessor, if the browser has it. */
  kit.replaceGetter = (owner, name, makeGet, makeSet) => {
    const found = owner && getOwnPropertyDescriptor(owner, name);
    if (!found || typeof found.get !== "function") return;
    const get = makeGet ? kit.disguise(guarded(makeGet(found.get)), found.get) : found.get;
    const set = makeSet && found.set ? kit.disguise(guarded(makeSet(found.set)), found.set) : found.set;
    defineProperty(owner, name, { ...found, get, set });
  };
  /** Replaces a getter by one that always gives `value`, after the native's own checks. */
  kit.constant = (owner, name, value) =>
    kit.replaceGetter(owner, name, (native) => function () {
      apply(native, this, []);
      return value;
    });
}
