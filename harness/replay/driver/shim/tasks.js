// The page's tasks, run by the host's tick: timers due, then one native animation frame with the page's callbacks, then idle callbacks, then
// whatever loads delivered. Between ticks no task of the page runs. Hard part: microtasks must drain between callbacks as they do
// natively, so each callback is a task of its own, called by the browser, and everything is in one order on every host.
(kit) => {
  const NESTED_MS = 4; // HTML: timers nested deeper than five levels wait at least 4 ms
  const NESTED = 5;
  const LATE_MS = 0.001;
  const SCRIPT_IDS = 1 << 30; // a script's timers and callbacks do not use up the game's numbers
  const { apply, realms } = kit;
  const { requestAnimationFrame: nativeFrame, cancelAnimationFrame: nativeCancel } = globalThis;
  const page = globalThis;
  const drawn = globalThis.top === page; // a frame of another origin gets no animation frames while it is out of sight
  const { splice, slice } = Array.prototype;
  const ids = [0, SCRIPT_IDS];
  kit.MESSAGE_MS = 0.1; // a posted message's turn: a loop of messages moves time on, or a frame would never end

  // Timers

  let timers = []; // the next one is the last
  const timerById = { __proto__: null };
  let order = 0;
  let nesting = 0;

  const later = (a, b) => a.due > b.due || (a.due === b.due && a.order > b.order);
  const schedule = (timer) => {
    timer.order = ++order;
    let i = timers.length;
    while (i > 0 && later(timer, timers[i - 1])) i--;
    apply(splice, timers, [i, 0, timer]);
  };
  /** A timer of the page: `run` is called by the browser; a `text` is evaluated. */
  kit.addTimer = (run, text, wait, repeat, realm) => {
    const level = nesting + 1;
    const least = level > NESTED ? NESTED_MS : repeat ? 1 : 0;
    const ms = wait < least ? least : wait;
    const timer = { id: ++ids[kit.phase], phase: kit.phase, level, every: repeat ? ms : 0, due: kit.now + ms, run, text, realm };
    timerById[timer.id] = timer;
    schedule(timer);
    return timer.id;
  };
  kit.clearTimer = (id) => {
    const timer = timerById[id];
    if (timer === undefined) return;
    timer.cleared = true;
    delete timerById[id];
  };
  /** A task of the page, `ms` from now, in the phase it is asked for in. */
  kit.task = (run, ms, realm) => schedule({ id: 0, phase: kit.phase, level: 0, every: 0, due: kit.now + ms, run, realm });
  const beginTimer = (timer) => {
    rest();
    if (timer.due > kit.now) kit.now = timer.due;
    if (timer.cleared || !timer.realm.alive()) return false;
    if (timer.every > 0) {
      timer.due += timer.level < NESTED || timer.every >= NESTED_MS ? timer.every : NESTED_MS;
      timer.level++;
      schedule(timer);
    } else if (timer.id) delete timerById[timer.id];
    nesting = timer.level;
    kit.phase = timer.phase;
    return true;
  };

  // Animation frames and idle time

  let frames = [];
  let idles = [];
  const callbackById = { __proto__: null };
  const ask = (queue, callback, realm) => {
    const one = { id: ++ids[kit.phase], phase: kit.phase, callback, realm, handle: 0, canceled: false };
    callbackById[one.id] = one;
    queue[queue.length] = one;
    return one.id;
  };
  kit.askFrame = (callback, realm) => ask(frames, callback, realm);
  kit.askIdle = (callback, realm) => ask(idles, callback, realm);
  kit.cancel = (id) => {
    const one = callbackById[id];
    if (one === undefined) return;
    one.canceled = true;
    if (one.handle !== 0) apply(nativeCancel, page, [one.handle]);
    delete callbackById[id];
  };
  const begin = (one) => {
    rest();
    if (one.canceled) return false;
    delete callbackById[one.id];
    kit.phase = one.phase;
    return one.realm.alive();
  };

  // What a script waits for goes on in the script's phase: at once there, else as a job at the next place that is the same everywhere.

  let jobs = [];
  kit.resume = (run) => {
    if (kit.phase === kit.SCRIPT) run();
    else jobs[jobs.length] = run;
  };
  const runJobs = (done) => {
    if (jobs.length === 0) return done();
    const job = jobs[0];
    jobs = apply(slice, jobs, [1]);
    kit.hop(job, () => {
      kit.phase = kit.SCRIPT;
    });
    kit.hop(() => kit.calm(() => runJobs(done)));
  };

  // The tick

  const rest = () => {
    kit.phase = kit.GAME;
    nesting = 0;
    kit.taskBegins();
  };
  const runTimers = (until, done) => {
    const timer = timers[timers.length - 1];
    if (timer === undefined || timer.due > until + LATE_MS) return done();
    timers.length -= 1;
    const go = () => kit.calm(() => runJobs(() => runTimers(until, done)));
    // A task of ours may post a message; it arrives before the second hop.
    const further = () => kit.hop(timer.id === 0 ? () => kit.hop(go) : go);
    if (timer.run === null) kit.hop(() => (beginTimer(timer) ? timer.realm.evaluate(timer.text, further) : further()));
    else {
      kit.hop(timer.run, () => beginTimer(timer));
      further();
    }
  };
  const inTurn = (due, argument, done) => {
    const step = (i) => {
      if (i === due.length) return runJobs(done);
      kit.hop(kit.bound(due[i].callback, undefined, [argument(due[i])]), () => begin(due[i]));
      kit.hop(() => kit.calm(() => step(i + 1)));
    };
    step(0);
  };
  let painted = 0; // native animation frames: the page's own count of what it drew
  const runFrame = (time, done) => {
    rest();
    kit.now = time;
    const due = frames;
    frames = [];
    if (!drawn) return inTurn(due, (one) => time - one.realm.born, done);
    // Each document's callbacks in turn
    for (let r = 0; r < realms.length; r++) {
      for (let i = 0; i < due.length; i++) {
        const one = due[i];
        if (one.realm !== realms[r] || one.canceled) continue;
        apply(nativeFrame, page, [() => {
          if (!begin(one)) apply(nativeCancel, page, [one.handle]);
        }]);
        one.handle = apply(nativeFrame, page, [kit.bound(one.callback, undefined, [time - one.realm.born])]);
      }
    }
    apply(nativeFrame, page, [() => {
      rest();
      painted++;
      kit.beforePaint();
      kit.hop(() => kit.calm(() => runJobs(done))); // runs when the frame is painted
    }]);
  };
  const runIdle = (done) => {
    const due = idles;
    idles = [];
    inTurn(due, (one) => one.realm.deadline, done);
  };

  kit.beforePaint = () => {};
  kit.sample = () => null;
  kit.runJobs = runJobs;
  kit.tick = (frame, time) =>
    new kit.Promise((resolve) => {
      kit.frame = frame;
      kit.frameBegins();
      kit.calm(() =>
        runJobs(() =>
          runTimers(time, () =>
            kit.animate(time, () =>
              runFrame(time, () =>
                runIdle(() =>
                  kit.settle(() => {
                    rest();
                    resolve([painted, kit.sample()]);
                  }),
                ),
              ),
            ),
          ),
        ),
      );
    });
}
