// What the page sees of audio and video elements: the browser's own attributes and methods, answered from the player that the clock moves. Hard
// part: the browser's element behind them is loaded but never plays, so whatever depends on playing must come from here.
(kit) => {
  const { apply } = kit;
  const { HTMLMediaElement: Media, Node, Document, DOMException, AudioContext: Context, MediaElementAudioSourceNode: SourceNode, Promise } = globalThis;
  const { get: seekableOf } = Object.getOwnPropertyDescriptor(Media.prototype, "seekable");
  const METADATA = 1;
  const ENOUGH = 4;
  const LOADING = 2; // of `networkState`
  const NOT_ALLOWED = "play() failed because the user didn't interact with the document first. https://goo.gl/xX8pDD";
  const NOT_SUPPORTED = "The element has no supported sources.";

  /** Replaces an attribute: `see` gets the player and the native's answer; `set` the player and a function that sets the native's. */
  const attribute = (name, see, set) =>
    kit.replaceGetter(Media.prototype, name, see && ((native) => ({
      get [name]() {
        const answer = apply(native, this, []);
        return see(kit.player(this), answer);
      },
    }).__lookupGetter__(name)), set && ((native) => ({
      set [name](value) {
        if (!kit.isMedia(this)) apply(native, this, [value]);
        else set(kit.player(this), value, () => apply(native, this, [value]));
      },
    }).__lookupSetter__(name)));
  attribute("paused", (player) => player.paused);
  attribute("ended", (player) => player.ended && !kit.lookAtMedia(player, "loop"));
  attribute("seeking", (player) => player.seeking > 0);
  attribute("readyState", (player) => player.ready);
  attribute("networkState", (player, answer) => (player.awaited !== null && answer !== 0 ? LOADING : answer));
  attribute("duration", (player) => kit.mediaDuration(player));
  attribute("error", (player) => player.error);
  const ranges = (player, answer) => (player.ready >= METADATA ? apply(seekableOf, player.element, []) : answer);
  attribute("buffered", ranges);
  attribute("played", (player, answer) => (player.ended || kit.mediaPosition(player) > 0 ? ranges(player, answer) : answer));
  attribute("currentTime", (player) => kit.mediaPosition(player), (player, value, set) => {
    const to = +value;
    if (to - to !== 0) return set(); // no finite number: the native says so
    kit.seekMedia(player, to > kit.mediaDuration(player) ? kit.mediaDuration(player) : to);
  });
  const changes = (name, type, before) => {
    attribute(name, null, (player, value, set) => {
      const old = kit.lookAtMedia(player, name);
      before(player);
      set();
      if (kit.lookAtMedia(player, name) !== old) kit.emitMedia(player, type);
    });
  };
  changes("volume", "volumechange", () => {});
  changes("muted", "volumechange", () => {});
  changes("playbackRate", "ratechange", kit.rebaseMedia);
  changes("defaultPlaybackRate", "ratechange", () => {});
  for (const name of ["src", "srcObject"]) {
    attribute(name, null, (player, value, set) => {
      set();
      kit.loadMedia(player);
      if (name === "srcObject" && value !== null) kit.noteSound("a media stream in an element is not driven");
    });
  }

  const method = (name, run) =>
    kit.replace(Media.prototype, name, (native) => ({
      [name](...given) {
        return kit.isMedia(this) ? run(kit.player(this), () => apply(native, this, given)) : apply(native, this, given);
      },
    })[name]);
  method("load", (player, native) => {
    native();
    kit.loadMedia(player);
  });
  method("pause", (player) => kit.pause(player));
  method("play", (player) =>
    new Promise((resolve, reject) => {
      if (!kit.mayPlay(player)) return reject(new DOMException(NOT_ALLOWED, "NotAllowedError"));
      if (player.error !== null) return reject(new DOMException(NOT_SUPPORTED, "NotSupportedError"));
      player.plays[player.plays.length] = { resolve, reject };
      kit.play(player);
    }));
  kit.replace(HTMLVideoElement.prototype, "requestVideoFrameCallback", (native) => ({
    requestVideoFrameCallback(...given) {
      kit.note("callbacks of a video's pictures come in their own time");
      return apply(native, this, given);
    },
  }).requestVideoFrameCallback);

  // Elements are known from the moment they are made, before the browser tells anyone about their files.
  const known = (made) => {
    if (kit.isMedia(made)) kit.player(made);
    return made;
  };
  for (const [owner, name] of [[Document.prototype, "createElement"], [Document.prototype, "createElementNS"], [Node.prototype, "cloneNode"]]) {
    kit.replace(owner, name, (native) => ({
      [name](...given) {
        return known(apply(native, this, given));
      },
    })[name]);
  }
  kit.replaceClass(globalThis, "Audio", (native) => (given, target) =>
    target === undefined ? apply(native, undefined, given) : known(kit.construct(native, given, target)));

  // An element in a graph is heard through a gain in the place of its source node.

  const routes = kit.weak();
  kit.replace(Context?.prototype, "createMediaElementSource", (native) => ({
    createMediaElementSource(element) {
      const voice = kit.voiceOf(this);
      if (voice === undefined || !kit.isMedia(element)) return apply(native, this, [element]);
      if (routes.get(element)) {
        throw new DOMException("Failed to execute 'createMediaElementSource' on 'AudioContext': HTMLMediaElement already connected previously to a different MediaElementSourceNode.", "InvalidStateError");
      }
      const node = kit.standIn(this, SourceNode.prototype, { inputs: 0, element });
      routes.set(element, node);
      const player = kit.player(element);
      player.route = { voice, node };
      player.moved = true;
      return node;
    },
  }).createMediaElementSource);
}
