// CSS and Web animations and media elements move by the clock. Animations are seeked each frame (the host has stopped the browser's own
// timeline), so that `animationend` and the like come in the frame they are due in. Media elements play a time of their own that the clock moves.
(kit) => {
  const { apply } = kit;
  const getAnimations = Document.prototype.getAnimations;
  const { currentTime, playState } = Object.getOwnPropertyDescriptors(Animation.prototype);
  const begun = kit.weak();
  const seek = (animation, time) => {
    if (apply(playState.get, animation, []) !== "running") return begun.set(animation, undefined);
    const at = begun.get(animation);
    if (at === undefined) return begun.set(animation, { time, from: apply(currentTime.get, animation, []) ?? 0 });
    apply(currentTime.set, animation, [at.from + (time - at.time) * animation.playbackRate]);
  };

  const playing = [];
  kit.animate = (time, done) => {
    const running = apply(getAnimations, document, []);
    for (let i = 0; i < running.length; i++) seek(running[i], time);
    if (playing.length > 0) kit.moveMedia(playing, time);
    done();
  };
  kit.playing = playing;
}
