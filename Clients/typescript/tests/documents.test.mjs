// The code in the documents: TypeScript compiles, and what the first page walks through is run with
// the packed packages in an empty folder, beside the real server.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { program, World } from "./support/tideover.mjs";

const clients = fileURLToPath(new URL("../../", import.meta.url));
const here = path.join(clients, "typescript");
const documents = {
  expo: path.join(clients, "../docs/guides/expo.md"),
  clients: path.join(clients, "README.md"),
  python: path.join(clients, "python/README.md"),
  ...Object.fromEntries(["client", "react", "react-native", "node"].map(
    (name) => [name, path.join(here, name, "README.md")])),
};

/** The code blocks of a document in a language. */
function blocks(document, language) {
  const text = readFileSync(documents[document], "utf8");
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, it]) => it === language).map(([, , code]) => code);
}

test("the TypeScript of the documents compiles", () => {
  // Beside the packages, so that their types are found.
  const folder = path.join(here, ".documents");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  let count = 0;
  for (const document of Object.keys(documents)) {
    mkdirSync(path.join(folder, document));
    for (const language of ["ts", "tsx"]) {
      for (const [index, code] of blocks(document, language).entries()) {
        // A block that begins with a file's name is that file.
        const [, name = `${index}.${language}`] = /^\/\/ (\w+\.tsx?)\n/.exec(code) ?? [];
        writeFileSync(path.join(folder, document, name), code);
        count += 1;
      }
    }
  }
  assert.ok(count >= 12);
  const configuration = JSON.parse(readFileSync(path.join(here, "tests/types/tsconfig.json"), "utf8"));
  configuration.extends = "../tsconfig.base.json";
  // As apps resolve modules: without extensions, and without the `exports` of packages.
  Object.assign(configuration.compilerOptions, {
    module: "ES2022", moduleResolution: "node", esModuleInterop: true,
  });
  configuration.include = ["*/*"];
  configuration.files = ["node", "react-native", "guides"].map((name) => `../ambient/${name}.d.ts`);
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(configuration));
  const { status, stdout } = spawnSync("tsc", ["-p", folder], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
  rmSync(folder, { recursive: true });
});

const packed = process.env.TIDEOVER_PACKED;
const skip = packed && program ? false : "TIDEOVER_PACKED and TIDEOVER_BINARY do not name packages and program";

describe("the packed packages", { skip }, () => {
  let world;
  let folder;
  let environment;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tideover-newcomer-"));
    world = await World.open();
    await world.step({ do: "subscribe", customer: "anna", product: "cards.pro.monthly" });
    environment = {
      ...process.env, PYTHONPATH: "", NODE_PATH: "", TIDEOVER_URL: world.url, TIDEOVER_KEY: world.secretKey,
      CUSTOMER: await world.customer("anna"), WEBHOOK_SECRET: "whsec_c2VjcmV0", PORT: "0",
    };
    install(folder);
  });
  after(async () => {
    await world?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const name of ["client", "react", "react-native", "node"]) {
    test(`${name} contains exactly the expected files`, () => {
      const tarball = path.join(packed, `tideover-${name}-0.1.0.tgz`);
      const names = execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).trim().split("\n");
      const files = names.filter((it) => !it.endsWith("/")).map((it) => it.replace("package/", ""));
      const others = files.filter((it) => !it.startsWith("dist/"));
      assert.deepEqual(others.sort(), ["LICENSE", "README.md", "package.json"]);
      assert.ok(files.includes("dist/index.js") && files.includes("dist/index.d.ts"));
      assert.ok(files.every((it) => !it.startsWith("dist/") || /\.(js|d\.ts)$/.test(it)));
      const about = JSON.parse(execFileSync("tar", ["-xzOf", tarball, "package/package.json"]));
      assert.match(about.gitHead, /^[0-9a-f]{40}$/);
      assert.equal(about.license, "Apache-2.0");
    });
  }

  test("the curl example runs", () => {
    const [script] = blocks("clients", "sh");
    const { entitlements } = JSON.parse(execFileSync("sh", ["-c", script], { env: environment, encoding: "utf8" }));
    assert.equal(entitlements.premium.access, true);
  });

  test("the back end of the first page runs", async () => {
    const code = blocks("clients", "js")[0].replace('"127.0.0.1");', '"127.0.0.1", function () { console.log(this.address().port); });');
    writeFileSync(path.join(folder, "server.mjs"), code);
    const server = spawn("node", ["server.mjs"], { cwd: folder, env: environment, stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [port] = await once(server.stdout, "data");
      const url = `http://127.0.0.1:${String(port).trim()}`;
      const status = async (customer) => (await fetch(url, { headers: { "x-customer": customer } })).status;
      assert.equal(await status(environment.CUSTOMER), 200);
      assert.equal(await status(await world.customer("ben")), 403);
      const body = JSON.stringify({ type: "entitlement_changed", data: { customer: environment.CUSTOMER } });
      const time = String(Math.floor(Date.now() / 1000));
      const signature = createHmac("sha256", "secret").update(`msg_1.${time}.${body}`).digest("base64");
      const headers = { "webhook-id": "msg_1", "webhook-timestamp": time, "webhook-signature": `v1,${signature}` };
      const hook = (text) => fetch(`${url}/hooks`, { method: "POST", body: text, headers });
      assert.equal((await hook(body)).status, 204);
      assert.equal((await hook(`${body} `)).status, 400);
    } finally {
      server.kill();
    }
  });

  test("the Python example runs", () => {
    const python = path.join(folder, "venv/bin/python");
    const run = (code) => execFileSync(python, ["-c", code], { env: environment, encoding: "utf8", cwd: folder });
    assert.equal(run(blocks("clients", "python")[0]).trim(), "granted");
    const [first] = blocks("python", "python");
    const there = first.replace("https://billing.example.com", world.url)
      .replace('"sk_secret"', '"sk_secret", environment="simulated"')
      .replace("sk_secret", world.secretKey).replace("u_42", environment.CUSTOMER);
    assert.match(run(there), /^open until 2026-/);
  });

  for (const [index, name] of [[1, "FastAPI"], [2, "Django"]]) {
    test(`the ${name} example runs`, () => {
      // Debian's own interpreter has the framework, the folder the installed package.
      const code = blocks("python", "python")[index];
      const settings = name === "Django" ? "import django.conf\ndjango.conf.settings.configure()\n" : "";
      const { status, stderr } = spawnSync("/usr/bin/python3", ["-c", settings + code], {
        env: { ...environment, PYTHONPATH: path.join(folder, "site") }, encoding: "utf8", cwd: folder,
      });
      assert.equal(status, 0, stderr);
    });
  }
});

/** Installs the packed packages into an empty folder: nothing is fetched. */
function install(folder) {
  const files = readdirSync(packed).map((name) => path.join(packed, name));
  const tarballs = files.filter((name) => name.endsWith(".tgz"));
  writeFileSync(path.join(folder, "package.json"), '{ "private": true }');
  const npm = ["install", "--offline", "--no-audit", "--no-fund", "--legacy-peer-deps", ...tarballs];
  if (existsSync("/usr/bin/npm")) {
    execFileSync("npm", npm, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  } else {
    // What npm does with a tarball without dependencies.
    for (const tarball of tarballs) {
      const name = path.basename(tarball).replace(/^tideover-(.*)-[\d.]+\.tgz$/, "$1");
      const place = path.join(folder, "node_modules/@tideover", name);
      mkdirSync(place, { recursive: true });
      execFileSync("tar", ["-xzf", tarball, "--strip-components=1", "-C", place]);
    }
  }
  const wheel = files.find((name) => name.endsWith(".whl"));
  const pip = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"];
  execFileSync("python3", ["-m", "venv", path.join(folder, "venv")]);
  execFileSync(path.join(folder, "venv/bin/python"), [...pip, wheel]);
  execFileSync("/usr/bin/python3", [...pip, "--target", path.join(folder, "site"), wheel]);
}
