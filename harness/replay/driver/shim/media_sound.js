// The sound of audio and video elements: each file is decoded once and played by a source in the graph that its element was put into, or in
// one of our own that only the recording hears. Hard part: sources cannot be moved, so each jump, pause or change of speed is a new one.
(kit) => {
  const FRAME_MS = 1000 / 60;
  const { apply, then } = kit;
  const { AudioBufferSourceNode: Source, GainNode: Gain, OfflineAudioContext: Offline, BaseAudioContext: Base, Response, fetch } = globalThis;
  if (typeof Source !== "function") return;
  const { connect, disconnect } = AudioNode.prototype;
  const { stop } = AudioScheduledSourceNode.prototype;
  const { decodeAudioData } = Base.prototype;
  const { arrayBuffer } = Response.prototype;
  const { set: setValue } = Object.getOwnPropertyDescriptor(AudioParam.prototype, "value");
  const { get: gainOf } = Object.getOwnPropertyDescriptor(Gain.prototype, "gain");
  const { get: lengthOf } = Object.getOwnPropertyDescriptor(AudioBuffer.prototype, "duration");
  const look = kit.lookAtMedia;
  const files = { __proto__: null }; // by address: what was decoded, or null
  const decoder = new Offline(1, 1, kit.SOUND_RATE);
  let own = null; // the voice that only the recording hears
  let sounding = [];

  const fileOf = (player) => {
    const address = look(player, "currentSrc");
    if (files[address] !== undefined) return files[address];
    files[address] = null;
    const failed = () => kit.noteSound("the sound of a media file could not be decoded");
    // Each of these holds the clock, as it does when the page asks for it.
    const decode = (bytes) => then(apply(decodeAudioData, decoder, [bytes]), (buffer) => (files[address] = buffer), failed);
    then(fetch(address), (response) => then(apply(arrayBuffer, response, []), decode, failed), failed);
    return null;
  };
  const isHeard = (player) => player.route !== null || kit.hears();
  const ownVoice = () => {
    own = kit.openVoice(kit.SOUND_RATE, Offline);
    own.allowed = true;
    return own;
  };
  kit.mediaLoaded = (player) => {
    if (!isHeard(player)) return;
    if (player.route === null && own === null) ownVoice();
    fileOf(player);
  };

  const silence = (player) => {
    const { source, gain } = player.sound;
    player.sound = null;
    apply(stop, source, []);
    apply(disconnect, gain, []);
  };
  const sound = (player, at) => {
    const buffer = fileOf(player);
    const { context, state, out } = player.route?.voice ?? own ?? ownVoice();
    if (buffer === null || state !== "running" || at >= apply(lengthOf, buffer, [])) return;
    const rate = look(player, "playbackRate");
    if (rate <= 0) return;
    if (rate !== 1) kit.noteSound("a media element's speed changes its pitch");
    const source = new Source(context, { __proto__: null, buffer, playbackRate: rate });
    const gain = new Gain(context);
    apply(connect, source, [gain]);
    apply(connect, gain, [player.route?.node ?? out]);
    apply(kit.startSource, source, [0, at]);
    player.sound = { source, gain, param: apply(gainOf, gain, []), volume: 1 };
    player.moved = false;
    sounding[sounding.length] = player;
  };
  const setVolume = (player) => {
    const volume = look(player, "muted") ? 0 : look(player, "volume");
    if (player.sound === null || player.sound.volume === volume) return;
    player.sound.volume = volume;
    apply(setValue, player.sound.param, [volume]);
  };
  /** Before the frame that ends at `time` is rendered. */
  kit.soundMedia = (time) => {
    const kept = [];
    for (let i = 0; i < sounding.length; i++) {
      if (sounding[i].paused || sounding[i].moved) silence(sounding[i]);
      else kept[kept.length] = sounding[i];
    }
    sounding = kept;
    const playing = kit.playing();
    for (let i = 0; i < playing.length; i++) {
      const player = playing[i];
      if (player.sound === null && isHeard(player)) sound(player, kit.mediaPositionAt(player, time - FRAME_MS));
      setVolume(player);
    }
  };
}
