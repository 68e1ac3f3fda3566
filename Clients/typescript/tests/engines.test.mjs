// The client in engines that have the language, and neither Node's API nor the web's: what it needs of
// a platform is given to it. Hermes, Deno, Bun and Workers are not in Debian and are not run.
import { nodeVerifier } from "@tideover/node";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { passKeys, snapshot } from "./support/server.mjs";
import { table } from "./support/tables.mjs";

const here = fileURLToPath(new URL("../", import.meta.url));
const engines = {
  "V8 without Node": [process.execPath, "--no-warnings", "--experimental-vm-modules", "tests/engines/bare.mjs"],
  "JavaScriptCore, the engine of Safari": ["jsc", "-m"],
  "SpiderMonkey, the engine of Firefox": ["gjs", "-m"],
};
let folder;

before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "tideover-engines-"));
  for (const part of ["client/dist", "tests/engines"]) {
    cpSync(path.join(here, part), path.join(folder, part), { recursive: true });
  }
  const names = ["passes", "signed-passes", "snapshots", "prompts"];
  const tables = { ...Object.fromEntries(names.map((name) => [name, table(name)])), keys: passKeys };
  const stated = snapshot();
  const accepted = [];
  for (const [documents, keys] of [
    [tables["signed-passes"].cases.map((one) => one.document), tables["signed-passes"].keys], [[stated.pass], passKeys],
  ]) {
    for (const document of documents) accepted.push(...await signatures(document, keys));
  }
  const values = Object.entries({ accepted, snapshot: stated, tables });
  writeFileSync(
    path.join(folder, "tests/engines/data.mjs"),
    values.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`).join(""));
});
after(() => rmSync(folder, { recursive: true }));

/** Key, signature and signed text of a document, if one of the keys made the signature. */
async function signatures(document, keys) {
  const [header, payload, signature = ""] = document.split(".");
  const bytes = Buffer.from(signature, "base64url");
  for (const { x } of keys) {
    const parts = [Buffer.from(x, "base64url"), bytes, Buffer.from(`${header}.${payload}`)];
    if (await nodeVerifier(...parts)) return [parts.map((part) => part.join()).join("|")];
  }
  return [];
}

for (const [name, [command, ...words]] of Object.entries(engines)) {
  const isThere = spawnSync(command, ["--help"], { encoding: "utf8" }).error === undefined;
  test(`the client runs on ${name}`, { skip: isThere ? false : `${command} is not installed` }, () => {
    const { stdout, stderr, status } = spawnSync(
      command, [...words, "tests/engines/cases.mjs"], { cwd: folder, encoding: "utf8", timeout: 120_000 });
    assert.equal(`${stdout}${stderr}`.trim(), "102 cases, 0 failures");
    assert.equal(status, 0);
  });
}
