// Hands the clock to the host: an object that only the host's console listener ever gets, with what it may ask of this document.
(kit, config) => {
  const { Promise, then } = kit;
  const { stringify } = JSON;
  const multiply = Math.imul;
  const { charCodeAt } = String.prototype;
  const { apply } = kit;

  // FNV-1a over the text's UTF-16 units, twice with different offsets: 64 bits tell states apart, they need not resist an attack here,
  // for what counts is that two replays without the script give the same.
  const fingerprint = (text) => {
    let a = 0x811c9dc5;
    let b = 0x9747b28c;
    for (let i = 0; i < text.length; i++) {
      const unit = apply(charCodeAt, text, [i]);
      a = multiply(a ^ unit, 0x01000193);
      b = multiply(b ^ unit, 0x01000193) ^ (b >>> 15);
    }
    return `${a >>> 0}.${b >>> 0}`;
  };
  const load = (url) => import(url);
  const driver = {
    __proto__: null,
    tick: kit.tick,
    begin: kit.begin,
    answer: kit.answer,
    awaited: kit.awaited,
    giveUp: kit.giveUp,
    hear: kit.hear,
    takeSound: kit.takeSound,
    takeCalls: kit.takeCalls,
    /** From now on each tick answers with a fingerprint of the judge's snapshot. */
    watch: (judge) => {
      kit.sample = () => {
        try {
          return fingerprint(`${stringify(judge.snapshot())}`);
        } catch {
          return "unreadable";
        }
      };
    },
    settle: () => new Promise((resolve) => kit.linger(() => kit.settle(resolve))),
    ended: () => kit.ended,
    /** Imports modules one after the other; one that fails will fail again where it is wanted. */
    preload: (urls) =>
      new Promise((resolve) => {
        const step = (i) => {
          if (i === urls.length) return kit.settle(resolve);
          then(load(urls[i]), () => step(i + 1), () => step(i + 1));
        };
        step(0);
      }),
  };
  console.debug(config.token, driver);
}
