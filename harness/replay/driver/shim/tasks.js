// The page's tasks, run by the host's tick: timers due, then one native animation frame with the page's callbacks, then idle callbacks, then
// whatever loads delivered. Between ticks no task of the page runs. Hard part: microtasks must drain between callbacks as they do
// natively, so each callback is a task of its own, and everything is in one order on every host.
(kit) => {
  const MESSAGE_MS = 0.1; // a posted message's turn: a loop of messages moves time on, or a frame would never end
  const NESTED_MS = 4; // HTML: timers nested deeper than five levels wait at least 4 ms
  const NESTED = 5;
  const LATE_MS = 0.001;
  const SCRIPT_IDS = 1 << 30; // a script's timers and callbacks do not use up the game's numbers
  const { apply } = kit;
  const evaluate = globalThis.eval;
  const nativeFrame = globalThis.requestAnimationFrame;
  const page = globalThis;
  const { splice, slice } = Array.prototype;

  // Timers

  let timers = []; // the next one is the last
  const timerById = { __proto__: null };
  const ids = [0, SCRIPT_IDS];
  let order = 0;
  let nesting = 0;

  const later = (a, b) => a.due > b.due || (a.due === b.due && a.order > b.order);
  const schedule = (timer) => {
    timer.order = ++order;
    let i = timers.length;
    while (i > 0 && later(timer, timers[i - 1])) i--;
    apply(splice, timers, [i, 0, timer]);
  };
  const delayOf = (delay) => {
    const number = +delay;
    return number > 0 && number <= 2147483647 ? number : 0;
  };
  const addTimer = (handler, delay, given, repeat) => {
    const wait = delayOf(delay);
    const level = nesting + 1;
    const least = level > NESTED ? NESTED_MS : repeat ? 1 : 0;
    const timer = { id: ++ids[kit.phase], phase: kit.phase, level, every: repeat ? (wait < least ? least : wait) : 0 };
    timer.due = kit.now + (wait < least ? least : wait);
    timer.run = typeof handler === "function" ? () => apply(handler, page, given) : () => evaluate(`${handler}`);
    timerById[timer.id] = timer;
    schedule(timer);
    return timer.id;
  };
  const clear = (id) => {
    const timer = timerById[id];
    if (timer === undefined) return;
    timer.cleared = true;
    delete timerById[id];
  };
  const runTimer = (timer) => {
    if (timer.cleared) return;
    if (timer.every > 0) {
      timer.due += timer.level < NESTED || timer.every >= NESTED_MS ? timer.every : NESTED_MS;
      timer.level++;
      schedule(timer);
    } else if (timer.id) delete timerById[timer.id];
    nesting = timer.level;
    kit.phase = timer.phase;
    timer.run();
  };
  const names = { setTimeout: false, setInterval: true };
  for (const name of ["setTimeout", "setInterval"]) {
    kit.replace(page, name, () => ({
      [name](handler, delay, ...given) {
        return addTimer(handler, delay, given, names[name]);
      },
    })[name]);
  }
  for (const name of ["clearTimeout", "clearInterval"]) kit.replace(page, name, () => ({ [name](id) { clear(id); } })[name]);

  /** A task of the page, `ms` from now, in the phase it is asked for in. */
  kit.task = (run, ms = 0) => schedule({ id: 0, phase: kit.phase, level: 0, every: 0, due: kit.now + ms, run });

  // Animation frames and idle time

  let frames = [];
  let idles = [];
  const callbackById = { __proto__: null };
  const ask = (queue, callback, due) => {
    const one = { id: ++ids[kit.phase], phase: kit.phase, callback, due };
    callbackById[one.id] = one;
    queue[queue.length] = one;
    return one.id;
  };
  const cancel = (id) => {
    const one = callbackById[id];
    if (one === undefined) return;
    one.callback = null;
    delete callbackById[id];
  };
  const call = (one, argument) => {
    if (one.callback === null) return;
    delete callbackById[one.id];
    kit.phase = one.phase;
    nesting = 0;
    apply(one.callback, undefined, [argument]);
  };
  const callable = (callback) => {
    if (typeof callback !== "function") throw new TypeError("parameter 1 is not of type 'Function'.");
  };
  kit.replace(page, "requestAnimationFrame", () => ({
    requestAnimationFrame(callback) {
      callable(callback);
      return ask(frames, callback);
    },
  }).requestAnimationFrame);
  kit.replace(page, "requestIdleCallback", () => ({
    requestIdleCallback(callback) {
      callable(callback);
      return ask(idles, callback);
    },
  }).requestIdleCallback);
  kit.replace(page, "cancelAnimationFrame", () => ({ cancelAnimationFrame(id) { cancel(id); } }).cancelAnimationFrame);
  kit.replace(page, "cancelIdleCallback", () => ({ cancelIdleCallback(id) { cancel(id); } }).cancelIdleCallback);

  // Messages of the page to itself

  const { postMessage } = MessagePort.prototype;
  const clone = globalThis.structuredClone;
  const transfers = (options) => (options?.transfer ?? options)?.length > 0;
  kit.replace(MessagePort.prototype, "postMessage", (native) => ({
    postMessage(message, options) {
      if (transfers(options)) {
        apply(native, this, [message, options]);
        return;
      }
      const copy = clone(message);
      kit.task(() => apply(postMessage, this, [copy]), MESSAGE_MS);
    },
  }).postMessage);
  const postToWindow = page.postMessage;
  kit.replace(page, "postMessage", () => ({
    postMessage(message, origin, transfer) {
      const target = this ?? page;
      if (target !== page || transfers(transfer) || transfers(typeof origin === "object" ? origin : undefined)) {
        const given = transfer === undefined ? [message, origin ?? "/"] : [message, origin, transfer];
        apply(postToWindow, target, given);
        return;
      }
      const copy = clone(message);
      kit.task(() => apply(postToWindow, page, [copy, "*"]), MESSAGE_MS);
    },
  }).postMessage);
  if (globalThis.Scheduler) {
    const { Promise } = kit;
    kit.replace(Scheduler.prototype, "yield", () => ({
      yield() {
        return new Promise((resolve) => kit.task(resolve, MESSAGE_MS));
      },
    }).yield);
    kit.replace(Scheduler.prototype, "postTask", () => ({
      postTask(run, options) {
        return new Promise((resolve, reject) => {
          const signal = options?.signal;
          if (signal?.aborted) return reject(signal.reason);
          kit.task(() => {
            if (signal?.aborted) return reject(signal.reason);
            try {
              resolve(run());
            } catch (error) {
              reject(error);
            }
          }, options?.delay > 0 ? +options.delay : MESSAGE_MS);
        });
      },
    }).postTask);
  }

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
    kit.hop(() => {
      kit.phase = kit.SCRIPT;
      kit.hop(() => runJobs(done));
      job();
    });
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
    kit.hop(() => {
      rest();
      if (timer.due > kit.now) kit.now = timer.due;
      kit.hop(() => runJobs(() => runTimers(until, done)));
      runTimer(timer);
    });
  };
  const runFrame = (time, done) => {
    rest();
    kit.now = time;
    const due = frames;
    frames = [];
    for (let i = 0; i < due.length; i++) {
      apply(nativeFrame, page, [() => {
        kit.taskBegins();
        call(due[i], time);
      }]);
    }
    apply(nativeFrame, page, [() => {
      rest();
      kit.beforePaint();
      kit.hop(() => runJobs(done)); // runs when the frame is painted
    }]);
  };
  const deadline = { __proto__: null, didTimeout: false, timeRemaining: () => 8 };
  const runIdle = (done) => {
    const due = idles;
    idles = [];
    const step = (i) => {
      if (i === due.length) return runJobs(done);
      kit.hop(() => {
        rest();
        kit.hop(() => step(i + 1));
        call(due[i], deadline);
      });
    };
    step(0);
  };

  kit.beforePaint = () => {};
  kit.sample = () => null;
  kit.runJobs = runJobs;
  kit.tick = (frame, time) =>
    new kit.Promise((resolve) => {
      kit.frame = frame;
      kit.open = false;
      runJobs(() =>
        runTimers(time, () => {
          kit.animate(time, () =>
            runFrame(time, () =>
              runIdle(() =>
                kit.settle(() => {
                  rest();
                  resolve(kit.sample());
                }),
              ),
            ),
          );
        }),
      );
    });
}
