// What the clock waits for. A promise's end is delivered as a task of its own, in the order in which the page asked, when the frame that asked (or
// the boot) settles. An event comes to the page as it comes, so each task waits for the events that it set off before the next begins, and
// nothing is delivered meanwhile. Hard part: what never ends (a file that is never answered) would hold for ever; the host asks what
// is awaited and, after its patience, lets time go on and notes it; and what a frame that is gone awaits never comes.
(kit) => {
  const MOST = 200; // results delivered in one frame: a page that asks again and again must not hold it for ever
  const TURNS = 4;
  const { apply } = kit;
  const { setTimeout: nativeTimeout } = globalThis;
  const { slice, splice } = Array.prototype;
  let queue = []; // {what, phase, realm, event, start, ready, late, run}
  let waiting = null; // what runs when everything is done
  let calming = null; // what runs when no event is awaited
  let delivering = false;
  let delivered = 0;
  kit.open = true; // before frame 0 results are delivered as they come

  /** What is awaited is an `event` or a promise; `start` begins it when all earlier events have come. */
  kit.enqueue = (what, realm, event = false, start = null) => {
    const one = { what, phase: kit.phase, realm, event, start, ready: false, late: false, run: null };
    queue[queue.length] = one;
    if (start !== null && nextEvent() === one) begun(one)();
    return one;
  };
  /** `run` is called by the browser itself when its turn has come; an event has come by itself. */
  kit.ready = (one, run) => {
    if (one.late) return one.event ? undefined : kit.hop(run, () => begin(one));
    if (one.ready) return;
    one.ready = true;
    one.run = run;
    if (one.event) kit.hop(look);
    else advance();
  };
  const begin = (one) => {
    kit.phase = one.phase;
    kit.taskBegins();
    return one.realm.alive();
  };
  const begun = (one) => {
    const { start } = one;
    one.start = null;
    return start;
  };
  /** The first awaited event; what came or cannot come any more is dropped. */
  const nextEvent = () => {
    for (let i = 0; i < queue.length; i++) {
      const one = queue[i];
      if (!one.event) continue;
      if (!one.ready && one.realm.alive()) return one;
      apply(splice, queue, [i--, 1]);
    }
    return null;
  };
  const look = () => {
    const awaited = nextEvent();
    if (awaited === null) {
      const done = calming;
      calming = null;
      if (done !== null) done();
      advance();
    } else if (awaited.start !== null) kit.hop(begun(awaited), () => begin(awaited));
  };
  /** Goes on when no event is awaited. */
  kit.calm = (done) => {
    if (queue.length === 0 || nextEvent() === null) return done();
    calming = done;
  };
  // Delivers what is at the head of the queue; two hops after it, whatever it set off has asked for its own.
  const advance = () => {
    if (delivering || (!kit.open && waiting === null) || nextEvent() !== null) return;
    const head = queue[0];
    if (queue.length === 0 || (delivered >= MOST && !kit.open)) {
      const done = waiting;
      waiting = null;
      if (done !== null) done();
      return;
    }
    if (!head.ready && head.realm.alive()) return;
    delivering = true;
    delivered++;
    queue = apply(slice, queue, [1]);
    if (head.ready) kit.hop(head.run, () => begin(head));
    kit.hop(() => {
      kit.phase = kit.GAME;
      kit.runJobs(() =>
        kit.hop(() => {
          delivering = false;
          advance();
        }),
      );
    });
  };
  kit.frameBegins = () => {
    delivered = 0;
    kit.open = false;
  };
  /** Some turns of the browser's own: what has come is yet to become a module or a picture. */
  kit.linger = (done) => {
    let left = TURNS;
    const turn = () => {
      if (left-- === 0) done();
      else apply(nativeTimeout, globalThis, [() => kit.hop(turn), 0]);
    };
    turn();
  };
  kit.settle = (done) => {
    if (queue.length > 0) kit.tellSettling();
    waiting = done;
    advance();
  };

  /** What is awaited, for the host: a list of words. */
  kit.awaited = () => {
    const words = [];
    for (let i = 0; i < queue.length; i++) if (!queue[i].ready) words[words.length] = queue[i].what;
    return words;
  };
  /** Lets the clock go on without what is awaited; it is delivered when it comes. */
  kit.giveUp = () => {
    for (let i = 0; i < queue.length; i++) {
      const one = queue[i];
      if (one.ready) continue;
      one.ready = true;
      one.run = () => {};
      one.late = true;
    }
    look();
  };
}
