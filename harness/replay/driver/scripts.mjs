// How a script is named on the server, the same for Vite projects and static pages. A script's URL carries the id of its run
// (?vitexec=ID); its import of "vitexec" becomes the page client bound to that id, every other importer's the unbound client, which
// only throws. Hard part: inline code and files outside the project must see the project's modules as if they stood in it, while no
// page may use the same door to read other files.

import fs from "node:fs";
import { SourceMap } from "node:module";
import path from "node:path";

import { refuseLarge } from "./project.mjs";

const CLIENT_FILE = new URL("./client.js", import.meta.url);
export const CLIENT_URL = "/@vitexec/client.js";
export const CHECK_URL = "/@vitexec/check";
const INLINE_URL = "/@vitexec/inline/";
const RUN_ID = /[?&]vitexec=([A-Za-z0-9]{1,64})(?:&|$)/;

export const runOf = (id) => (id === undefined ? null : (RUN_ID.exec(id)?.[1] ?? null));
export const withoutQuery = (id) => id.replace(/[?#].*$/s, "");
export const clientSource = () => fs.readFileSync(CLIENT_FILE, "utf8");

/** The client that an importer gets: bound to its run, or unbound. */
export function clientFor(importer) {
  const run = runOf(importer);
  return run === null ? CLIENT_URL : `${CLIENT_URL}?run=${run}`;
}

export class Scripts {
  constructor(root) {
    this.root = fs.realpathSync(root);
    this.inline = new Map();
    this.outside = new Set();
  }

  /** Serves a text as a module of the project and returns its URL path. */
  putInline(name, text) {
    if (!/^[A-Za-z0-9]{1,64}\.(?:ts|tsx|js)$/.test(name)) throw new Error(`inline code cannot be named ${JSON.stringify(name)}`);
    refuseLarge(Buffer.byteLength(text), "The inline code");
    this.inline.set(INLINE_URL + name, text);
    return INLINE_URL + name;
  }

  /** The URL path of a script file, wherever it stands; a file outside the project becomes readable by this alone. */
  urlOf(file) {
    const real = fs.realpathSync(file);
    if (!fs.statSync(real).isFile()) throw new Error(`${file} is not a regular file`);
    refuseLarge(fs.statSync(real).size, file);
    if (real.startsWith(this.root + path.sep)) return encodeURI(real.slice(this.root.length));
    this.outside.add(real);
    return encodeURI(`/@fs${real}`);
  }

  isInline(id) {
    return this.inline.has(withoutQuery(id));
  }

  /** True for a helper that stands beside the scripts and so belongs to the run that imports it. */
  belongsToRun(file) {
    return withoutQuery(file).startsWith(path.join(this.root, "vitexec") + path.sep);
  }

  /** The source behind a script id or URL that carries a run, or null when it is none of ours. */
  read(id) {
    const clean = decodeURI(withoutQuery(id));
    if (this.inline.has(clean)) return this.inline.get(clean);
    const file = clean.startsWith("/@fs/") ? clean.slice(4) : clean;
    for (const candidate of [path.join(this.root, file), file]) {
      const real = realFile(candidate);
      if (real !== null && (real.startsWith(this.root + path.sep) || this.outside.has(real))) {
        refuseLarge(fs.statSync(real).size, candidate);
        return fs.readFileSync(real, "utf8");
      }
    }
    return null;
  }
}

const PROMISE_METHODS = new Set(["then", "catch", "finally"]);

function* nodesOf(node) {
  if (node === null || typeof node !== "object") return;
  if (Array.isArray(node)) {
    for (const item of node) yield* nodesOf(item);
    return;
  }
  if (typeof node.type === "string") yield node;
  for (const value of Object.values(node)) yield* nodesOf(value);
}

/** The places of `program` where a script hands its going on to somebody else: [start, end, function that it goes through]. */
function* handOvers(program) {
  for (const node of nodesOf(program)) {
    if (node.type === "AwaitExpression") yield [node.argument.start, node.argument.end, "__vitexec_wait"];
    const method = node.type === "CallExpression" && node.callee.type === "MemberExpression" ? node.callee.property?.name : null;
    if (!PROMISE_METHODS.has(method)) continue;
    for (const argument of node.arguments) {
      if (argument.type !== "SpreadElement") yield [argument.start, argument.end, "__vitexec_owned"];
    }
  }
}

/** Under the virtual clock: the script's code with its awaits and promise handlers led through the page client, so that what it does
 *  is told from what the game does. No line moves. */
export async function instrument(vite, code) {
  const insertions = [];
  for (const [start, end, name] of handOvers(await vite.parseAstAsync(code))) {
    insertions.push([start, 0, `${name}(`], [end, 1, ")"]);
  }
  insertions.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  let text = code;
  for (const [at, , piece] of insertions) text = text.slice(0, at) + piece + text.slice(at);
  const names = ["enter", "wait", "owned"].map((name) => `${name} as __vitexec_${name}`).join(", ");
  return `import { ${names} } from "vitexec"; __vitexec_enter(); ${text}`;
}

/** The nodes that name a module in `code`, in order: static imports and `import("literal")`. */
export async function importSources(vite, code) {
  const found = [];
  for (const node of nodesOf(await vite.parseAstAsync(code))) {
    const isImport = /^(?:Import|ExportNamed|ExportAll)Declaration$|^ImportExpression$/.test(node.type);
    if (isImport && typeof node.source?.value === "string") found.push(node.source);
  }
  return found;
}

/** The game's modules that a script and its helpers import, so that they can be loaded before it; `compile` gives a URL's code. */
export async function gameImports(vite, url, compile, seen = new Set()) {
  if (seen.has(url)) return [];
  seen.add(url);
  const code = await compile(url);
  const found = [];
  for (const { value } of code === null ? [] : await importSources(vite, code)) {
    const target = new URL(value, new URL(url, "http://localhost"));
    if (target.origin !== "http://localhost" || target.pathname.startsWith("/@vitexec/client") || target.pathname.startsWith("/@vite/")) continue;
    const path = target.pathname + target.search;
    if (runOf(path) === null) found.push(path);
    else found.push(...(await gameImports(vite, path, compile, seen)));
  }
  return [...new Set(found)];
}

export function realFile(candidate) {
  try {
    const real = fs.realpathSync(candidate);
    return fs.statSync(real).isFile() ? real : null;
  } catch {
    return null;
  }
}

const ANSI = /\u001b\[[0-9;]*m/g;

/** One message for a script that cannot be served: what the compiler said, where, and the lines it points at. */
export function describeFailure(error) {
  const message = String(error?.message ?? error).replace(ANSI, "").trim();
  const at = error?.loc ? `${error.loc.file ?? error.id ?? ""}:${error.loc.line}:${error.loc.column}: ` : "";
  const frame = error?.frame ? `\n${String(error.frame).replace(ANSI, "").trimEnd()}` : "";
  return at + message + (frame && !message.includes(frame.trim()) ? frame : "");
}

const PLACE = /https?:\/\/[^/\s]+(\/[^\s():]*\?[^\s():]*vitexec=[A-Za-z0-9]+):(\d+):(\d+)/g;

/** A stack with the places of scripts given in their source files' lines; `mapOf` finds a URL path's source map. */
export async function mapStack(text, mapOf) {
  const maps = new Map();
  for (const [, url] of text.matchAll(PLACE)) {
    if (!maps.has(url)) maps.set(url, await mapOf(url).catch(() => null));
  }
  return text.replace(PLACE, (whole, url, line, column) => {
    const map = maps.get(url);
    const name = withoutQuery(url).replace(/^\/@fs(?=\/)/, "").replace(/^\/@vitexec\/inline\/.*/, "inline code");
    const entry = map ? new SourceMap(map).findEntry(Number(line) - 1, Number(column) - 1) : {};
    const place = entry.originalLine === undefined ? [line, column] : [entry.originalLine + 1, entry.originalColumn + 1];
    return [name.replace(/^\/(?=vitexec\/)/, ""), ...place].join(":");
  });
}

export function sendText(response, status, type, text) {
  response.statusCode = status;
  response.setHeader("content-type", type);
  response.setHeader("cache-control", "no-store");
  response.end(text);
}

/** Answers the paths that are the driver's own; false leaves the request to the project. */
export async function answerOwn(request, response, check) {
  const url = new URL(request.url, "http://localhost");
  if (url.pathname === CLIENT_URL) {
    sendText(response, 200, "text/javascript", clientSource());
    return true;
  }
  if (url.pathname !== CHECK_URL) return false;
  const failure = await check(url.searchParams.get("url") ?? "").then(
    (found) => (found ? null : "there is no such script"),
    (error) => describeFailure(error),
  );
  sendText(response, 200, "application/json", JSON.stringify({ ok: failure === null, message: failure }));
  return true;
}
