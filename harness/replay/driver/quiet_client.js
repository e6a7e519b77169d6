// Stands in for Vite's own client, which would look for a socket that is switched off and complain in the page's console. It keeps what
// compiled modules import from that client: style sheets by id, an inert hot context, and the constants of the configuration.
import "/@vite/env";

const sheets = new Map();
const cspNonce = document.querySelector("meta[property=csp-nonce]")?.nonce;

export function updateStyle(id, css) {
  let sheet = sheets.get(id);
  if (sheet === undefined) {
    sheet = document.createElement("style");
    sheet.setAttribute("type", "text/css");
    sheet.setAttribute("data-vite-dev-id", id);
    if (cspNonce) sheet.setAttribute("nonce", cspNonce);
    document.head.append(sheet);
    sheets.set(id, sheet);
  }
  sheet.textContent = css;
}

export function removeStyle(id) {
  sheets.get(id)?.remove();
  sheets.delete(id);
}

export function injectQuery(url, query) {
  if (!/^[./]/.test(url)) return url;
  const [, name, search, hash] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(url);
  return `${name}?${query}${search ? `&${search}` : ""}${hash ?? ""}`;
}

export function createHotContext() {
  const nothing = () => {};
  return {
    data: {}, accept: nothing, acceptExports: nothing, dispose: nothing, prune: nothing, decline: nothing,
    invalidate: nothing, on: nothing, off: nothing, send: nothing,
  };
}

export class ErrorOverlay {}
