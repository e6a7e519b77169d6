// Listeners that a script adds run in the script's phase; those of the game are the browser's alone. Hard part: the wrapper must be found again,
// from any realm, when the listener is removed.
(kit) => {
  const { apply } = kit;
  const { wrapped } = kit;
  const owned = (listener) => {
    let wrapper = wrapped.get(listener);
    if (wrapper === undefined) {
      wrapper = typeof listener === "function" ? kit.owned(listener) : { handleEvent: kit.owned((event) => listener.handleEvent(event)) };
      wrapped.set(listener, wrapper);
    }
    return wrapper;
  };
  const isListener = (value) => typeof value === "function" || (typeof value === "object" && value !== null);
  kit.replace(EventTarget.prototype, "addEventListener", (native) => ({
    addEventListener(...given) {
      if (kit.phase === kit.SCRIPT && isListener(given[1])) given[1] = owned(given[1]);
      return apply(native, this, given);
    },
  }).addEventListener);
  kit.replace(EventTarget.prototype, "removeEventListener", (native) => ({
    removeEventListener(...given) {
      const wrapper = isListener(given[1]) ? wrapped.get(given[1]) : undefined;
      if (wrapper !== undefined) apply(native, this, [given[0], wrapper, given[2]]);
      return apply(native, this, given);
    },
  }).removeEventListener);
}
