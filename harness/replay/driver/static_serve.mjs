// Serves a folder of plain files as any static host would: bytes as they are, the right type, ranges, index pages. Only scripts (URLs
// that carry a run) are compiled, and in them only the "vitexec" import is rewritten, so that all other imports, import maps
// included, name the page's own module instances. Hard part: a page from elsewhere must not notice that anything of ours is there.

import fs from "node:fs";
import http from "node:http";
import path from "node:path";

import { PRISTINE } from "./project.mjs";
import { answerOwn, clientFor, describeFailure, gameImports, importSources, instrument, realFile, runOf, sendText, withoutQuery } from "./scripts.mjs";
import { loadVite } from "./vite_serve.mjs";

const TYPES = new Map(
  Object.entries({
    html: "text/html; charset=utf-8", htm: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8",
    mjs: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", json: "application/json; charset=utf-8",
    map: "application/json; charset=utf-8", txt: "text/plain; charset=utf-8", xml: "text/xml; charset=utf-8",
    svg: "image/svg+xml", png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp",
    avif: "image/avif", ico: "image/x-icon", wasm: "application/wasm", mp3: "audio/mpeg", ogg: "audio/ogg", oga: "audio/ogg",
    wav: "audio/wav", m4a: "audio/mp4", flac: "audio/flac", mp4: "video/mp4", webm: "video/webm", woff: "font/woff",
    woff2: "font/woff2", ttf: "font/ttf", otf: "font/otf", glb: "model/gltf-binary", gltf: "model/gltf+json",
    webmanifest: "application/manifest+json",
  }),
);
const TYPED = /\.(?:[cm]?ts|[jt]sx)$/;

/** A script as plain JavaScript, with a map where that differs from its source. */
async function translate(vite, scripts, url) {
  const source = scripts.read(url);
  if (source === null) return null;
  const name = withoutQuery(url);
  return TYPED.test(name) ? vite.transformWithOxc(source, name, { sourcemap: true }) : { code: source, map: null };
}

/** Compiles a script to a module whose "vitexec" is the client of its run. */
async function compile(vite, scripts, url, clock) {
  const translated = await translate(vite, scripts, url);
  if (translated === null) return null;
  let code = clock === "virtual" ? await instrument(vite, translated.code) : translated.code;
  const places = (await importSources(vite, code)).sort((a, b) => b.start - a.start);
  for (const { value, start, end } of places) {
    const target = value === "vitexec" ? clientFor(url) : helperOf(scripts, value, url);
    if (target !== null) code = code.slice(0, start) + JSON.stringify(target) + code.slice(end);
  }
  return code;
}

function helperOf(scripts, specifier, url) {
  if (!specifier.startsWith(".") || scripts.isInline(url)) return null;
  const pathname = new URL(specifier, new URL(withoutQuery(url), "http://localhost")).pathname;
  return scripts.belongsToRun(scripts.root + pathname) ? `${pathname}?vitexec=${runOf(url)}` : null;
}

function locate(root, pathname) {
  const wanted = path.join(root, decodeURIComponent(pathname));
  for (const candidate of pathname.endsWith("/") ? [path.join(wanted, "index.html")] : [wanted]) {
    const real = realFile(candidate);
    if (real !== null && [root, PRISTINE].some((folder) => real.startsWith(folder + path.sep))) return real;
  }
  return null;
}

function isFolder(root, pathname) {
  const full = path.join(root, decodeURIComponent(pathname));
  return full.startsWith(root + path.sep) && fs.existsSync(path.join(full, "index.html"));
}

function sendFile(request, response, file) {
  const { size } = fs.statSync(file);
  const type = TYPES.get(path.extname(file).slice(1).toLowerCase()) ?? "application/octet-stream";
  response.setHeader("content-type", type);
  response.setHeader("cache-control", "no-cache");
  response.setHeader("accept-ranges", "bytes");
  const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "");
  let [start, end] = [0, size - 1];
  if (range && (range[1] || range[2])) {
    start = range[1] ? Number(range[1]) : Math.max(0, size - Number(range[2]));
    end = range[1] && range[2] ? Math.min(Number(range[2]), size - 1) : size - 1;
    if (start > end || start >= size) {
      response.setHeader("content-range", `bytes */${size}`);
      return sendText(response, 416, "text/plain", "");
    }
    response.statusCode = 206;
    response.setHeader("content-range", `bytes ${start}-${end}/${size}`);
  }
  response.setHeader("content-length", size === 0 ? 0 : end - start + 1);
  if (request.method === "HEAD" || size === 0) return response.end();
  return fs.createReadStream(file, { start, end }).on("error", () => response.destroy()).pipe(response);
}

export async function serveStatic(options, scripts) {
  const vite = await loadVite();
  const root = scripts.root;
  const compileScript = (url) => compile(vite, scripts, url, options.clock);

  const handle = async (request, response) => {
    response.setHeader("x-playproof-nonce", options.nonce);
    if (await answerOwn(request, response, async (url) => (await compileScript(url)) !== null)) return;
    const pathname = withoutQuery(request.url);
    if (runOf(request.url) !== null) {
      const code = await compileScript(request.url);
      if (code !== null) return sendText(response, 200, "text/javascript; charset=utf-8", code);
    }
    if (request.method !== "GET" && request.method !== "HEAD") return sendText(response, 405, "text/plain", "only GET and HEAD");
    const file = locate(root, pathname);
    if (file !== null) return sendFile(request, response, file);
    if (pathname === "/favicon.ico") return sendText(response, 200, "image/x-icon", "");
    if (!pathname.endsWith("/") && isFolder(root, pathname)) {
      response.setHeader("location", `${pathname}/`);
      return sendText(response, 301, "text/plain", "");
    }
    return sendText(response, 404, "text/plain; charset=utf-8", `not found: ${pathname}`);
  };

  const server = http.createServer((request, response) => {
    handle(request, response).catch((error) => {
      if (!response.headersSent) sendText(response, 500, "text/plain; charset=utf-8", describeFailure(error));
      else response.destroy();
    });
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, "127.0.0.1", resolve);
  });
  const close = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  const mapOf = async (url) => (await translate(vite, scripts, url))?.map ?? null;
  const importsOf = (url) => gameImports(vite, url, compileScript);
  return { port: server.address().port, dependencies: [], mapOf, importsOf, close };
}
