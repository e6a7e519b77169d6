// Audio contexts whose time is the clock's: behind each stands an offline context that renders up to each frame's time and rests there, so that
// `currentTime`, `ended` and what an analyser sees are the same on every host. Hard part: an offline context starts, stops and sorts
// its events in its own way; the page gets the states it asked for, and what ends in one frame ends in the order it was started in.
(kit) => {
  kit.SOUND_RATE = 44100; // what Chromium has without a sound card
  const FPS = 60;
  const QUANTUM = 128; // samples rendered at a time
  const LENGTH = 2 ** 28; // samples of the longest rendering, 101 minutes at 44.1 kHz; its memory is only touched as it renders
  const { apply, construct } = kit;
  const { OfflineAudioContext: Offline, BaseAudioContext: Base, GainNode: Gain, Event, DOMException } = globalThis;
  const { floor } = Math;
  const { addEventListener, dispatchEvent } = EventTarget.prototype;
  const { stopImmediatePropagation } = Event.prototype;
  const { connect } = AudioNode.prototype;
  const { suspend, resume, startRendering } = Offline.prototype;
  const getter = (owner, name) => Object.getOwnPropertyDescriptor(owner, name).get;
  const destinationOf = getter(Base.prototype, "destination");
  const contextOf = getter(AudioNode.prototype, "context");
  const activation = getter(Navigator.prototype, "userActivation");
  const beenActive = getter(UserActivation.prototype, "hasBeenActive");
  const { navigator } = globalThis;
  const { setPrototypeOf } = Object;

  const voices = kit.weak(); // context -> what we know of it
  const standIns = kit.weak(); // a gain in the place of a node that needs a sound card -> what it shows of that node
  let open = [];
  const notes = { __proto__: null };
  kit.soundNotes = notes;
  kit.noteSound = (words) => (notes[words] = true);
  kit.collect = () => {};
  kit.opened = () => {};

  /** Chromium's rule: sound needs one input by the user, ever. Input comes in frames, so this is the same in each replay. */
  kit.soundAllowed = () => apply(beenActive, apply(activation, navigator, []), []);

  const standIn = (context, prototype, what, options) => {
    const node = new Gain(context, options);
    setPrototypeOf(node, prototype);
    standIns.set(node, what);
    return node;
  };
  /** An offline context that the clock moves, at a sample rate; it looks as if `maker` had made it. */
  kit.openVoice = (rate, maker) => {
    const context = construct(Offline, [1, LENGTH, rate], maker);
    const voice = { context, rate, state: "suspended", wanted: true, allowed: false, closing: false };
    voice.out = standIn(context, AudioDestinationNode.prototype, { outputs: 0 }, { __proto__: null, channelCount: 2, channelCountMode: "explicit" });
    apply(connect, voice.out, [apply(destinationOf, context, [])]);
    voice.begun = false;
    voice.at = 0; // samples rendered
    voice.from = { frame: 0, sample: 0 }; // where its time has run on from
    voice.asked = [];
    voice.endings = [];
    voice.sources = 0;
    voice.changes = false; // whether the page gets an event of its rendering: the second, when it rests again
    voice.arrived = () => {};
    voices.set(context, voice);
    apply(addEventListener, context, ["statechange", (event) => {
      if (!event.isTrusted) return;
      voice.events++;
      if (voice.events === 2 && voice.changes) kit.taskBegins();
      else apply(stopImmediatePropagation, event, []);
      if (voice.events === 2) kit.hop(voice.arrived);
    }, true]);
    open[open.length] = voice;
    kit.opened(voice);
    return voice;
  };
  kit.voiceOf = (context) => voices.get(context);
  kit.standIn = standIn;
  kit.standsFor = (node) => standIns.get(node);
  kit.voices = () => open;

  // Rendering

  const render = (voice, target, changes, done) => {
    voice.events = 0;
    voice.changes = changes;
    const first = !voice.begun;
    voice.begun = true;
    const at = voice.at;
    voice.at = first ? 0 : target;
    voice.arrived = () => {
      kit.collect(voice, at);
      done();
    };
    // A rendering stops at the first quantum that does not begin before the time it is given.
    apply(suspend, voice.context, [first ? 0 : (target - QUANTUM / 2) / voice.rate]);
    apply(first ? startRendering : resume, voice.context, []);
  };
  const settleAsked = (voice) => {
    const kept = [];
    for (let i = 0; i < voice.asked.length; i++) {
      const one = voice.asked[i];
      if (one.state === voice.state) one.resolve();
      else if (voice.state === "closed") one.reject(new DOMException("The AudioContext was closed", "InvalidStateError"));
      else if (one.state === "suspended" && voice.state === "running") one.resolve(); // it was asked to run again at once
      else kept[kept.length] = one;
    }
    voice.asked = kept;
  };
  const deliverEndings = (voice, done) => {
    let first = -1;
    const { endings } = voice;
    for (let i = 0; i < endings.length; i++) {
      if (endings[i] !== null && (first < 0 || endings[i].number < endings[first].number)) first = i;
    }
    if (first < 0) {
      voice.endings = [];
      return done();
    }
    const { source, event } = endings[first];
    endings[first] = null;
    kit.hop(kit.bound(dispatchEvent, source, [event]), () => kit.taskBegins());
    kit.hop(() => deliverEndings(voice, done));
  };
  const moveVoice = (voice, done) => {
    const before = voice.state;
    const next = voice.closing ? "closed" : voice.wanted && voice.allowed ? "running" : "suspended";
    const end = () => {
      settleAsked(voice);
      kit.hop(() => deliverEndings(voice, done));
    };
    if (before === next && next !== "running") return end();
    voice.state = next;
    if (next !== "running") return render(voice, voice.at + QUANTUM, true, end);
    if (before !== "running") {
      voice.from = { frame: kit.frame, sample: voice.at };
      return render(voice, voice.at + QUANTUM, true, end);
    }
    const passed = ((kit.frame - voice.from.frame) * voice.rate) / FPS;
    const target = voice.from.sample + (floor(passed / QUANTUM) + 1) * QUANTUM;
    if (target <= voice.at) return end();
    if (target >= LENGTH) {
      kit.noteSound("an audio context ran longer than is rendered");
      return end();
    }
    render(voice, target, false, end);
  };
  const moveVoices = (done) => {
    const voicesNow = open;
    const step = (i) => {
      if (i < voicesNow.length) return moveVoice(voicesNow[i], () => step(i + 1));
      const kept = [];
      for (let k = 0; k < open.length; k++) if (open[k].state !== "closed") kept[kept.length] = open[k];
      open = kept;
      done();
    };
    step(0);
  };
  const { animate } = kit;
  kit.animate = (time, done) => animate(time, () => moveVoices(done));

  // What a source's start and end do

  kit.startSource = AudioBufferSourceNode.prototype.start;
  const starts = (source) => {
    const voice = voices.get(apply(contextOf, source, []));
    if (voice === undefined) return;
    if (kit.soundAllowed()) voice.allowed = true;
    const number = ++voice.sources;
    // The event comes while the rendering goes on, and among others of the same quantum in any order: the page gets it when all is at rest.
    apply(addEventListener, source, ["ended", (event) => {
      if (!event.isTrusted) return;
      apply(stopImmediatePropagation, event, []);
      voice.endings[voice.endings.length] = { number, source, event: new Event("ended") };
    }, true]);
  };
  for (const owner of [AudioScheduledSourceNode, AudioBufferSourceNode]) {
    kit.replace(owner.prototype, "start", (native) => ({
      start(...given) {
        apply(native, this, given);
        starts(this);
      },
    }).start);
  }
}
