// What the page sees of the audio contexts: a constructor, methods and states like the browser's, for contexts that the clock moves. Hard
// part: the browser's own methods know that these are no real-time contexts, so each is replaced, and what needs a sound card, a
// microphone or a stream is given a silent node in its place, which is noted.
(kit) => {
  const LOWEST_RATE = 3000;
  const HIGHEST_RATE = 768000;
  const NOT_MADE = "Failed to construct 'AudioContext':";
  const NOT_FINITE = `${NOT_MADE} Failed to read the 'sampleRate' property from 'AudioContextOptions': The provided float value is non-finite.`;
  const outside = (rate) => `${NOT_MADE} The hardware sample rate provided (${rate}) is outside the range [${LOWEST_RATE}, ${HIGHEST_RATE}].`;
  const { apply, delivered } = kit; // of the page's own realm
  const { AudioContext: Native, OfflineAudioContext: Offline, BaseAudioContext: Base, DOMException, TypeError, MediaStream, Promise } = globalThis;
  const { ceil } = Math;
  const timeOf = (voice) => voice.at / voice.rate;

  kit.replaceClass(globalThis, "AudioContext", () => (given, target) => {
    if (target === undefined) return Native();
    const asked = given[0]?.sampleRate;
    const rate = asked === undefined ? kit.SOUND_RATE : +asked;
    if (rate !== rate) throw new TypeError(NOT_FINITE);
    if (!(rate >= LOWEST_RATE && rate <= HIGHEST_RATE)) throw new DOMException(outside(rate), "NotSupportedError");
    const voice = kit.openVoice(rate, target);
    voice.allowed = kit.soundAllowed();
    return voice.context;
  });

  const see = (owner, name, look, set) =>
    kit.replaceGetter(owner, name, (native) => ({
      get [name]() {
        const voice = kit.voiceOf(this);
        return voice === undefined ? apply(native, this, []) : look(voice);
      },
    }).__lookupGetter__(name), set && ((native) => ({
      set [name](value) {
        const voice = kit.voiceOf(this);
        if (voice === undefined) apply(native, this, [value]);
        else set(voice, value);
      },
    }).__lookupSetter__(name)));
  see(Base.prototype, "state", (voice) => voice.state);
  see(Base.prototype, "currentTime", timeOf);
  see(Base.prototype, "destination", (voice) => voice.out);
  see(Native.prototype, "baseLatency", (voice) => ceil(voice.rate / 100) / voice.rate);
  see(Native.prototype, "outputLatency", () => 0);
  see(Native.prototype, "sinkId", (voice) => voice.sink ?? "");
  see(Native.prototype, "playbackStats", () => undefined);
  for (const name of ["onerror", "onsinkchange"]) {
    see(Native.prototype, name, (voice) => voice[name] ?? null, (voice, value) => (voice[name] = typeof value === "function" ? value : null));
  }
  const { length } = Object.getOwnPropertyDescriptors(Offline.prototype);
  see(Offline.prototype, "length", () => apply(length.get, {}, [])); // fails as for any other object
  const standsFor = (owner, name, key) =>
    kit.replaceGetter(owner, name, (native) => ({
      get [name]() {
        const found = kit.standsFor(this)?.[key];
        return found === undefined ? apply(native, this, []) : found;
      },
    }).__lookupGetter__(name));
  standsFor(AudioNode.prototype, "numberOfInputs", "inputs");
  standsFor(AudioNode.prototype, "numberOfOutputs", "outputs");
  standsFor(globalThis.MediaElementAudioSourceNode?.prototype, "mediaElement", "element");
  standsFor(globalThis.MediaStreamAudioSourceNode?.prototype, "mediaStream", "stream");
  standsFor(globalThis.MediaStreamAudioDestinationNode?.prototype, "stream", "stream");
  kit.replaceGetter(AudioDestinationNode.prototype, "maxChannelCount", (native) => ({
    get maxChannelCount() {
      return kit.standsFor(this) === undefined ? apply(native, this, []) : 2;
    },
  }).__lookupGetter__("maxChannelCount"));

  const ask = (voice, state) =>
    new Promise((resolve, reject) => {
      if (voice.closing) return reject(new DOMException(`Cannot ${state === "closed" ? "close" : state === "running" ? "resume" : "suspend"} a closed AudioContext.`, "InvalidStateError"));
      if (state === "closed") voice.closing = true;
      else voice.wanted = state === "running";
      if (voice.wanted && kit.soundAllowed()) voice.allowed = true;
      voice.asked[voice.asked.length] = { state, resolve, reject };
    });
  const method = (name, run) =>
    kit.replace(Native.prototype, name, (native) => ({
      [name](...given) {
        const voice = kit.voiceOf(this);
        return voice === undefined ? apply(native, this, given) : run(voice, given[0]);
      },
    })[name]);
  method("resume", (voice) => ask(voice, "running"));
  method("suspend", (voice) => ask(voice, "suspended"));
  method("close", (voice) => ask(voice, "closed"));
  method("setSinkId", (voice, sink) => new Promise((resolve) => {
    voice.sink = sink;
    resolve();
  }));
  method("getOutputTimestamp", (voice) => {
    const runs = voice.state === "running";
    return { contextTime: runs ? timeOf(voice) : 0, performanceTime: runs ? kit.now : 0 };
  });
  method("createMediaStreamSource", (voice, stream) => {
    kit.noteSound("the sound of a media stream is silent");
    return kit.standIn(voice.context, MediaStreamAudioSourceNode.prototype, { inputs: 0, stream });
  });
  method("createMediaStreamDestination", (voice) => {
    kit.noteSound("sound sent into a media stream is not heard");
    return kit.standIn(voice.context, MediaStreamAudioDestinationNode.prototype, { outputs: 0, stream: new MediaStream() });
  });

  // Contexts that the page renders itself, and decoding

  for (const name of ["startRendering", "suspend", "resume"]) {
    kit.replace(Offline.prototype, name, (native) => ({
      [name](...given) {
        if (kit.voiceOf(this) !== undefined) return apply(native, {}, given);
        const found = apply(native, this, given);
        return name === "startRendering" ? delivered("rendering sound", found) : found;
      },
    })[name]);
  }
  kit.replace(Base.prototype, "decodeAudioData", (native) => ({
    decodeAudioData(data, success, failure) {
      const found = delivered("decodeAudioData", apply(native, this, [data]));
      const callback = (given) => (typeof given === "function" ? (value) => given(value) : () => {});
      if (typeof success === "function" || typeof failure === "function") kit.then(found, callback(success), callback(failure));
      return found;
    },
  }).decodeAudioData);
  const { isPrototypeOf } = Object.prototype;
  const worklet = globalThis.AudioWorklet?.prototype; // only where the origin is trusted
  kit.replace(globalThis.Worklet?.prototype, "addModule", (native) => ({
    addModule(...given) {
      if (worklet && apply(isPrototypeOf, worklet, [this])) kit.note("an AudioWorklet's messages and randomness are not driven");
      return apply(native, this, given);
    },
  }).addModule);
}
