// CSS and Web animations move by the clock: they are seeked each frame (the host has stopped the browser's own timeline), so that
// `animationend` and the like come in the frame they are due in.
(kit) => {
  const { apply } = kit;
  const { realm } = kit;
  if (kit.first) {
    const movers = [];
    kit.moves = (mover) => {
      movers[movers.length] = mover;
    };
    kit.animate = (time, done) => {
      for (let i = 0; i < movers.length; i++) movers[i](time);
      done();
    };
  }

  const { getAnimations } = Document.prototype;
  const { currentTime, playState, playbackRate } = Object.getOwnPropertyDescriptors(Animation.prototype);
  const begun = kit.weak();
  const seek = (animation, time) => {
    if (apply(playState.get, animation, []) !== "running") return begun.set(animation, undefined);
    const at = begun.get(animation);
    if (at === undefined) return begun.set(animation, { time, from: apply(currentTime.get, animation, []) ?? 0 });
    apply(currentTime.set, animation, [at.from + (time - at.time) * apply(playbackRate.get, animation, [])]);
  };
  const seekAll = (native, owner, time) => {
    const running = apply(native, owner, []);
    for (let i = 0; i < running.length; i++) seek(running[i], time);
  };
  // A shadow tree's animations are its own.
  const { getAnimations: getInside } = ShadowRoot.prototype;
  const { WeakRef } = globalThis;
  const { deref } = WeakRef.prototype;
  const shadows = [];
  kit.replace(Element.prototype, "attachShadow", (native) => ({
    attachShadow(...given) {
      const shadow = apply(native, this, given);
      kit.defineProperty(shadows, shadows.length, { value: new WeakRef(shadow), writable: true, enumerable: true, configurable: true });
      return shadow;
    },
  }).attachShadow);
  kit.moves((time) => {
    if (!realm.alive()) return;
    seekAll(getAnimations, realm.document, time);
    for (let i = 0; i < shadows.length; i++) {
      const shadow = apply(deref, shadows[i], []);
      if (shadow !== undefined) seekAll(getInside, shadow, time);
    }
  });
}
