// Runs a module and its imports in a realm of V8 that has the language, and no API of Node.
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createContext, SourceTextModule } from "node:vm";

const context = createContext({ print: console.log });
const modules = new Map();

function load(url) {
  const held = modules.get(url);
  if (held) return held;
  const module = new SourceTextModule(readFileSync(fileURLToPath(url), "utf8"), { context, identifier: url });
  modules.set(url, module);
  return module;
}

const main = load(pathToFileURL(process.argv[2]).href);
await main.link((specifier, { identifier }) => load(new URL(specifier, identifier).href));
await main.evaluate();
