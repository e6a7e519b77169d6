// One realm of the page: its own window, or that of a frame of its own site, which joins the page's clock before its first line. Hard part: a
// frame may be gone at any moment, and nothing of it may then be run or waited for.
(kit) => {
  const { apply } = kit;
  const { document } = globalThis;
  const { get: viewOf } = Object.getOwnPropertyDescriptor(Document.prototype, "defaultView");
  const number = kit.realms.length;
  const { isPrototypeOf } = Object.prototype;
  const { prototype } = Document;
  let gone = false;
  const realm = {
    __proto__: null,
    number,
    document,
    /** False when the frame is gone or its window is another's. The first, empty document of a frame leaves its window to the next. */
    alive: () => {
      if (gone) return false;
      if (apply(viewOf, realm.document, []) !== null) return true;
      try {
        const next = globalThis.document; // of another realm, unless the window was kept
        gone = !apply(isPrototypeOf, prototype, [next]) || apply(viewOf, next, []) === null;
        realm.document = next;
      } catch {
        gone = true; // of another site
      }
      return !gone;
    },
  };
  kit.defineProperty(kit.realms, number, { value: realm, writable: true, enumerable: true, configurable: true });
  kit.realm = realm;

  kit.replace(Function.prototype, "toString", (native) => ({
    toString() {
      return kit.sourceOf(this) ?? apply(native, this, []);
    },
  }).toString);
  // A window that is opened here would have no clock: there is none, as if it were blocked.
  const { top, close, Reflect } = globalThis;
  const { get: topOf } = Reflect.getOwnPropertyDescriptor(globalThis, "top");
  kit.replace(globalThis, "open", (native) => ({
    open(...given) {
      const opened = apply(native, this, given);
      if (opened === null || apply(topOf, opened, []) === top) return opened;
      apply(close, opened, []);
      return null;
    },
  }).open);
  // What runs in threads and processes of its own
  for (const [name, words] of [["Worker", "a worker"], ["SharedWorker", "a shared worker"]]) {
    kit.replaceClass(globalThis, name, (native) => (given, target) => {
      if (target === undefined) return apply(native, undefined, given);
      const worker = kit.construct(native, given, target);
      kit.note(`${words} runs ${given[0]}: its time is not driven`);
      return worker;
    });
  }
  kit.replace(globalThis.ServiceWorkerContainer?.prototype, "register", (native) => ({
    register(...given) {
      if (given.length > 0) kit.note(`a service worker runs ${given[0]}: its time is not driven`);
      return kit.rejecting(apply(native, this, given));
    },
  }).register);

  // Sound of a frame is not driven.
  if (kit.first) return;
  kit.replaceClass(globalThis, "AudioContext", (native) => (given, target) => {
    kit.note("an audio context of a frame plays in its own time");
    return target === undefined ? apply(native, undefined, given) : kit.construct(native, given, target);
  });
}
