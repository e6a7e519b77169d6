// What the browser does in its own time holds the clock: loads, decoding, pointer lock, storage. The page gets each result in the order in
// which it asked, as a task of its own, when the frame that asked (or the boot) settles. Hard part: what never ends (a file that is
// never answered) would hold for ever; the host asks what is awaited and, after its patience, lets time go on and notes it.
(kit) => {
  const { apply, Promise, then, inPhase } = kit;
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  const { slice } = Array.prototype;

  let queue = []; // in order of asking: {what, phase, ready, run}
  let waiting = null; // what runs when everything is done
  let delivering = false;
  kit.open = true; // before frame 0 results are delivered as they come

  const hold = (what) => {
    const one = { what, phase: kit.phase, ready: false, run: null };
    queue[queue.length] = one;
    return one;
  };
  const ready = (one, run) => {
    if (one.ready) return;
    one.ready = true;
    one.run = run;
    advance();
  };
  // Delivers what is at the head of the queue; two hops after it, whatever it set off has asked for its own.
  const advance = () => {
    if (delivering || (!kit.open && waiting === null)) return;
    const head = queue[0];
    if (queue.length === 0) {
      const done = waiting;
      waiting = null;
      if (done !== null) done();
      return;
    }
    if (!head.ready) return;
    delivering = true;
    queue = apply(slice, queue, [1]);
    kit.hop(() => {
      kit.phase = head.phase;
      kit.taskBegins();
      kit.hop(() => {
        kit.phase = kit.GAME;
        kit.runJobs(() =>
          kit.hop(() => {
            delivering = false;
            advance();
          }),
        );
      });
      head.run();
    });
  };
  kit.settle = (done) => {
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
    advance();
  };

  /** A promise for a native promise's end, delivered in order. */
  const delivered = (what, promise) => {
    const one = hold(what);
    return new Promise((resolve, reject) => {
      const end = (settle) => (value) => {
        if (one.late) kit.hop(() => inPhase(one.phase, () => settle(value)));
        else ready(one, () => settle(value));
      };
      then(promise, end(resolve), end(reject));
    });
  };
  const heldMethods = (owner, ...methods) => {
    for (const name of methods) {
      kit.replace(owner, name, (native) => ({
        [name](...given) {
          const found = apply(native, this, given);
          return found instanceof Promise ? delivered(name, found) : found;
        },
      })[name]);
    }
  };
  kit.heldMethods = heldMethods;

  heldMethods(globalThis, "fetch", "createImageBitmap");
  for (const body of [Response, Request, Blob]) heldMethods(body.prototype, "text", "json", "arrayBuffer", "blob", "formData", "bytes");
  heldMethods(HTMLImageElement.prototype, "decode");
  heldMethods(globalThis.FontFace?.prototype, "load");
  heldMethods(globalThis.FontFaceSet?.prototype, "load");
  heldMethods(WebAssembly, "compile", "instantiate", "compileStreaming", "instantiateStreaming");
  heldMethods(globalThis.SubtleCrypto?.prototype, ...Object.getOwnPropertyNames(globalThis.SubtleCrypto?.prototype ?? {}).filter((name) => name !== "constructor"));
  heldMethods(globalThis.OffscreenCanvas?.prototype, "convertToBlob");
  heldMethods(globalThis.CacheStorage?.prototype, "open", "match", "has", "delete", "keys");
  heldMethods(globalThis.Cache?.prototype, "match", "matchAll", "add", "addAll", "put", "delete", "keys");
  heldMethods(globalThis.StorageManager?.prototype, "estimate", "persist", "persisted", "getDirectory");
  heldMethods(globalThis.Permissions?.prototype, "query");
  heldMethods(globalThis.GPU?.prototype, "requestAdapter");
  heldMethods(globalThis.GPUAdapter?.prototype, "requestDevice");
  heldMethods(globalThis.Worklet?.prototype, "addModule");
  const fontsReady = kit.weak();
  kit.replaceGetter(globalThis.FontFaceSet?.prototype, "ready", (native) => ({
    get ready() {
      const found = apply(native, this, []);
      let promise = fontsReady.get(found);
      if (promise === undefined) fontsReady.set(found, (promise = delivered("fonts", found)));
      return promise;
    },
  }).__lookupGetter__("ready"));

  // Events: the native event goes to the page as it comes; the clock waits for it, and for what it sets off.
  const holdEvents = (what, target, ...types) => {
    const one = hold(what);
    const end = () => {
      for (let i = 0; i < types.length; i++) apply(removeEventListener, target, [types[i], end]);
      ready(one, () => {});
    };
    for (let i = 0; i < types.length; i++) apply(addEventListener, target, [types[i], end]);
    return end;
  };
  kit.holdEvents = holdEvents;
  const heldUntil = (owner, name, target, ...types) =>
    kit.replace(owner, name, (native) => ({
      [name](...given) {
        const end = holdEvents(name, target(this), ...types);
        let found;
        try {
          found = apply(native, this, given);
        } catch (error) {
          end();
          throw error;
        }
        return found instanceof Promise ? delivered(name, found) : found;
      },
    })[name]);
  heldUntil(Element.prototype, "requestPointerLock", () => document, "pointerlockchange", "pointerlockerror");
  heldUntil(Element.prototype, "requestFullscreen", () => document, "fullscreenchange", "fullscreenerror");
  kit.replace(Document.prototype, "exitPointerLock", (native) => ({
    exitPointerLock() {
      if (document.pointerLockElement !== null) holdEvents("exitPointerLock", document, "pointerlockchange", "pointerlockerror");
      apply(native, this, []);
    },
  }).exitPointerLock);
  for (const name of ["readAsArrayBuffer", "readAsBinaryString", "readAsDataURL", "readAsText"]) {
    heldUntil(FileReader.prototype, name, (reader) => reader, "loadend");
  }
  kit.replace(HTMLCanvasElement.prototype, "toBlob", (native) => ({
    toBlob(callback, ...rest) {
      const one = hold("toBlob");
      apply(native, this, [(blob) => ready(one, () => callback(blob)), ...rest]);
    },
  }).toBlob);

  // Images: held from the moment they are given a source, unless they are lazy and may never load.
  const loading = kit.weak();
  const lazy = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, "loading").get;
  kit.replaceGetter(HTMLImageElement.prototype, "src", null, (native) => ({
    set src(value) {
      if (!loading.get(this) && apply(lazy, this, []) !== "lazy" && `${value}` !== "") {
        loading.set(this, true);
        const end = () => loading.set(this, false);
        holdEvents("image", this, "load", "error");
        for (const type of ["load", "error"]) apply(addEventListener, this, [type, end, { once: true }]);
      }
      apply(native, this, [value]);
    },
  }).__lookupSetter__("src"));

  // XMLHttpRequests go out one after the other, so that they come back in that order.
  const asked = kit.weak();
  let sending = false;
  let line = [];
  const send = () => {
    if (sending || line.length === 0) return;
    const first = line[0];
    line = apply(slice, line, [1]);
    sending = true;
    first();
  };
  kit.replace(XMLHttpRequest.prototype, "open", (native) => ({
    open(method, url, ...rest) {
      asked.set(this, rest.length === 0 || rest[0] !== false);
      apply(native, this, [method, url, ...rest]);
    },
  }).open);
  kit.replace(XMLHttpRequest.prototype, "send", (native) => ({
    send(body) {
      if (!asked.get(this)) return apply(native, this, [body]);
      holdEvents("XMLHttpRequest", this, "loadend");
      apply(addEventListener, this, ["loadend", () => {
        kit.hop(() => {
          sending = false;
          send();
        });
      }, { once: true }]);
      line[line.length] = () => {
        try {
          apply(native, this, [body]);
        } catch (error) {
          sending = false;
          send();
          throw error;
        }
      };
      send();
    },
  }).send);

  // Requests of IndexedDB
  for (const [owner, ...methods] of [
    [globalThis.IDBFactory, "open", "deleteDatabase"],
    [globalThis.IDBObjectStore, "add", "put", "get", "getAll", "getKey", "getAllKeys", "delete", "clear", "count", "openCursor", "openKeyCursor"],
    [globalThis.IDBIndex, "get", "getAll", "getKey", "getAllKeys", "count", "openCursor", "openKeyCursor"],
  ]) {
    for (const name of methods) {
      kit.replace(owner?.prototype, name, (native) => ({
        [name](...given) {
          const request = apply(native, this, given);
          holdEvents("IndexedDB", request, "success", "error");
          return request;
        },
      })[name]);
    }
  }
  kit.replace(globalThis.AbortSignal, "timeout", () => ({
    timeout(ms) {
      const controller = new AbortController();
      kit.task(() => controller.abort(new DOMException("signal timed out", "TimeoutError")), ms);
      return controller.signal;
    },
  }).timeout);
}
