#!/usr/bin/env node
// Writes the names of an app's entitlements as types, so that a mistyped name does not compile.
import { readFileSync } from "node:fs";

const usage = `usage: tideover-types [--app ID] [--check FILE] [INPUT]

Reads what one of these prints, from INPUT or standard input, and prints a declaration file:

  tideover config --config tideover.json --json
  curl -H "Authorization: Bearer $TIDEOVER_KEY" "$TIDEOVER_URL/v1/apps/cards/customers/u_42"

  --app ID       the app, if the configuration has several
  --check FILE   print nothing; exit with 1 if FILE has other names
`;

/** A mistake in the command line or in its input, with the exit code of its kind. */
class Failure extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

function main(words) {
  if (words.includes("--help")) return process.stdout.write(usage);
  const { app, check, input } = options(words);
  const declaration = declarationOf(namesIn(parsed(readFileSync(input ?? 0, "utf8")), app));
  if (check === undefined) return process.stdout.write(declaration);
  if (readFileSync(check, "utf8") !== declaration) {
    throw new Failure(1, `${check} is stale. Write it again with tideover-types.`);
  }
}

function options(words) {
  const found = {};
  for (let place = 0; place < words.length; place += 1) {
    const word = words[place];
    const [, name] = /^--(app|check)$/.exec(word) ?? [];
    if (name) found[name] = words[place += 1];
    if (word.startsWith("--") ? !name || found[name] === undefined : found.input) throw new Failure(2, usage);
    if (!word.startsWith("--")) found.input = word;
  }
  return found;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure(65, "The input is not JSON. Give what `tideover config --json` prints.");
  }
}

/** The names in a snapshot, or in the settings of a configuration. */
function namesIn({ entitlements, settings }, app) {
  if (entitlements) return Object.keys(entitlements);
  if (!settings) {
    throw new Failure(65, "The input is neither a configuration (`tideover config --json`) nor a snapshot.");
  }
  const ids = settings.filter(({ path }) => /^apps\[\d+\]\.id$/.test(path));
  const chosen = app === undefined ? ids : ids.filter(({ value }) => value === app);
  if (chosen.length !== 1) {
    throw new Failure(65, `Name one app with --app: ${ids.map(({ value }) => value).join(", ")}.`);
  }
  const prefix = chosen[0].path.replace(/id$/, "products.");
  const lists = settings.filter(({ path }) => path.startsWith(prefix) && path.endsWith(".entitlements"));
  return lists.flatMap(({ value }) => value);
}

function declarationOf(names) {
  const cases = [...new Set(names)].sort().map((name) => JSON.stringify(name));
  if (cases.length === 0) throw new Failure(65, "The app has no entitlements. Add one to a product.");
  return `// Written by tideover-types: do not edit.
import type {} from "@tideover/client";

declare module "@tideover/client" {
  interface Register {
    entitlement: ${cases.join(" | ")};
  }
}
`;
}

try {
  main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error.message.trimEnd()}\n`);
  process.exitCode = error instanceof Failure ? error.code : 66;
}
