// The page's sound for the host: what all contexts render is mixed along game time, from the frame at which the host begins to listen. Taps are
// analysers, which hold the last samples of each channel while a rendering rests. Hard part: contexts start, rest and count samples
// at their own rates; each stretch of rendering is laid down at the game time that it began at.
(kit) => {
  const FPS = 60;
  const KEPT_S = 8; // of sound that the host has not taken yet
  const CHANNELS = 2;
  const { apply, construct } = kit;
  const { AnalyserNode: Analyser, ChannelSplitterNode: Splitter, Float32Array: Floats, Int16Array: Words, Uint8Array: Bytes } = globalThis;
  const { connect } = AudioNode.prototype;
  const { getFloatTimeDomainData } = Analyser.prototype;
  const { copyWithin, fill } = Object.getPrototypeOf(Floats.prototype);
  const { toBase64 } = Bytes.prototype;
  const { floor, ceil, round, abs, min, max } = Math;
  const PER_FRAME = kit.SOUND_RATE / FPS;

  let first = null; // the frame at which the sound begins
  let taken = 0; // samples that the host has
  const mixed = []; // of each channel

  const tap = (voice) => {
    let size = 2048; // must hold what one frame renders
    while (size < voice.rate / FPS + 256) size *= 2;
    const splitter = new Splitter(voice.context, { __proto__: null, numberOfOutputs: CHANNELS });
    apply(connect, voice.out, [splitter]);
    voice.taps = [];
    for (let channel = 0; channel < CHANNELS; channel++) {
      const analyser = new Analyser(voice.context, { __proto__: null, fftSize: size });
      apply(connect, splitter, [analyser, channel]);
      voice.taps[channel] = { analyser, block: new Floats(size), before: 0 };
    }
  };
  /** Adds what was rendered since the sample `from` to the mix; rates that differ are bridged by straight lines. */
  kit.collect = (voice, from) => {
    if (voice.taps === undefined || voice.at === from) return;
    const step = voice.rate / kit.SOUND_RATE;
    const origin = round((voice.from.frame - first) * PER_FRAME) - taken; // of the stretch, in the mix
    const begin = from - voice.from.sample; // samples of the stretch before this block
    const end = voice.at - voice.from.sample;
    for (let channel = 0; channel < CHANNELS; channel++) {
      const one = voice.taps[channel];
      const { block } = one;
      apply(getFloatTimeDomainData, one.analyser, [block]);
      const offset = block.length - (end - begin); // of the first new sample
      const into = mixed[channel];
      const last = min(into.length, origin + ceil((end - 1) / step));
      for (let at = max(0, origin + ceil((begin - 1) / step)); at < last; at++) {
        const exact = (at - origin) * step - begin; // from -1, the last sample of the block before
        const index = floor(exact);
        const left = index < 0 ? one.before : block[offset + index];
        const rest = exact - index;
        into[at] += rest === 0 ? left : left + (block[offset + index + 1] - left) * rest;
      }
      one.before = block[block.length - 1];
    }
  };
  kit.opened = (voice) => {
    if (first !== null) tap(voice);
  };
  /** From the frame `begin` on, sound is kept. */
  kit.hear = (begin) => {
    first = begin;
    for (let channel = 0; channel < CHANNELS; channel++) mixed[channel] = new Floats(KEPT_S * kit.SOUND_RATE);
    const open = kit.voices();
    for (let i = 0; i < open.length; i++) if (open[i].taps === undefined) tap(open[i]);
  };
  kit.hears = () => first !== null;
  const words = () => {
    const list = [];
    for (const note in kit.soundNotes) list[list.length] = note;
    return list;
  };
  /** The sound up to this frame that the host has not taken: samples, the loudest, and the samples themselves unless all are silent. */
  kit.takeSound = () => {
    const count = max(0, min(mixed[0].length, floor((kit.frame - first) * PER_FRAME) - taken));
    let peak = 0;
    const samples = new Words(count * CHANNELS);
    for (let channel = 0; channel < CHANNELS; channel++) {
      const from = mixed[channel];
      for (let i = 0; i < count; i++) {
        const value = from[i];
        if (abs(value) > peak) peak = abs(value);
        samples[i * CHANNELS + channel] = round(max(-1, min(1, value)) * 32767);
      }
      apply(copyWithin, from, [0, count]);
      apply(fill, from, [0, from.length - count]);
    }
    taken += count;
    const data = peak === 0 ? "" : apply(toBase64, construct(Bytes, [samples.buffer]), []);
    return { rate: kit.SOUND_RATE, count, peak, data, notes: words() };
  };
}
