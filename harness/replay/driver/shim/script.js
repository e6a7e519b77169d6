// What belongs to a script is told from what belongs to the game: what it waits for, listens to and hands to promises goes on in the script's phase.
// The server rewrites a script's `await x` and `.then(f)` so that they pass through here. Hard part: a game's own listeners and promises stay as they are.
(kit) => {
  const { apply, Promise, then } = kit;
  const resolved = Promise.resolve;

  /** The value behind `value`, delivered in the script's phase. */
  kit.wait = (value) =>
    new Promise((resolve, reject) => {
      then(apply(resolved, Promise, [value]), (found) => kit.resume(() => resolve(found)), (error) => kit.resume(() => reject(error)));
    });
  /** `handler`, run in the script's phase, if it is a function. */
  kit.owned = (handler) =>
    typeof handler !== "function" ? handler : function (...given) {
      return kit.inPhase(kit.SCRIPT, () => apply(handler, this, given));
    };

  kit.wrapped = kit.weak(); // listener -> what listens for it

  let begun = null; // tells the host that the script's own code runs
  kit.enter = () => {
    kit.phase = kit.SCRIPT;
    kit.hop(() => {
      kit.phase = kit.GAME;
      if (begun !== null) begun();
      begun = null;
    });
  };
  /** Calls `run` in the script's phase; the promise ends when the script has begun or the call has ended. */
  kit.begin = (hold, url) =>
    new Promise((resolve) => {
      begun = resolve;
      kit.hop(() => {
        kit.phase = kit.SCRIPT;
        kit.hop(() => (kit.phase = kit.GAME));
        kit.ended = hold(import(url));
        then(kit.ended, resolve, resolve);
      });
    });
  /** Ends calls of the script, in order; each goes on as a task in the script's phase. */
  kit.answer = (answer, replies) =>
    new Promise((resolve) => {
      const step = (i) => {
        if (i >= replies.length) return kit.runJobs(() => { kit.phase = kit.GAME; kit.settle(resolve); });
        kit.hop(() => {
          kit.phase = kit.SCRIPT;
          kit.taskBegins();
          kit.hop(() => kit.calm(() => step(i + 2)));
          answer(replies[i], replies[i + 1]);
        });
      };
      step(0);
    });
}
