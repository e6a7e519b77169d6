// What the page asked of the clock in each frame, and from where: kept only when two replays are to be compared, to name the call behind
// the first difference. Every native that later files replace is noted with its caller and, if it is plain, its answer.
(kit, config) => {
  kit.takeCalls = () => [];
  if (!config.journal) return;
  const MOST = 300; // calls kept of one frame; further ones are only counted
  const LONGEST = 160;
  const { apply } = kit;
  const { Error, String } = globalThis;
  const { split, includes, trim, slice } = String.prototype;
  let rows = [];
  let row = null;

  const place = () => {
    const lines = apply(split, `${new Error().stack}`, ["\n"]);
    for (let i = 1; i < lines.length; i++) if (apply(includes, lines[i], ["http"])) return apply(trim, lines[i], []);
    return "the browser";
  };
  const plain = (value) => (typeof value === "number" || typeof value === "boolean" ? ` = ${value}` : "");
  const note = (name, found) => {
    if (row === null || row.frame !== kit.frame) rows[rows.length] = row = { frame: kit.frame, calls: [], more: 0 };
    if (row.calls.length < MOST) row.calls[row.calls.length] = apply(slice, `${name}${plain(found)} ${place()}`, [0, LONGEST]);
    else row.more++;
  };
  kit.takeCalls = () => {
    const taken = rows;
    rows = [];
    row = null;
    return taken;
  };
  const replace = kit.replace;
  kit.replace = (owner, name, make) =>
    replace(owner, name, (native) => {
      const made = make(native);
      return {
        [name](...given) {
          const found = apply(made, this, given);
          note(name, found);
          return found;
        },
      }[name];
    });
}
