// What the browser does in its own time holds the clock: loads, decoding, pointer lock, storage. Hard part: promises are replaced by ours, which
// end in the order of asking; events come to the page as they are, and the clock waits for them.
(kit) => {
  const { apply, then } = kit;
  const { Promise } = globalThis;
  const { addEventListener, removeEventListener } = EventTarget.prototype;

  const { realm } = kit;
  const hold = (what) => kit.enqueue(what, realm);
  const { ready } = kit;

  /** A promise for a native promise's end, delivered in order. */
  const delivered = (what, promise) => {
    const one = hold(what);
    return new Promise((resolve, reject) => {
      const end = (settle, value) => ready(one, () => settle(value));
      then(promise, (value) => end(resolve, value), (error) => end(reject, kit.cleaned(error)));
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
  kit.delivered = delivered;
  kit.hold = hold;
  kit.ready = ready;

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
    const one = kit.enqueue(what, realm, true);
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
        const found = apply(native, this, given); // its events come in later tasks
        const end = holdEvents(name, target(this), ...types);
        if (!(found instanceof Promise)) return found;
        then(found, () => {}, end);
        return delivered(name, found);
      },
    })[name]);
  heldUntil(Element.prototype, "requestPointerLock", () => document, "pointerlockchange", "pointerlockerror");
  heldUntil(Element.prototype, "requestFullscreen", () => document, "fullscreenchange", "fullscreenerror");
  kit.replace(Document.prototype, "exitPointerLock", (native) => ({
    exitPointerLock() {
      if (this === document && document.pointerLockElement !== null) holdEvents("exitPointerLock", document, "pointerlockchange", "pointerlockerror");
      apply(native, this, []);
    },
  }).exitPointerLock);
  for (const name of ["readAsArrayBuffer", "readAsBinaryString", "readAsDataURL", "readAsText"]) {
    heldUntil(FileReader.prototype, name, (reader) => reader, "loadend");
  }
  kit.replace(HTMLCanvasElement.prototype, "toBlob", (native) => ({
    toBlob(...given) {
      const callback = given[0];
      if (typeof callback !== "function") return apply(native, this, given);
      given[0] = (blob) => ready(one, kit.bound(callback, undefined, [blob]));
      apply(native, this, given);
      const one = hold("toBlob"); // the blob comes in a later task
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
  const asked = kit.weak(); // request -> whether it is asynchronous
  const sent = kit.weak(); // request -> what is awaited of it
  const opened = Object.getOwnPropertyDescriptor(XMLHttpRequest.prototype, "readyState").get;
  const withdraw = (request) => {
    const one = sent.get(request);
    if (one !== undefined && one.start !== null) ready(one, () => {}); // it never went out
    sent.set(request, undefined);
  };
  kit.replace(XMLHttpRequest.prototype, "open", (native) => ({
    open(...given) {
      apply(native, this, given);
      withdraw(this);
      asked.set(this, given.length < 3 || !!given[2]);
    },
  }).open);
  kit.replace(XMLHttpRequest.prototype, "abort", (native) => ({
    abort() {
      apply(native, this, []);
      withdraw(this);
    },
  }).abort);
  kit.replace(XMLHttpRequest.prototype, "send", (native) => ({
    send(...given) {
      if (!asked.get(this) || apply(opened, this, []) !== 1 || sent.get(this) !== undefined) return apply(native, this, given);
      const end = () => {
        apply(removeEventListener, this, ["loadend", end]);
        const one = sent.get(this);
        sent.set(this, undefined);
        ready(one, () => {});
      };
      const start = () => {
        apply(addEventListener, this, ["loadend", end]);
        apply(native, this, given);
      };
      sent.set(this, kit.enqueue("XMLHttpRequest", realm, true, start));
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
  kit.replace(globalThis.AbortSignal, "timeout", (native) => ({
    timeout(...given) {
      const [ms] = given;
      if (given.length === 0 || !(ms >= 0 && ms < 2 ** 53)) return apply(native, this, given);
      const controller = new AbortController();
      kit.task(() => controller.abort(new DOMException("signal timed out", "TimeoutError")), +ms, realm);
      return controller.signal;
    },
  }).timeout);
}
