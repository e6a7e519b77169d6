// What a page sees of the clock, told as rows of plain values; times are ms since the check began.
const began = { at: 0, frame: 0 };
let frames = 0;
requestAnimationFrame(function count() {
  frames++;
  requestAnimationFrame(count);
});
const round = (ms) => Math.round(ms * 100) / 100;
const told = () => round(performance.now() - began.at);
const frameOf = () => frames - began.frame;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const onFrame = () => new Promise((done) => requestAnimationFrame(done));
const CHECKS = {
  // Timers due first, then the animation frame, then idle time; microtasks between each.
  async order() {
    const rows = [];
    const say = (what) => rows.push([what, frameOf()]);
    await onFrame();
    requestIdleCallback(() => { say("idle"); Promise.resolve().then(() => say("after idle")); });
    requestIdleCallback(() => say("idle 2"));
    requestAnimationFrame(() => { say("frame"); Promise.resolve().then(() => say("after frame")); });
    requestAnimationFrame(() => say("frame 2"));
    setTimeout(() => { say("timer 4"); Promise.resolve().then(() => say("after timer 4")); }, 4);
    setTimeout(() => say("timer 2"), 2);
    setTimeout(() => say("timer 2 again"), 2);
    setTimeout(() => say("timer 0"));
    queueMicrotask(() => say("microtask"));
    const channel = new MessageChannel();
    channel.port1.onmessage = () => say("message");
    channel.port2.postMessage(1);
    scheduler.postTask(() => say("background"), { priority: "background" });
    scheduler.postTask(() => say("visible"));
    scheduler.postTask(() => say("blocking"), { priority: "user-blocking" });
    say("now");
    await sleep(20);
    return rows;
  },
  async nesting() {
    const rows = [];
    await new Promise((done) => {
      const step = () => {
        rows.push(told());
        if (rows.length < 9) setTimeout(step, 0);
        else done();
      };
      setTimeout(step, 0);
    });
    const repeated = [];
    await new Promise((done) => {
      const timer = setInterval(() => {
        repeated.push(told());
        if (repeated.length === 9) done(clearInterval(timer));
      }, 0);
    });
    return { rows: rows.map((ms) => round(ms - rows[0])), repeated: repeated.map((ms) => round(ms - repeated[0])) };
  },
  async delays() {
    const rows = [];
    const at = performance.now();
    await Promise.all([0, 1, 10.9, 16.67, 33, "20", -5, NaN, 2 ** 32 + 7].map((delay) => new Promise((done) => setTimeout(() => done(rows.push([String(delay), round(performance.now() - at)])), delay))));
    return rows;
  },
  async cleared() {
    const rows = [];
    const second = [0, 0];
    setTimeout(() => { rows.push("first"); clearTimeout(second[0]); clearInterval(second[1]); }, 3);
    second[0] = setTimeout(() => rows.push("cleared timer"), 3);
    second[1] = setInterval(() => rows.push("cleared interval"), 4);
    await onFrame();
    await onFrame();
    let other;
    requestAnimationFrame(() => { rows.push("frame"); cancelAnimationFrame(other); });
    other = requestAnimationFrame(() => rows.push("cancelled frame"));
    const idle = requestIdleCallback(() => rows.push("cancelled idle"));
    cancelIdleCallback(idle);
    await onFrame();
    await onFrame();
    setTimeout("globalThis.textRan = 1 + 1", 1);
    await sleep(5);
    rows.push(globalThis.textRan);
    return rows;
  },
  async messages() {
    const rows = [];
    const { port1, port2 } = new MessageChannel();
    let count = 0;
    await new Promise((done) => {
      port1.onmessage = () => {
        if (++count === 500) done();
        else port2.postMessage(count);
      };
      port2.postMessage(0);
    });
    rows.push(["500 messages", told()]);
    await new Promise((done) => {
      addEventListener("message", (event) => done(rows.push([event.data, event.source === window, event.origin === location.origin])), { once: true });
      postMessage("self", "*");
    });
    const value = { deep: [1] };
    port1.onmessage = (event) => rows.push(event.data.deep[0]);
    port2.postMessage(value);
    value.deep[0] = 2;
    await sleep(5);
    const bytes = new Uint8Array([7]);
    port1.onmessage = (event) => rows.push([event.data[0], bytes.length]);
    port2.postMessage(bytes, [bytes.buffer]);
    await onFrame();
    await onFrame();
    rows.push(await scheduler.postTask(() => "task"), await scheduler.postTask(() => "later", { delay: 12 }), await scheduler.yield());
    const failed = scheduler.postTask(() => { throw new RangeError("mine"); });
    rows.push(await failed.catch((error) => `${error}`));
    const control = new TaskController();
    const aborted = scheduler.postTask(() => "never", { signal: control.signal });
    control.abort("stopped");
    rows.push(await aborted.catch((error) => `${error}`));
    return rows;
  },
  async waiting() {
    const from = performance.now();
    let reads = 0;
    while (performance.now() - from < 3) reads++;
    const date = Date.now();
    while (Date.now() - date < 2) reads++;
    const after = performance.now();
    await onFrame();
    return { reads, steady: performance.now() >= after - 20 };
  },
  async entries() {
    performance.clearMarks();
    const seen = [];
    const observer = new PerformanceObserver((list) => seen.push(...list.getEntries().map((entry) => entry.name)));
    observer.observe({ entryTypes: ["mark", "measure", "resource", "longtask"] });
    performance.mark("a");
    await sleep(30);
    performance.mark("b", { detail: 5 });
    const { duration } = performance.measure("ab", "a", "b");
    const all = performance.measure("all");
    await fetch("dot.svg");
    await onFrame();
    observer.disconnect();
    return {
      duration: round(duration),
      whole: round(all.duration - performance.getEntriesByName("b")[0].startTime),
      kinds: [...new Set(performance.getEntries().map((entry) => entry.entryType))],
      seen,
      timing: performance.timing.loadEventEnd - performance.timing.navigationStart,
    };
  },
  async dates() {
    const zone = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: "UTC" });
    return {
      format: [zone.format(), zone.format(0), zone.formatToParts().length],
      locale: new Date().toLocaleDateString("en-GB", { timeZone: "UTC" }),
      temporal: globalThis.Temporal ? Temporal.Now.plainDateISO("UTC").toString() : "2026-01-01",
      near: Math.abs(Date.now() - performance.timeOrigin - performance.now()) < 1,
      modified: document.lastModified.slice(0, 10),
      file: new File([], "x").lastModified - Date.now(),
      event: round(new Event("x").timeStamp - performance.now()),
      year: new Date().getUTCFullYear(),
    };
  },
  async animations() {
    const rows = [];
    const host = document.body.appendChild(document.createElement("div"));
    const shadow = host.attachShadow({ mode: "open" });
    shadow.innerHTML = "<style>@keyframes grow { to { opacity: 0.5 } } p { animation: grow 0.1s }</style><p>in</p>";
    const from = await onFrame();
    const frame = frames;
    const say = (name) => (event) => rows.push([name, event.type, frames - frame, round(document.timeline.currentTime - from)]);
    const box = document.body.appendChild(document.createElement("div"));
    for (const type of ["animationstart", "animationiteration", "animationend"]) box.addEventListener(type, say("css"));
    box.className = "moving";
    const turning = document.body.appendChild(document.createElement("div"));
    turning.className = "turning";
    getComputedStyle(turning).opacity;
    turning.addEventListener("transitionend", say("transition"));
    turning.style.opacity = "0";
    shadow.querySelector("p").addEventListener("animationend", say("shadow"));
    const web = box.animate({ transform: ["none", "rotate(1turn)"] }, { duration: 300 });
    web.onfinish = say("web");
    for (let i = 0; i < 9; i++) await onFrame();
    rows.push(["opacity", round(+getComputedStyle(turning).opacity)]);
    for (let i = 0; i < 40; i++) await onFrame();
    return rows;
  },
  // What is asked for first comes first, however long it takes, and takes no time of the game.
  async loads() {
    const rows = [];
    const say = (what) => rows.push([what, frameOf()]);
    await onFrame();
    const frame = frameOf();
    const image = new Image();
    image.onload = () => say("image");
    const pending = [
      fetch("/slow/120/dot.svg").then((answer) => answer.text()).then((text) => say(`slow ${text.length}`)),
      fetch("/slow/10/dot.svg").then(() => say("quick")),
      fetch("/missing").then((answer) => say(`missing ${answer.status}`)),
      fetch("http://127.0.0.1:1/").catch((error) => say(error.name)),
      new Response("{}").json().then(() => say("json")),
      new Blob(["x"]).arrayBuffer().then(() => say("bytes")),
      crypto.subtle.digest("SHA-1", new Uint8Array(2)).then(() => say("digest")),
      WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(() => say("compiled")),
      createImageBitmap(document.getElementById("canvas")).then(() => say("bitmap")),
      document.fonts.ready.then(() => say("fonts")),
      new Promise((done) => document.getElementById("canvas").toBlob((blob) => done(say(blob.type)))),
      new Promise((done) => image.addEventListener("load", done)),
    ];
    image.src = "/slow/60/dot.svg";
    for (const ms of [80, 5]) {
      const request = new XMLHttpRequest();
      request.open("GET", `/slow/${ms}/dot.svg`);
      pending.push(new Promise((done) => (request.onload = () => done(say(`xhr ${ms}`)))));
      request.send();
    }
    const reader = new FileReader();
    pending.push(new Promise((done) => (reader.onload = () => done(say("file")))));
    reader.readAsText(new Blob(["x"]));
    await Promise.all(pending);
    rows.push(["frames", frameOf() - frame]);
    return rows;
  },
  async storage() {
    const rows = [];
    const asked = (request) => new Promise((done, fail) => { request.onsuccess = () => done(request.result); request.onerror = () => fail(request.error); });
    const request = indexedDB.open("behave", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("things");
    const base = await asked(request);
    rows.push(frameOf());
    const store = base.transaction("things", "readwrite").objectStore("things");
    await asked(store.put("value", "key"));
    rows.push(await asked(store.get("key")), frameOf());
    base.close();
    await asked(indexedDB.deleteDatabase("behave"));
    rows.push((await caches.keys()).length);
    return rows;
  },
  async modules() {
    const rows = [];
    const from = frameOf();
    const { when, late } = await import("/slow/50/module.js");
    rows.push([late, typeof when, frameOf() - from]);
    const request = new XMLHttpRequest();
    request.open("GET", "/slow/30/dot.svg", false);
    request.send();
    rows.push([request.status, frameOf() - from]);
    return rows;
  },
  async memory() {
    const cell = new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer);
    const from = performance.now();
    const found = Atomics.waitAsync(cell, 0, 0, 40);
    const rows = [found.async, await found.value, round(performance.now() - from)];
    const woken = Atomics.waitAsync(cell, 1, 0, 1000);
    rows.push(Atomics.notify(cell, 1), await woken.value, Atomics.waitAsync(cell, 0, 5, 10).value);
    const signal = AbortSignal.timeout(30);
    const at = performance.now();
    await new Promise((done) => (signal.onabort = done));
    rows.push(signal.reason.name, round(performance.now() - at));
    return rows;
  },
  // A script's draws and timer numbers come from streams of their own.
  async script() {
    const base = setTimeout(() => {});
    const game = [];
    setTimeout(() => game.push(Math.random(), setTimeout(() => {}) - base), 1);
    setTimeout(() => game.push(Math.random(), setTimeout(() => {}) - base), 30);
    const door = globalThis[Symbol.for("vitexec.connect")]("none");
    door.enter(); // to the end of this task, and in what it awaits, the script's code runs
    const own = [Math.random(), setTimeout(() => {}) > 2 ** 30, crypto.getRandomValues(new Uint8Array(2)).join()];
    setTimeout(() => own.push(Math.random(), setTimeout(() => {}) > 2 ** 30), 3);
    await sleep(40);
    return { game, own };
  },
  // A page that asks again as soon as it is answered does not hold a frame for ever.
  async asking() {
    const from = frameOf();
    let count = 0;
    while (count < 450) {
      await new Response("{}").json();
      count++;
    }
    return frameOf() - from;
  },
  async never() {
    const from = frameOf();
    let came = false;
    fetch("/never/1").then(() => (came = true), () => (came = true));
    await sleep(100);
    return [came, frameOf() - from];
  },
};
async function behave() {
  const out = {};
  for (const [name, check] of Object.entries(CHECKS)) {
    await onFrame();
    began.at = performance.now();
    began.frame = frames;
    out[name] = await check().catch((error) => `${error?.stack}`);
  }
  return JSON.stringify(out);
}
// Asked for in a click, the lock is there in the same frame.
const locks = [];
document.addEventListener("pointerlockchange", () => locks.push(["changed", document.pointerLockElement !== null, frames]));
document.getElementById("canvas").addEventListener("click", async (event) => {
  locks.push(["click", frames]);
  await event.target.requestPointerLock();
  locks.push(["granted", frames]);
});
