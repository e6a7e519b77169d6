// The project's server: `node server.mjs [options]`. It serves a Vite project or a static page on a free loopback port and, with
// --control, takes orders as JSON lines on stdin and answers them on stdout; it ends when stdin does, so that no server outlives the
// program that started it. Hard part: a project's configuration may print, and stdout is ours, so everything else goes to stderr.
//
//   --root DIR         project (default /workspace; filled from /opt/game when empty)
//   --config FILE      Vite configuration (default: the project's own)
//   --cache-dir DIR    optimiser cache (default: a new folder /tmp/vitexec-XXXXXX; filled from /opt/game-cache)
//   --serve vite|static   --entry PATH   (default: as /opt/game.json says, else vite and /)
//   --clock real|virtual   virtual: scripts are compiled so that their time and randomness are told from the game's
//   --port N   --optimize-only   --control
//
// First line out: {"port","nonce","entry"}. With --optimize-only: {"cache_dir","dependencies"} once the cache is complete.
// Orders: prepare · put_script {name,text} · inline {name,text} · script_url {file} · map_stack {text} · imports {url} · digest · stop.

import { randomBytes } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";
import { parseArgs } from "node:util";

import { listSource, madeFromPristine, manifestOf, prepare, putScript, restoreCache } from "./project.mjs";
import { mapStack, Scripts } from "./scripts.mjs";
import { serveStatic } from "./static_serve.mjs";
import { serveVite } from "./vite_serve.mjs";

const OPTIONS = {
  root: { type: "string", default: "/workspace" },
  config: { type: "string" },
  "cache-dir": { type: "string" },
  serve: { type: "string" },
  entry: { type: "string" },
  clock: { type: "string", default: "real" },
  port: { type: "string", default: "0" },
  "optimize-only": { type: "boolean", default: false },
  control: { type: "boolean", default: false },
};

/** Starts a server for a project folder: {port, nonce, entry, cacheDir, dependencies, scripts, close()}. */
export async function start({ root, config, cacheDir, port = 0, clock = "real", ...given }) {
  prepare(root);
  if (!fs.existsSync(root) || !fs.statSync(root).isDirectory()) throw new Error(`there is no project folder ${root}`);
  const serve = given.serve ?? manifestOf(root).serve;
  const entry = given.entry ?? manifestOf(root).entry;
  if (serve !== "vite" && serve !== "static") throw new Error(`--serve is vite or static, not ${serve}`);
  const cache = cacheDir ?? fs.mkdtempSync(path.join(os.tmpdir(), "vitexec-"));
  fs.mkdirSync(cache, { recursive: true });
  if (madeFromPristine(root)) restoreCache(cache);
  const scripts = new Scripts(root);
  const nonce = randomBytes(16).toString("hex");
  const options = { root: scripts.root, config, cacheDir: fs.realpathSync(cache), port, nonce, clock };
  const server = await (serve === "vite" ? serveVite : serveStatic)(options, scripts);
  const close = async ({ keepCache = false } = {}) => {
    await server.close();
    if (cacheDir === undefined && !keepCache) fs.rmSync(cache, { recursive: true, force: true });
  };
  return { port: server.port, nonce, entry, cacheDir: cache, dependencies: server.dependencies, scripts, mapOf: server.mapOf, importsOf: server.importsOf, close };
}

function orders(root, server) {
  return {
    prepare: () => ({ copied: prepare(root) }),
    put_script: ({ name, text }) => ({ url: putScript(root, name, text) }),
    inline: ({ name, text }) => ({ url: server.scripts.putInline(name, text) }),
    script_url: ({ file }) => ({ url: server.scripts.urlOf(file) }),
    map_stack: async ({ text }) => ({ text: await mapStack(String(text), server.mapOf) }),
    imports: async ({ url }) => ({ urls: await server.importsOf(`${url}${String(url).includes("?") ? "&" : "?"}vitexec=imports`) }),
    digest: () => ({ files: listSource(root), cache: listSource(server.cacheDir) }),
    stop: () => ({ stopped: true }),
  };
}

async function control(root, server, write) {
  const known = orders(root, server);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (line.trim() === "") continue;
    let order = {};
    try {
      order = JSON.parse(line);
      if (!Object.hasOwn(known, order.op)) throw new Error(`there is no order ${JSON.stringify(order.op)}`);
      write({ ok: true, op: order.op, ...(await known[order.op](order)) });
    } catch (error) {
      write({ ok: false, op: order?.op ?? null, error: String(error.message ?? error) });
    }
    if (order?.op === "stop") return;
  }
}

async function main() {
  const { values } = parseArgs({ options: OPTIONS });
  const stdout = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const write = (message) => stdout(`${JSON.stringify(message)}\n`);
  try {
    const server = await start({
      root: values.root, config: values.config, cacheDir: values["cache-dir"], serve: values.serve,
      entry: values.entry, port: Number(values.port), clock: values.clock,
    });
    if (values["optimize-only"]) {
      await server.close({ keepCache: true });
      write({ cache_dir: server.cacheDir, dependencies: server.dependencies });
    } else {
      write({ port: server.port, nonce: server.nonce, entry: server.entry });
      if (!values.control) return;
      await control(values.root, server, write);
      await server.close();
    }
    process.exit(0);
  } catch (error) {
    write({ error: String(error?.message ?? error) });
    process.exit(1);
  }
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === import.meta.filename) await main();
