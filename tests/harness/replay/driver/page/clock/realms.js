// What a page gets in realms other than its own, at the first moment at which it can have them.
const year = (date) => new Date(date).getUTCFullYear();
const look = (realm) => {
  const bytes = realm.crypto.getRandomValues(new realm.Uint8Array(4));
  return {
    year: [year(realm.Date.now()), year(new realm.Date()), realm.Date().slice(11, 15)].join(),
    now: realm.performance.now(),
    random: realm.Math.random(),
    bytes: [...bytes].join(),
    id: realm.crypto.randomUUID(),
    native: [realm.setTimeout, realm.requestAnimationFrame, realm.performance.now, realm.Date].map((one) => `${Function.prototype.toString.call(one)}`).join(),
    own: realm.Date !== Date && realm.setTimeout !== setTimeout && realm.setTimeout(() => {}) > 0,
  };
};
const loaded = (frame) => new Promise((done) => frame.addEventListener("load", done, { once: true }));
const framed = (set) => {
  const frame = document.createElement("iframe");
  set(frame);
  const load = loaded(frame);
  document.body.append(frame);
  return { frame, realm: frame.contentWindow, load };
};
const SCRIPT = "<script>globalThis.first = [Date.now(), performance.now(), Math.random()]<\/script>";
const KINDS = {
  blank: () => {},
  "about:blank": (frame) => (frame.src = "about:blank"),
  srcdoc: (frame) => (frame.srcdoc = SCRIPT),
  blob: (frame) => (frame.src = URL.createObjectURL(new Blob([SCRIPT], { type: "text/html" }))),
  javascript: (frame) => (frame.src = "javascript:'<p>'+Date.now()+'</p>'"),
  file: (frame) => (frame.src = "frame.html"),
  data: (frame) => (frame.src = `data:text/html,${SCRIPT}`),
};
// A timer and animation frames of the realm, told by the page's own frames.
const moves = (realm) =>
  new Promise((done) => {
    const rows = [];
    const began = performance.now();
    const told = () => Math.round((performance.now() - began) * 10) / 10;
    realm.setTimeout(() => rows.push(["timer", told()]), 25);
    realm.requestAnimationFrame(function step(time) {
      rows.push(["frame", told(), Math.round(time - realm.performance.now())]);
      if (rows.filter(([kind]) => kind === "frame").length < 3) realm.requestAnimationFrame(step);
      else done(rows);
    });
  });

async function realms() {
  const out = {};
  for (const [kind, set] of Object.entries(KINDS)) {
    const { frame, realm, load } = framed(set);
    const at = (out[kind] = { first: look(realm) });
    const began = performance.now();
    await load;
    at.loadedIn = Math.round(performance.now() - began);
    if (kind === "data") continue; // of another origin by now
    at.then = look(frame.contentWindow);
    at.script = frame.contentWindow.first;
    at.moves = await moves(frame.contentWindow);
  }
  const outer = framed(() => {});
  const inner = outer.realm.document.createElement("iframe");
  outer.realm.document.body.append(inner);
  out.nested = { first: look(inner.contentWindow), moves: await moves(inner.contentWindow) };

  const opened = framed(() => {});
  const { document: written } = opened.realm;
  written.open();
  written.write(SCRIPT);
  written.close();
  out.written = { first: look(opened.frame.contentWindow), script: opened.frame.contentWindow.first, moves: await moves(opened.frame.contentWindow) };

  const heard = [];
  const gone = framed(() => {});
  gone.realm.setTimeout(() => heard.push("timer of a frame that is gone"), 20);
  gone.realm.requestAnimationFrame(() => heard.push("frame of a frame that is gone"));
  const asked = gone.realm.fetch("/slow/50/frame.html");
  asked.then(() => heard.push("fetch of a frame that is gone"), () => {});
  const { setTimeout: goneTimeout, requestAnimationFrame: goneFrame } = gone.realm;
  gone.frame.remove();
  out.gone = { timer: goneTimeout(() => heard.push("late timer"), 1), frame: goneFrame(() => heard.push("late frame")) };
  await new Promise((done) => setTimeout(done, 100));
  out.heard = heard;

  // Messages between the page and a frame say who sent them.
  const talk = framed((frame) => (frame.srcdoc = "<script>addEventListener('message', (event) => event.source.postMessage([event.data, event.source === parent], '*')); parent.postMessage('ready', '*')<\/script>"));
  const said = (of) => new Promise((done) => addEventListener("message", (event) => done([event.data, event.source === of]), { once: true }));
  const ready = await said(talk.realm);
  talk.realm.postMessage("hello", "*");
  out.talk = [ready, await said(talk.realm)];

  out.windows = [window.open("about:blank") === null, window.open("frame.html", "named") === null];
  const link = document.createElement("iframe");
  link.name = "inside";
  document.body.append(link);
  out.inside = window.open("about:blank", "inside") === link.contentWindow;
  const bare = document.implementation.createHTMLDocument("");
  const held = bare.createElement("iframe");
  bare.body.append(held);
  out.bare = [bare.defaultView, held.contentWindow];
  return JSON.stringify(out);
}
