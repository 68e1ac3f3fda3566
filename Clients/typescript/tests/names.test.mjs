// The types that tideover-types writes: from the configuration of the built program, for two apps.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { program } from "./support/tideover.mjs";

const here = fileURLToPath(new URL("../", import.meta.url));
const script = path.join(here, "client/bin/tideover-types.mjs");
const skip = program ? false : "TIDEOVER_BINARY does not name the built program";

const app = (id, ...entitlements) => ({
  id, environments: ["production"], appStore: { bundleId: `com.example.${id}`, appAppleId: 1 },
  products: Object.fromEntries(entitlements.map((name, index) => [`${id}.${index}`, {
    kind: "nonConsumable", entitlements: [...new Set([name, entitlements[0]])],
  }])),
});

/** A folder beside the packages, so that their types are found. */
function project(name, files) {
  const folder = path.join(here, `.example-${name}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text);
  return folder;
}

function settings(...apps) {
  const folder = project("settings", { "tideover.json": JSON.stringify({ storage: "sqlite:t.db", apps }) });
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TIDEOVER_")));
  const words = ["config", "--config", path.join(folder, "tideover.json"), "--json"];
  const text = execFileSync(program, words, { encoding: "utf8", env });
  rmSync(folder, { recursive: true });
  return text;
}

const run = (input, ...words) => spawnSync(process.execPath, [script, ...words], { input, encoding: "utf8" });

/** Compiles each use of a session beside a declaration, and returns the compiler's errors of each. */
function errors(declaration, uses) {
  const head = 'import { CustomerSession } from "@tideover/client";\ndeclare const session: CustomerSession;\n';
  const folder = project("uses", {
    "names.d.ts": declaration,
    ...Object.fromEntries(uses.map((use, index) => [`use${index}.ts`, `${head}${use}\n`])),
    "tsconfig.json": JSON.stringify({
      extends: "../tsconfig.base.json", compilerOptions: { noEmit: true }, include: ["*.ts"],
    }),
  });
  const { stdout } = spawnSync("tsc", ["-p", folder, "--pretty", "false"], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  return uses.map((_, index) => stdout.split("\n").filter((line) => line.includes(`use${index}.ts(`)).join("\n"));
}

test("a name that the configuration lacks does not compile, nor code that ignores an unknown answer", { skip }, () => {
  const { stdout } = run(settings(app("cards", "premium", "themes"), app("maps", "routes")), "--app", "cards");
  assert.match(stdout, /^    entitlement: "premium" \| "themes";$/m);
  const noName = (name) => `Argument of type '"${name}"' is not assignable`;
  const noAccess = "Property 'access' does not exist on type 'Answer'";
  const cases = {
    'session.answer("premium"); session.stated("themes");': "",
    'session.answer("gold");': noName("gold"),
    'session.answer("routes");': noName("routes"),
    'session.stated("Premium");': noName("Premium"),
    'if (session.answer("premium").access) session.touch();': noAccess,
    'export const isOpen: boolean = session.answer("premium").access;': noAccess,
    'export const isOpen: boolean = session.answer("premium").status;': "is not assignable to type 'boolean'",
    [`export function label(): string {
        const answer = session.answer("premium");
        switch (answer.status) { case "granted": return "open"; case "denied": return "locked"; }
      }`]: "Function lacks ending return statement",
  };
  for (const [index, found] of errors(stdout, Object.keys(cases)).entries()) {
    const [use, expected] = Object.entries(cases)[index];
    if (expected === "") assert.equal(found, "", use);
    else assert.ok(found.includes(expected), `${use}\n${found}`);
  }
});

test("without the types any name compiles", () => {
  assert.deepEqual(errors("export {};", ['session.answer("gold");']), [""]);
});

test("a snapshot has the names too", () => {
  const snapshot = JSON.stringify({ entitlements: { themes: {}, premium: {} } });
  assert.match(run(snapshot).stdout, /entitlement: "premium" \| "themes";/);
});

test("--check finds a declaration of other names", () => {
  const snapshot = JSON.stringify({ entitlements: { premium: {} } });
  const folder = project("check", { "names.d.ts": run(snapshot).stdout });
  const file = path.join(folder, "names.d.ts");
  assert.equal(run(snapshot, "--check", file).status, 0);
  const { status, stderr } = run(JSON.stringify({ entitlements: { gold: {} } }), "--check", file);
  assert.equal(status, 1);
  assert.match(stderr, /is stale\. Write it again/);
  assert.equal(readFileSync(file, "utf8"), run(snapshot).stdout);
  rmSync(folder, { recursive: true });
});

test("an input without one app's names is refused with what to do", { skip }, () => {
  const two = settings(app("cards", "premium"), app("maps", "routes"));
  const cases = [
    [two, [], 65, "Name one app with --app: cards, maps."],
    [two, ["--app", "other"], 65, "Name one app with --app: cards, maps."],
    ["{}", [], 65, "neither a configuration"],
    ["names", [], 65, "is not JSON"],
    ['{ "entitlements": {} }', [], 65, "has no entitlements"],
    ["{}", ["--colour"], 2, "usage:"],
    ["{}", ["--check"], 2, "usage:"],
  ];
  for (const [input, words, code, text] of cases) {
    const { status, stdout, stderr } = run(input, ...words);
    assert.deepEqual([status, stdout], [code, ""], words.join(" "));
    assert.ok(stderr.includes(text), stderr);
  }
});
