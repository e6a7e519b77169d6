// Audio and video elements that play by the clock. The browser only loads their files: it never plays them, and its events about them end here.
// Position, states and events are made anew, in frames. Hard part: a file loads in the browser's own time and steps, so the clock is held until it
// has come, and the page then gets the usual events in the order in which files were asked for.
(kit) => {
  const UPDATE_MS = 250; // between two events `timeupdate`
  const ABOUT_S = 1e-6;
  const NOTHING = 0; // of `readyState`
  const METADATA = 1;
  const CURRENT = 2;
  const ENOUGH = 4;
  const EMPTY = 0; // of `networkState`
  const IDLE = 1;
  const { apply, hold, ready } = kit; // of the page's own realm
  const { Event, DOMException, HTMLMediaElement: Media, HTMLVideoElement: Video } = globalThis;
  const { addEventListener, dispatchEvent } = EventTarget.prototype;
  const { stopImmediatePropagation } = Event.prototype;
  const { isPrototypeOf } = Object.prototype;
  const { get: targetOf } = Object.getOwnPropertyDescriptor(Event.prototype, "target");
  const { get: typeOf } = Object.getOwnPropertyDescriptor(Event.prototype, "type");
  const native = Object.getOwnPropertyDescriptors(Media.prototype);
  const look = (player, name) => apply(native[name].get, player.element, []);
  const TYPES = [
    "emptied", "abort", "loadstart", "progress", "suspend", "stalled", "durationchange", "loadedmetadata", "loadeddata", "canplay", "canplaythrough",
    "error", "play", "playing", "waiting", "timeupdate", "pause", "ended", "seeking", "seeked", "ratechange", "volumechange",
  ];
  const players = kit.weak(); // element -> what we know of it
  let playing = []; // in the order in which they were begun
  let seeks = []; // videos whose picture is awaited

  kit.isMedia = (value) => apply(isPrototypeOf, Media.prototype, [value]);
  kit.playing = () => playing;
  kit.soundMedia = kit.mediaLoaded = () => {};
  kit.lookAtMedia = look;

  /** What is known of an element, from the first time that anything is done with it. */
  kit.player = (element) => {
    let player = players.get(element);
    if (player !== undefined) return player;
    player = {
      element, video: apply(isPrototypeOf, Video.prototype, [element]), paused: true, ended: false, seeking: 0, ready: NOTHING, error: null,
      from: 0, since: 0, updated: 0, asked: 0, awaited: null, plays: [], moved: true, route: null,
      sound: null, pictured: null,
    };
    players.set(element, player);
    for (let i = 0; i < TYPES.length; i++) apply(addEventListener, element, [TYPES[i], heard, true]);
    if (look(player, "networkState") !== EMPTY) load(player);
    return player;
  };

  // Events

  const fire = (player, type) =>
    kit.hop(kit.bound(dispatchEvent, player.element, [new Event(type)]), () => {
      kit.phase = kit.GAME; // whoever asked: listeners are the game's, or know their own phase
      kit.taskBegins();
    });
  /** The page gets it when this frame settles. */
  const emit = (player, type, before) => {
    const one = hold(`the event ${type}`);
    ready(one, () => {
      if (before === undefined || before() !== false) fire(player, type);
    });
  };
  kit.emitMedia = emit;
  /** The page gets them now, one task each, before the frame is drawn. */
  let now = [];
  const deliverNow = (done) => {
    if (now.length === 0) return done();
    const due = now;
    now = [];
    for (let i = 0; i < due.length; i++) fire(due[i].player, due[i].type);
    kit.hop(() => deliverNow(done));
  };
  const emitNow = (player, type) => (now[now.length] = { player, type });

  // Loading

  const heard = (event) => {
    const element = apply(targetOf, event, []);
    if (!event.isTrusted || !kit.isMedia(element)) return;
    const player = kit.player(element);
    const type = apply(typeOf, event, []);
    apply(stopImmediatePropagation, event, []);
    if (type === "loadstart" && player.awaited === null && player.ready === NOTHING) load(player);
    if (type === "canplaythrough" || type === "error" || type === "suspend") arrive(player, type);
    if (type === "play") { // by the browser's own controls
      apply(native.pause.value, element, []);
      (player.paused ? kit.play : kit.pause)(player);
    }
    if (type === "seeked" && player.pictured) player.pictured();
  };
  for (let i = 0; i < TYPES.length; i++) apply(addEventListener, globalThis, [TYPES[i], heard, true]);

  /** The element has been given a file: the clock is held until the browser has it, or as much of it as it loads unasked. */
  const load = (player) => {
    player.asked++;
    if (look(player, "networkState") !== EMPTY) apply(native.pause.value, player.element, []); // it shall not play by itself
    player.ready = NOTHING;
    player.error = null;
    if (player.awaited === null) player.awaited = hold("a media file");
    arrive(player, "");
  };
  const arrive = (player, type) => {
    if (player.awaited === null) return;
    const error = look(player, "error");
    const level = look(player, "readyState");
    const rests = type === "suspend" || (type === "" && look(player, "networkState") === IDLE);
    const idle = rests && (level >= CURRENT || look(player, "preload") === "none");
    const whole = level === ENOUGH && (type === "canplaythrough" || type === "");
    if (error === null && type !== "error" && !whole && !idle) return;
    const { awaited, asked } = player;
    player.awaited = null;
    const steps = error !== null || type === "error" ? ["loadstart", "error"] : level === NOTHING ? ["loadstart", "suspend"] : [
      "loadstart", "progress", "suspend", "durationchange", "loadedmetadata", "loadeddata", "canplay", "canplaythrough",
    ];
    const step = (i) => () => {
      if (player.asked !== asked) return;
      if (steps[i] === "error") failed(player, error);
      if (steps[i] === "durationchange") player.ready = METADATA;
      if (steps[i] === "loadeddata") player.ready = ENOUGH;
      if (i + 1 < steps.length) ready(hold("a media file"), step(i + 1));
      else if (player.ready === ENOUGH) loaded(player);
      fire(player, steps[i]);
    };
    ready(awaited, step(0));
  };
  const failed = (player, error) => {
    player.error = error;
    refuse(player, "NotSupportedError", "Failed to load because no supported source was found.");
  };
  const loaded = (player) => {
    kit.mediaLoaded(player);
    if (player.paused && look(player, "autoplay") && kit.mayPlay(player)) kit.play(player);
    else if (!player.paused) run(player);
  };
  kit.loadMedia = (player) => {
    if (player.awaited === null && player.ready > NOTHING) for (const type of ["abort", "emptied"]) emit(player, type);
    halt(player);
    player.from = 0;
    player.ended = false;
    refuse(player, "AbortError", "The play() request was interrupted by a new load request.");
    load(player);
  };

  // Playing

  kit.mayPlay = (player) => kit.soundAllowed() || (player.video && look(player, "muted"));
  const duration = (player) => (player.ready >= METADATA ? look(player, "duration") : NaN);
  const positionAt = (player, time) => {
    const moving = !player.paused && player.ready === ENOUGH && !player.ended;
    const at = moving && time > player.since ? player.from + ((time - player.since) / 1000) * look(player, "playbackRate") : player.from;
    return at < 0 ? 0 : at > duration(player) ? duration(player) : at;
  };
  kit.mediaDuration = duration;
  kit.mediaPosition = (player) => positionAt(player, kit.now);
  kit.mediaPositionAt = positionAt;
  /** Its time goes on from here. */
  const rebase = (player) => {
    player.from = positionAt(player, kit.now);
    player.since = kit.now;
    player.moved = true;
  };
  kit.rebaseMedia = rebase;
  const run = (player) => {
    player.since = player.updated = kit.now;
    player.moved = true;
    playing[playing.length] = player;
    emit(player, "playing", () => {
      const { plays } = player;
      player.plays = [];
      for (let i = 0; i < plays.length; i++) plays[i].resolve();
      return !player.paused;
    });
  };
  const leave = (player) => {
    const kept = [];
    for (let i = 0; i < playing.length; i++) if (playing[i] !== player) kept[kept.length] = playing[i];
    playing = kept;
  };
  const refuse = (player, name, words) => {
    const { plays } = player;
    player.plays = [];
    for (let i = 0; i < plays.length; i++) plays[i].reject(new DOMException(words, name));
  };
  const halt = (player) => {
    rebase(player);
    player.paused = true;
    leave(player);
  };
  kit.play = (player) => {
    const ran = !player.paused && player.ready === ENOUGH;
    if (player.ended) {
      player.ended = false;
      player.from = 0;
    }
    if (ran) return emit(player, "playing", () => { // only its promise is owed
      const { plays } = player;
      player.plays = [];
      for (let i = 0; i < plays.length; i++) plays[i].resolve();
      return false;
    });
    if (!player.paused) return;
    player.paused = false;
    emit(player, "play");
    if (player.ready === ENOUGH) return run(player);
    emit(player, "waiting");
    if (look(player, "preload") !== "auto" && look(player, "networkState") === IDLE) {
      apply(native.preload.set, player.element, ["auto"]); // the browser loads no more by itself
      load(player);
    }
  };
  kit.pause = (player) => {
    if (player.paused) return;
    halt(player);
    emit(player, "timeupdate");
    emit(player, "pause");
    refuse(player, "AbortError", "The play() request was interrupted by a call to pause().");
  };
  kit.seekMedia = (player, to) => {
    player.ended = false;
    player.from = to < 0 ? 0 : to;
    player.since = kit.now;
    player.moved = true;
    if (player.ready < METADATA) return;
    player.seeking++;
    if (player.video) picture(player, () => {});
    emit(player, "seeking");
    emit(player, "timeupdate");
    emit(player, "seeked", () => {
      player.seeking--;
    });
  };

  // The frame

  const end = (player, time) => {
    player.updated = time;
    if (look(player, "loop")) {
      const length = duration(player);
      const over = player.from + ((time - player.since) / 1000) * look(player, "playbackRate") - length;
      player.from = length > 0 ? over % length : 0;
      player.since = time;
      player.moved = true;
      for (const type of ["seeking", "timeupdate", "seeked"]) emitNow(player, type);
      return;
    }
    player.from = duration(player);
    player.ended = player.paused = player.moved = true;
    leave(player);
    for (const type of ["timeupdate", "pause", "ended"]) emitNow(player, type);
  };
  /** Has the browser show a video's picture of now. */
  const picture = (player, done) => {
    const one = hold("a video's picture");
    player.pictured = () => {
      player.pictured = null;
      ready(one, () => {});
      done();
    };
    seeks[seeks.length] = player;
    apply(native.currentTime.set, player.element, [positionAt(player, kit.now)]);
  };
  const pictures = (videos, done) => {
    let left = videos.length;
    if (left === 0) return done();
    const one = () => {
      if (--left === 0) kit.hop(done);
    };
    for (let i = 0; i < videos.length; i++) picture(videos[i], one);
  };
  const { giveUp, animate } = kit;
  kit.giveUp = () => {
    giveUp();
    const late = seeks;
    seeks = [];
    for (let i = 0; i < late.length; i++) late[i].pictured?.();
  };
  kit.animate = (time, done) => {
    kit.soundMedia(time);
    if (playing.length === 0) return animate(time, done);
    animate(time, () => {
      kit.now = time;
      const due = playing;
      const videos = [];
      for (let i = 0; i < due.length; i++) {
        const player = due[i];
        if (player.video) videos[videos.length] = player;
        if (positionAt(player, time) >= duration(player) - ABOUT_S && look(player, "playbackRate") > 0) end(player, time);
        else if (time - player.updated >= UPDATE_MS - ABOUT_S) {
          player.updated = time;
          emitNow(player, "timeupdate");
        }
      }
      seeks = [];
      pictures(videos, () => deliverNow(done));
    });
  };
}
