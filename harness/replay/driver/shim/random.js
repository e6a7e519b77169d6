// Randomness from the contract's seed: one stream for the game (all its realms), another for scripts, so that a script's draw moves nothing of the game's.
// The generator is sfc32 (Chris Doty-Humphrey, PractRand), seeded by splitmix32. Hard part: it is called often, so it is plain integers.
(kit, config) => {
  const stream = (seed) => {
    let state = seed >>> 0;
    const mix = () => {
      state = (state + 0x9e3779b9) | 0;
      let z = state ^ (state >>> 16);
      z = Math_imul(z, 0x21f0aaad);
      z ^= z >>> 15;
      z = Math_imul(z, 0x735a2d97);
      return z ^ (z >>> 15);
    };
    let [a, b, c, d] = [mix(), mix(), mix(), 1];
    const bits = () => {
      const sum = (((a + b) | 0) + d) | 0;
      d = (d + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = ((c << 21) | (c >>> 11)) + sum | 0;
      return sum >>> 0;
    };
    for (let k = 0; k < 12; k++) bits();
    return bits;
  };
  const Math_imul = Math.imul;
  if (kit.first) kit.streams = [stream(config.seed), stream(config.seed ^ 0x5c817e57)];
  const { streams } = kit;

  kit.replace(
    Math,
    "random",
    () => ({
      random() {
        const bits = streams[kit.phase];
        return ((bits() >>> 5) * 67108864 + (bits() >>> 6)) / 9007199254740992;
      },
    }).random,
    true,
  );

  const { buffer: bufferOf, byteOffset: offsetOf, byteLength: lengthOf } = Object.getOwnPropertyDescriptors(
    Object.getPrototypeOf(Uint8Array.prototype),
  );
  const Bytes = Uint8Array;
  const { apply } = kit;
  const fill = (view) => {
    const bytes = new Bytes(apply(bufferOf.get, view, []), apply(offsetOf.get, view, []), apply(lengthOf.get, view, []));
    const bits = streams[kit.phase];
    for (let i = 0; i < bytes.length; i++) bytes[i] = bits();
  };
  kit.replace(Crypto.prototype, "getRandomValues", (native) => ({
    getRandomValues(...given) {
      const array = apply(native, this, given); // its checks, its errors
      fill(array);
      return array;
    },
  }).getRandomValues);
  kit.replace(Crypto.prototype, "randomUUID", (native) => ({
    randomUUID() {
      apply(native, this, []);
      const bytes = new Bytes(16);
      fill(bytes);
      bytes[6] = (bytes[6] & 15) | 64;
      bytes[8] = (bytes[8] & 63) | 128;
      let text = "";
      for (let i = 0; i < 16; i++) {
        if (i === 4 || i === 6 || i === 8 || i === 10) text += "-";
        text += HEX[bytes[i] >> 4] + HEX[bytes[i] & 15];
      }
      return text;
    },
  }).randomUUID);
  const HEX = "0123456789abcdef";

  // What cannot be drawn from the seed
  for (const name of ["generateKey", "sign", "encrypt", "wrapKey"]) {
    kit.replace(globalThis.SubtleCrypto?.prototype, name, (native) => ({
      [name](...given) {
        kit.note(`crypto.subtle.${name} may draw true randomness`);
        return apply(native, this, given);
      },
    })[name]);
  }
}
