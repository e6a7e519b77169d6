// What a page can tell of the browser's own objects: shape, flags, words, errors and stacks. `natives()` gives it as one object of
// plain values, to be compared with that of another clock.

const describe = (value) => {
  if (typeof value === "function") return aboutFunction(value);
  if (value === null || typeof value !== "object") return typeof value === "number" || typeof value === "string" ? typeof value : String(value);
  return `object ${Object.prototype.toString.call(value)}`;
};
const keysOf = (owner) => Reflect.ownKeys(owner).map(String).join(" ");
const flags = (found) => `${found.writable}/${found.enumerable}/${found.configurable}`;

const said = (run) => {
  try {
    const found = run();
    if (found instanceof Promise) found.catch(() => {});
    return `gave ${typeof found}`;
  } catch (error) {
    return `${error?.name}: ${error?.message}`;
  }
};
function aboutFunction(value) {
  const own = (name) => {
    const found = Object.getOwnPropertyDescriptor(value, name);
    return found && `${flags(found)} ${name === "prototype" ? typeof found.value : found.value}`;
  };
  return {
    keys: keysOf(value),
    name: own("name"),
    length: own("length"),
    prototype: own("prototype"),
    text: Function.prototype.toString.call(value),
    own: "toString" in value && value.toString === Function.prototype.toString ? `${value}` : "other",
    proto: Object.getPrototypeOf(value) === Function.prototype ? "Function" : Object.getPrototypeOf(value)?.name,
    builds: said(() => Reflect.construct(Object, [], value)),
    tag: Object.prototype.toString.call(value),
    extensible: Object.isExtensible(value),
  };
}
function aboutOwner(path, owner, out) {
  out[`${path} keys`] = keysOf(owner);
  for (const key of Reflect.ownKeys(owner)) {
    const name = `${path}.${String(key)}`;
    const found = Object.getOwnPropertyDescriptor(owner, key);
    if (found.get || found.set) {
      out[name] = { flags: flags(found), get: found.get && aboutFunction(found.get), set: found.set && aboutFunction(found.set) };
    } else out[name] = { flags: flags(found), value: describe(found.value) };
  }
}
// Everything that is there, two steps from the global object.
function shapes() {
  const out = {};
  aboutOwner("globalThis", globalThis, out);
  for (let proto = Object.getPrototypeOf(globalThis), n = 1; proto; proto = Object.getPrototypeOf(proto), n++) aboutOwner(`globalThis^${n}`, proto, out);
  for (const key of Object.getOwnPropertyNames(globalThis)) {
    const found = Object.getOwnPropertyDescriptor(globalThis, key).value;
    if (typeof found === "function") {
      aboutOwner(key, found, out);
      if (found.prototype !== null && typeof found.prototype === "object") {
        aboutOwner(`${key}.prototype`, found.prototype, out);
        out[`${key} is its prototype's constructor`] = found.prototype.constructor === found;
      }
    } else if (found !== null && typeof found === "object" && found !== globalThis && /^[A-Z]/.test(key)) aboutOwner(key, found, out);
  }
  aboutOwner("Temporal.Now", globalThis.Temporal?.Now ?? {}, out);
  aboutOwner("Intl.DateTimeFormat.prototype", Intl.DateTimeFormat.prototype, out);
  aboutOwner("console", console, out);
  aboutOwner("performance", performance, out);
  aboutOwner("performance^", Object.getPrototypeOf(performance), out);
  aboutOwner("memory^", Object.getPrototypeOf(performance.memory), out);
  aboutOwner("document", document, out);
  aboutOwner("navigator", navigator, out);
  return out;
}

// What an error tells: kind, words and where it was thrown, the line being that of the call.
const fault = (error) => {
  if (error === null || typeof error !== "object") return String(error);
  const lines = String(error.stack).split("\n").slice(1).map((line) => line.trim().replace(/\(?https?:.*\/([^/]+?):\d+:\d+\)?/, "$1"));
  return { name: error.name, words: error.message, kind: Object.prototype.toString.call(error), stack: lines, keys: keysOf(error) };
};
const outcome = async (run) => {
  try {
    const found = run();
    if (!(found instanceof Promise)) return `gave ${typeof found}`;
    return await Promise.race([found.then((value) => `kept ${typeof value}`, (error) => ({ rejected: fault(error) })), later()]);
  } catch (error) {
    return fault(error);
  }
};
const later = () => new Promise((resolve) => setTimeout(resolve, 300, "later"));

const strangers = { none: undefined, null: null, object: {}, number: 5, function: () => {}, element: document.createElement("div") };
// Every function of a prototype or of the window, called on what it does not belong to: it answers with an error, or is of the language.
const HARMFUL = new Set(["alert", "confirm", "prompt", "print", "stop", "close", "open", "find", "captureEvents", "releaseEvents", "focus", "blur"]);
async function wrongly() {
  const out = {};
  const owners = { window: globalThis };
  for (const key of Object.getOwnPropertyNames(globalThis)) {
    const found = Object.getOwnPropertyDescriptor(globalThis, key).value;
    if (typeof found === "function" && found.prototype && Symbol.toStringTag in found.prototype) owners[key] = found.prototype;
  }
  const stranger = {};
  for (const [path, owner] of Object.entries(owners)) {
    for (const key of Reflect.ownKeys(owner)) {
      const found = Object.getOwnPropertyDescriptor(owner, key);
      const parts = path === "window" ? { value: found.value } : { value: found.value, get: found.get, set: found.set };
      for (const [part, one] of Object.entries(parts)) {
        if (typeof one !== "function" || one.prototype !== undefined || key === "constructor" || !/\{ \[native code\] \}$/.test(one) || (path === "window" && HARMFUL.has(key))) continue;
        out[`${path}.${String(key)} ${part}`] = await outcome(() => Reflect.apply(one, stranger, []));
      }
    }
  }
  return out;
}

const CALLS = {
  setTimeout: [[], ["0"], [() => {}, Symbol()], [() => {}, 1n], [() => {}, -5], [{}, 0], [undefined], [() => {}, { valueOf: () => 3 }]],
  setInterval: [[], [() => {}, Symbol()]],
  clearTimeout: [[], [undefined], [null], ["x"], [{}], [-1], [Symbol()]],
  clearInterval: [[], ["x"], [1n]],
  requestAnimationFrame: [[], [undefined], [null], [{}], ["x"], [() => {}, 2]],
  cancelAnimationFrame: [[], ["x"], [Symbol()]],
  requestIdleCallback: [[], [{}], [() => {}, 5], [() => {}, null], [() => {}, { timeout: "x" }]],
  cancelIdleCallback: [[], [5]],
  postMessage: [[], [() => {}, "*"], [1, "nonsense"], [Symbol()], [1, "/", [{}]]],
  fetch: [[], ["http://["], [Symbol()]],
  createImageBitmap: [[], [{}], [1, 2, 3]],
  structuredClone: [[], [() => {}]],
  queueMicrotask: [[], [5]],
  addEventListener: [[], ["x"], ["x", 5], ["x", null], ["x", () => {}, 5]],
  removeEventListener: [[], ["x"], ["x", 5], ["x", null]],
};
const methods = () => [
  ["performance.now", performance, "now", [[], [1]]],
  ["performance.mark", performance, "mark", [[], ["a", 5], ["a", { startTime: -1 }], ["a", { startTime: "x" }], ["navigationStart"], ["b", { detail: () => {} }]]],
  ["performance.measure", performance, "measure", [[], ["a", "missing"], ["a", {}, "end"], ["a", { start: 1, end: 2, duration: 3 }], ["a", 5]]],
  ["performance.getEntriesByName", performance, "getEntriesByName", [[], [Symbol()]]],
  ["performance.getEntriesByType", performance, "getEntriesByType", [[], ["mark"]]],
  ["performance.getEntries", performance, "getEntries", [[]]],
  ["performance.toJSON", performance, "toJSON", [[]]],
  ["observer.observe", new PerformanceObserver(() => {}), "observe", [[], [5], [{}], [{ entryTypes: [] }], [{ entryTypes: 5 }], [{ type: "mark", entryTypes: ["mark"] }], [{ type: "nonsense" }]]],
  ["Math.random", Math, "random", [[], [1]]],
  ["Date.now", Date, "now", [[], [1]]],
  ["Date.parse", Date, "parse", [["x"]]],
  ["crypto.getRandomValues", crypto, "getRandomValues", [[], [5], [new Float32Array(2)], [new Uint8Array(70000)], [[]], [new DataView(new ArrayBuffer(4))]]],
  ["crypto.randomUUID", crypto, "randomUUID", [[], [1]]],
  ["subtle.digest", crypto.subtle, "digest", [[], ["x"], ["SHA-1", 5], ["SHA-1", new Uint8Array(2)]]],
  ["port.postMessage", new MessageChannel().port1, "postMessage", [[], [() => {}], [Symbol()], [1, 5], [1, [{}]]]],
  ["scheduler.postTask", scheduler, "postTask", [[], [5], [() => 1], [() => 1, 5], [() => 1, { priority: "nonsense" }], [() => { throw new RangeError("mine"); }]]],
  ["scheduler.yield", scheduler, "yield", [[]]],
  ["signal.timeout", AbortSignal, "timeout", [[], [-1], ["x"], [Infinity], [5]]],
  ["Atomics.waitAsync", Atomics, "waitAsync", [[], [5], [new Int32Array(1), 0, 0]]],
  ["canvas.toBlob", document.getElementById("canvas"), "toBlob", [[], [5], [() => {}, "image/png"]]],
  ["image.decode", new Image(), "decode", [[]]],
  ["FileReader.readAsText", new FileReader(), "readAsText", [[], [5]]],
  ["blob.text", new Blob(["x"]), "text", [[]]],
  ["response.json", new Response("{"), "json", [[]]],
  ["xhr.open", new XMLHttpRequest(), "open", [[], ["GET"], ["NO WAY", "/"], ["GET", "http://["]]],
  ["xhr.send", new XMLHttpRequest(), "send", [[]]],
  ["fonts.load", document.fonts, "load", [[], ["nonsense"], ["12px serif"]]],
  ["document.exitPointerLock", document, "exitPointerLock", [[]]],
  ["element.requestPointerLock", document.createElement("div"), "requestPointerLock", [[]]],
  ["WebAssembly.compile", WebAssembly, "compile", [[], [5], [new Uint8Array(4)]]],
  ["WebAssembly.instantiate", WebAssembly, "instantiate", [[], [5]]],
  ["indexedDB.open", indexedDB, "open", [[], ["a", -1], ["a", 0]]],
  ["indexedDB.deleteDatabase", indexedDB, "deleteDatabase", [[]]],
  ["permissions.query", navigator.permissions, "query", [[], [5], [{ name: "nonsense" }]]],
  ["format.format", new Intl.DateTimeFormat("en"), "format", [[0], [NaN], [Symbol()]]],
  ["format.formatToParts", new Intl.DateTimeFormat("en"), "formatToParts", [[0], [NaN]]],
  ["Function.toString", Function.prototype, "toString", [[]]],
  ["Temporal.Now.plainDateISO", globalThis.Temporal?.Now ?? { plainDateISO() {} }, "plainDateISO", [[], ["nonsense"], [null]]],
];
// Each call is made from one place with no frame of ours below it but `called`.
async function calls() {
  const out = {};
  const make = async (path, one, self, given) => {
    const called = () => Reflect.apply(one, self, given);
    return (out[`${path}(${given.map((value) => (typeof value === "object" && value ? Object.prototype.toString.call(value) : String(value))).join(", ")})`] = await outcome(called));
  };
  for (const [name, lists] of Object.entries(CALLS)) {
    for (const given of lists) await make(name, globalThis[name], globalThis, given);
    for (const [kind, self] of Object.entries(strangers)) if (lists[0].length === 0) await make(`${kind}.${name}`, globalThis[name], self, [() => {}]);
  }
  for (const [path, self, name, lists] of methods()) {
    for (const given of lists) await make(path, self[name], self, given);
    for (const [kind, other] of Object.entries(strangers)) await make(`${kind}::${path}`, self[name], other, []);
  }
  return out;
}

// The stack below a callback of the page, and what it is called with.
async function stacks() {
  const out = {};
  const seen = (name, done) =>
    function callback(...given) {
      out[name] = { stack: fault(new Error("x")).stack, given: given.map((value) => Object.prototype.toString.call(value)).join(), self: this === globalThis ? "window" : Object.prototype.toString.call(this) };
      done?.();
    };
  const wait = (name, ask) => new Promise((done) => ask(seen(name, done)));
  await wait("timeout", (callback) => setTimeout(callback, 1, 1, "two"));
  let interval;
  await wait("interval", (callback) => (interval = setInterval(callback, 1)));
  clearInterval(interval);
  await wait("frame", (callback) => requestAnimationFrame(callback));
  await wait("idle", (callback) => requestIdleCallback(callback));
  await wait("idle deadline", (callback) => requestIdleCallback((deadline) => ((out.deadline = [deadline instanceof IdleDeadline, deadline.didTimeout, deadline.timeRemaining() > 0, keysOf(deadline)].join()), callback())));
  await wait("blob", (callback) => document.getElementById("canvas").toBlob(callback));
  await wait("task", (callback) => scheduler.postTask(callback));
  await wait("port", (callback) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = callback;
    port2.postMessage(1);
  });
  await wait("window", (callback) => {
    addEventListener("message", callback, { once: true });
    postMessage(1);
  });
  await wait("listener", (callback) => {
    const target = new EventTarget();
    target.addEventListener("x", callback);
    target.dispatchEvent(new Event("x"));
  });
  await wait("promise", (callback) => fetch("natives.html").then(callback));
  await wait("image", (callback) => {
    const image = new Image();
    image.onload = callback;
    image.src = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>";
  });
  await new Promise((done) => {
    globalThis.heard = (stack) => done((out.text = fault({ stack }).stack));
    setTimeout("heard(new Error('x').stack)", 1);
  });
  await new Promise((done) => {
    addEventListener("error", (event) => {
      out.uncaught = [fault(event.error), event.message, event.filename.split("/").pop()];
      event.preventDefault();
      done();
    }, { once: true });
    setTimeout(() => null.x, 1);
  });
  return out;
}

// Dates as a page makes them
function dates() {
  class Day extends Date {}
  const other = Reflect.construct(Date, [], Array);
  return {
    text: typeof Date(),
    form: /^\w{3} \w{3} \d\d 20\d\d \d\d:\d\d:\d\d GMT[+-]\d{4} \(.+\)$/.test(Date()),
    length: Date.length,
    kind: Object.prototype.toString.call(new Date()),
    home: Date.prototype.constructor === Date,
    own: new Date().constructor === Date,
    child: [new Day() instanceof Day, new Day() instanceof Date, new Day(5).getTime(), Object.prototype.toString.call(new Day())].join(),
    target: [Array.isArray(other), other instanceof Array, Date.prototype.getTime.call(other) > 0].join(),
    keys: keysOf(Date),
    single: [new Date(5).getTime(), new Date("x").getTime(), new Date(2020, 1).getTime(), new Date(undefined).getTime(), new Date(new Date(7)).getTime()].join(),
    symbol: said(() => new Date(Symbol())),
    near: Math.abs(Date.now() - (performance.timeOrigin + performance.now())) < 50,
    timing: Math.abs(performance.timing.navigationStart - performance.timeOrigin) < 50,
    modified: /^\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d$/.test(document.lastModified),
    file: Math.abs(new File([], "x").lastModified - Date.now()) < 50,
    files: [new File(["a"], "x", { type: "text/plain", lastModified: 5 }).lastModified, new File(["a"], "x", { type: "text/plain" }).type, said(() => File([])), said(() => new File([])), said(() => new File([], "x", 5))].join(),
    numbers: [typeof setTimeout(() => {}), setTimeout(() => {}) > 0, Number.isInteger(requestAnimationFrame(() => {}))].join(),
    driver: navigator.webdriver,
    agent: navigator.userAgent,
    hidden: [document.hidden, document.visibilityState, document.hasFocus()].join(),
  };
}

const natives = async () => JSON.stringify({ ...shapes(), ...(await calls()), ...(await stacks()), wrong: await wrongly(), dates: dates() });
