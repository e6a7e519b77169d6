// Runs in a world of its own in every document, before any script of the page, with BINDING and LISTEN filled in by the host. It listens
// first, on the window, while events still go down to their target, and tells the host each one in a row of flat JSON. Hard part: the
// page owns the document. It can name elements after what is read here, erase listeners with document.open() and flood events; so
// properties of nodes are read by getters taken from prototypes, listening can be done again at any time, and what a page can
// make without an input device has a budget that grows only with what came from one.
(() => {
  "use strict";
  const known = globalThis["LISTEN"];
  if (typeof known === "function") {
    known();
    return;
  }
  const post = globalThis["BINDING"];
  const { apply } = Reflect;
  const { addEventListener } = EventTarget.prototype;
  const { getAttribute } = Element.prototype;
  const getter = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name).get;
  const localName = getter(Element.prototype, "localName");
  const parentNode = getter(Node.prototype, "parentNode");
  const nodeName = getter(Node.prototype, "nodeName");
  const nodeType = getter(Node.prototype, "nodeType");
  const lockedElement = getter(Document.prototype, "pointerLockElement");
  const quote = JSON.stringify;
  const page = document;

  const HARDWARE = // what only an input device makes
    "mousedown mouseup mousemove pointerdown pointerup pointermove keydown keyup wheel mousewheel touchstart touchmove touchend";
  const OTHERS =
    // none that listening itself would switch on: sensors, gamepads, unmerged moves (pointerrawupdate)
    "click dblclick auxclick contextmenu mouseover mouseout mouseenter mouseleave pointerover pointerout pointerenter pointerleave " +
    "pointercancel gotpointercapture lostpointercapture pointerlockchange pointerlockerror keypress beforeinput input change textInput " +
    "compositionstart compositionupdate compositionend touchcancel drag dragstart dragend dragenter dragleave dragover drop " +
    "copy cut paste focus blur focusin focusout DOMMouseScroll";
  const hardware = new Set(HARDWARE.split(" "));
  const types = `${HARDWARE} ${OTHERS}`.split(" ");
  const quiet = new Set(["mouseenter", "mouseleave", "pointerenter", "pointerleave"]);

  const FIRST_BUDGET = 2000; // rows of events that a page can make by itself
  const BUDGET_PER_INPUT = 16; // and how many more each real one allows: it has no more consequences than that
  const PATH_STEPS = 3;
  const WORD = 40; // characters of one name, key or code that are kept
  let budget = FIRST_BUDGET;
  const leftOut = Object.create(null);

  const word = (value) => (typeof value === "string" ? value.slice(0, WORD) : null);

  const nameOf = (node) => {
    if (apply(nodeType, node, []) !== 1) return word(apply(nodeName, node, []));
    const id = apply(getAttribute, node, ["id"]);
    const classes = apply(getAttribute, node, ["class"]);
    const kind = word(apply(localName, node, []));
    return `${kind}${id ? `#${word(id)}` : ""}${classes ? `.${word(classes.trim()).replaceAll(" ", ".")}` : ""}`;
  };

  /** The target and what it stands in, innermost first. */
  const pathOf = (target) => {
    if (target === window) return "window";
    if (!(target instanceof Node)) return "?";
    let text = nameOf(target);
    let node = apply(parentNode, target, []);
    for (let step = 1; step < PATH_STEPS && node !== null && node !== page; step++) {
      text += ` < ${nameOf(node)}`;
      node = apply(parentNode, node, []);
    }
    return text;
  };

  const tell = (event, type, trusted) => {
    const scrolls = event.deltaX !== undefined;
    const locked = apply(lockedElement, page, []) !== null;
    post(
      quote([
        type,
        trusted ? 1 : 0,
        pathOf(event.target),
        word(event.key),
        word(event.code),
        event.repeat === true ? 1 : 0,
        event.button,
        event.buttons,
        event.clientX,
        event.clientY,
        event.screenX,
        event.screenY,
        scrolls ? event.deltaX : event.movementX,
        scrolls ? event.deltaY : event.movementY,
        locked ? 1 : 0,
      ]),
    );
  };

  const see = (event) => {
    const { type, isTrusted } = event;
    if (isTrusted && hardware.has(type)) {
      budget += BUDGET_PER_INPUT;
    } else {
      if (isTrusted && quiet.has(type)) return; // one for each ancestor, all of them consequences of a pointerover or pointerout
      if (budget <= 0) {
        const count = (leftOut[type] = (leftOut[type] ?? 0) + 1);
        if ((count & (count - 1)) === 0) post(quote([type, count]));
        return;
      }
      budget -= 1;
    }
    tell(event, type, isTrusted);
  };

  const how = { capture: true, passive: true };
  const listen = () => {
    for (let k = 0; k < types.length; k++) apply(addEventListener, window, [types[k], see, how]);
  };
  Object.defineProperty(globalThis, "LISTEN", { value: listen });
  listen();
  // document.open() empties the document and erases listeners: the first is seen here before any other task runs
  new MutationObserver(listen).observe(page, { childList: true });
})();
