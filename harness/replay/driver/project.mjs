// What the server does with the project's files: lay the pristine copy out in the working folder, take scripts in, list what is
// served. Hard part: the working folder is a small tmpfs shared by a path that Vite's cache depends on, so dependencies stay a link
// to the read-only original and nothing but regular files is ever listed or written.

import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

export const PRISTINE = "/opt/game";
const MANIFEST = "/opt/game.json";
export const PRISTINE_CACHE = "/opt/game-cache";
export const MAX_SCRIPT_BYTES = 1024 * 1024; // a script is source; more than 1 MiB is data or a bundle
const SCRIPT_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}\.(?:[cm]?[jt]s|[jt]sx)$/;

/** True for a folder that the image's game was laid out in (or is). */
export function madeFromPristine(root) {
  if (!fs.existsSync(PRISTINE)) return false;
  if (fs.realpathSync(root) === PRISTINE) return true;
  const modules = path.join(root, "node_modules");
  return fs.existsSync(modules) ? fs.realpathSync(modules).startsWith(PRISTINE + path.sep) : path.resolve(root) === "/workspace";
}

/** How the image's game says it is served: {serve, entry}. */
export function manifestOf(root) {
  const known = madeFromPristine(root) && fs.existsSync(MANIFEST) ? JSON.parse(fs.readFileSync(MANIFEST, "utf8")) : {};
  return { serve: known.serve ?? "vite", entry: known.entry ?? "/" };
}

/** Copies the pristine project into an empty working folder; dependencies become a link. True when it copied. */
export function prepare(root) {
  if (!fs.existsSync(PRISTINE) || !fs.existsSync(root) || path.resolve(root) === PRISTINE) return false;
  if (fs.readdirSync(root).length > 0) return false;
  for (const name of fs.readdirSync(PRISTINE)) {
    const from = path.join(PRISTINE, name);
    const to = path.join(root, name);
    if (name === "node_modules") fs.symlinkSync(from, to);
    else fs.cpSync(from, to, { recursive: true });
  }
  return true;
}

/** Restores the optimiser cache that was made with the image, so that no late pass reloads the page. */
export function restoreCache(cacheDir) {
  fs.mkdirSync(cacheDir, { recursive: true });
  if (!fs.existsSync(PRISTINE_CACHE)) return;
  fs.cpSync(PRISTINE_CACHE, cacheDir, { recursive: true });
}

/** Writes a script into the project's vitexec folder and returns its URL path. */
export function putScript(root, name, text) {
  if (typeof name !== "string" || !SCRIPT_NAME.test(name)) throw new Error(`a script cannot be named ${JSON.stringify(name)}`);
  if (typeof text !== "string") throw new Error("a script is a text");
  refuseLarge(Buffer.byteLength(text), name);
  const folder = path.join(root, "vitexec");
  fs.mkdirSync(folder, { recursive: true });
  const file = path.join(folder, name);
  fs.rmSync(file, { force: true });
  fs.writeFileSync(file, text, { flag: "wx" });
  return `/vitexec/${name}`;
}

export function refuseLarge(bytes, name) {
  if (bytes > MAX_SCRIPT_BYTES) {
    throw new Error(`${name} has ${bytes} bytes of source and at most ${MAX_SCRIPT_BYTES} (1 MiB) are run`);
  }
}

/** The regular files of the project without its dependencies and scripts: path, mode, size, SHA-256, in path order. */
export function listSource(root) {
  const files = [];
  const walk = (folder, prefix) => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      const relative = prefix + entry.name;
      if (relative === "node_modules" || relative === "vitexec") continue;
      const full = path.join(folder, entry.name);
      if (entry.isDirectory()) walk(full, `${relative}/`);
      else if (entry.isFile()) {
        const bytes = fs.readFileSync(full);
        const sha256 = createHash("sha256").update(bytes).digest("hex");
        files.push({ path: relative, mode: fs.statSync(full).mode & 0o777, size: bytes.length, sha256 });
      }
    }
  };
  walk(root, "");
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}
