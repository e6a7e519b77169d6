// The ground of the shim: natives captured before the page can replace them, functions that look native, and the two phases. Code of
// the page runs in the game's phase, code of a script (and what it registers) in the script's, so that each draws from its own stream of
// randomness and the game's stays the same without a script. Hard part: nothing here may change what an honest page sees.
(kit, config) => {
  const { apply, construct, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const { WeakMap, Promise, Error, MessageChannel } = globalThis;
  const { then } = Promise.prototype;
  const weakGet = WeakMap.prototype.get;
  const weakSet = WeakMap.prototype.set;
  const { postMessage } = MessagePort.prototype;
  const { addEventListener } = EventTarget.prototype;

  Object.assign(kit, { apply, construct, defineProperty, getOwnPropertyDescriptor, Promise, Error });
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

  // One macrotask of our own: microtasks drain before it, and it runs in order with its like.
  const { port1, port2 } = new MessageChannel();
  let hops = [];
  let next = 0;
  apply(addEventListener, port1, ["message", () => {
    const run = hops[next];
    hops[next++] = undefined;
    if (next === hops.length) {
      hops = [];
      next = 0;
    }
    run();
  }]);
  port1.start();
  kit.hop = (run) => {
    defineProperty(hops, hops.length, { value: run, writable: true, enumerable: true, configurable: true });
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

  const sources = kit.weak();
  const nativeToString = Function.prototype.toString;
  const { toString } = {
    toString() {
      return (typeof this === "function" && sources.get(this)) || apply(nativeToString, this, []);
    },
  };

  /** Makes `replacement` look like the native `original`. */
  kit.disguise = (replacement, original) => {
    for (const key of ["name", "length"]) defineProperty(replacement, key, getOwnPropertyDescriptor(original, key));
    sources.set(replacement, apply(nativeToString, original, []));
    return replacement;
  };

  /** Replaces a method, if the browser has it; `make` gets the native and returns the replacement, written as a method. */
  kit.replace = (owner, name, make) => {
    const found = owner && getOwnPropertyDescriptor(owner, name);
    if (!found || typeof found.value !== "function") return;
    const replacement = kit.disguise(make(found.value), found.value);
    defineProperty(owner, name, { ...found, value: replacement });
    if (typeof found.value.prototype === "object" && name !== "prototype") replacement.prototype = found.value.prototype;
  };

  /** Replaces the getter (and the setter, if `makeSet` is given) of an accessor, if the browser has it. */
  kit.replaceGetter = (owner, name, makeGet, makeSet) => {
    const found = owner && getOwnPropertyDescriptor(owner, name);
    if (!found || typeof found.get !== "function") return;
    const get = makeGet ? kit.disguise(makeGet(found.get), found.get) : found.get;
    const set = makeSet && found.set ? kit.disguise(makeSet(found.set), found.set) : found.set;
    defineProperty(owner, name, { ...found, get, set });
  };

  kit.replace(Function.prototype, "toString", () => toString);
}
