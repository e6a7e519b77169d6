// Serves a Vite project with its own configuration, silent, without HMR and watching, on a free loopback port. Hard part: Vite's
// dependency optimiser. Found late, a dependency reloads the page or leaves it stuck, so the dependencies are found before the
// server starts (or come with the pristine cache, where the list of them is kept), and discovery is off while it serves.

import fs from "node:fs";
import { createRequire, registerHooks } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { PRISTINE } from "./project.mjs";
import { answerOwn, CLIENT_URL, clientFor, clientSource, gameImports, instrument, realFile, runOf, sendText, withoutQuery } from "./scripts.mjs";

const VITE_CLIENT_URL = "/@vite/client";
const QUIET_CLIENT = new URL("./quiet_client.js", import.meta.url);
const DEPS_FILE = "vitexec-deps.json";

/** The pinned Vite of the image (NODE_PATH), also for configurations whose project has none of its own. */
export async function loadVite() {
  const require = createRequire(import.meta.url);
  const location = pathToFileURL(require.resolve("vite")).href;
  registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        if (specifier === "vite") return { url: location, shortCircuit: true };
        throw error;
      }
    },
  });
  return import(location);
}

function vitexecPlugin(scripts, nonce) {
  return {
    name: "vitexec",
    enforce: "pre",
    configureServer(server) {
      const check = async (url) => (await server.environments.client.transformRequest(url)) !== null;
      server.middlewares.use((request, response, next) => {
        response.setHeader("x-playproof-nonce", nonce);
        if (withoutQuery(request.url) === "/favicon.ico" && !hasFavicon(server.config)) {
          sendText(response, 200, "image/x-icon", "");
          return;
        }
        if (withoutQuery(request.url) === VITE_CLIENT_URL) {
          sendText(response, 200, "text/javascript", fs.readFileSync(QUIET_CLIENT, "utf8"));
          return;
        }
        answerOwn(request, response, check).then((done) => done || next(), next);
      });
    },
    async resolveId(source, importer) {
      if (source === "vitexec") return clientFor(importer);
      if (source.startsWith(CLIENT_URL) || scripts.isInline(source)) return source;
      const run = runOf(importer);
      if (run !== null && runOf(source) === null && source.startsWith(".")) {
        const from = scripts.isInline(importer) ? path.join(scripts.root, "index.html") : importer;
        const found = await this.resolve(source, from, { skipSelf: true });
        return found && scripts.belongsToRun(found.id) ? `${withoutQuery(found.id)}?vitexec=${run}` : found;
      }
      return null;
    },
    load(id) {
      if (id.startsWith(CLIENT_URL)) return clientSource();
      return runOf(id) === null ? null : scripts.read(id);
    },
  };
}

/** Runs last but for import analysis, when a script is plain JavaScript with its own import names. */
function clockPlugin(vite) {
  return {
    name: "vitexec-clock",
    enforce: "post",
    async transform(code, id) {
      return runOf(id) === null || id.startsWith(CLIENT_URL) ? null : { code: await instrument(vite, code), map: null };
    },
  };
}

function hasFavicon(config) {
  return [config.publicDir, config.root].some((folder) => folder && realFile(path.join(folder, "favicon.ico")) !== null);
}

function inlineConfig(vite, options, scripts, include) {
  const nodeModules = realFolder(path.join(options.root, "node_modules"));
  return {
    root: options.root,
    ...(options.config ? { configFile: options.config } : {}),
    configLoader: "native",
    cacheDir: options.cacheDir,
    logLevel: "silent",
    clearScreen: false,
    plugins: [vitexecPlugin(scripts, options.nonce), ...(options.clock === "virtual" ? [clockPlugin(vite)] : [])],
    optimizeDeps: include === null ? {} : { noDiscovery: true, include },
    server: {
      host: "127.0.0.1",
      port: options.port,
      strictPort: true,
      open: false,
      hmr: false,
      ws: false,
      watch: null,
      preTransformRequests: false,
      fs: { allow: [options.root, PRISTINE, options.cacheDir, nodeModules].filter(Boolean) },
    },
  };
}

function realFolder(folder) {
  return fs.existsSync(folder) ? fs.realpathSync(folder) : null;
}

/** The dependencies that the pristine cache was made for, or those that one scan of the project finds. */
async function findDependencies(vite, options, scripts) {
  const kept = path.join(options.cacheDir, DEPS_FILE);
  if (fs.existsSync(kept)) return JSON.parse(fs.readFileSync(kept, "utf8"));
  const config = inlineConfig(vite, { ...options, cacheDir: path.join(options.cacheDir, "scan") }, scripts, null);
  const server = await vite.createServer({ ...config, server: { ...config.server, middlewareMode: true } });
  try {
    const optimizer = server.environments.client.depsOptimizer;
    if (!optimizer) return [];
    await optimizer.init();
    await optimizer.scanProcessing;
    const found = { ...optimizer.metadata.optimized, ...optimizer.metadata.discovered };
    return Object.keys(found).sort();
  } finally {
    await server.close();
    fs.rmSync(path.join(options.cacheDir, "scan"), { recursive: true, force: true });
  }
}

/** Starts the server; `optimizeOnly` stops it again once the cache is complete. */
export async function serveVite(options, scripts) {
  const vite = await loadVite();
  const include = await findDependencies(vite, options, scripts);
  fs.writeFileSync(path.join(options.cacheDir, DEPS_FILE), JSON.stringify(include));
  const server = await vite.createServer(inlineConfig(vite, options, scripts, include));
  await server.listen();
  const optimizer = server.environments.client.depsOptimizer;
  if (optimizer) await Promise.all(Object.values(optimizer.metadata.optimized).map((dep) => dep.processing));
  const compile = async (url) => (await server.environments.client.transformRequest(url))?.code ?? null;
  const importsOf = (url) => gameImports(vite, url, compile);
  const mapOf = async (url) => (await server.environments.client.transformRequest(url))?.map ?? null;
  return { port: server.httpServer.address().port, dependencies: include, mapOf, importsOf, close: () => server.close() };
}
