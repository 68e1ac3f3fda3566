// The code in the documents: TypeScript compiles, and what the first page walks through is run with
// the packed packages in an empty folder, beside the real server.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash, randomInt } from "node:crypto";
import {
  copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { program, soon, World } from "./support/tideover.mjs";

const clients = fileURLToPath(new URL("../../", import.meta.url));
const here = path.join(clients, "typescript");
const documents = {
  expo: path.join(clients, "../docs/guides/expo.md"),
  clients: path.join(clients, "README.md"),
  python: path.join(clients, "python/README.md"),
  ...Object.fromEntries(["client", "react", "react-native", "node"].map(
    (name) => [name, path.join(here, name, "README.md")])),
};

/** The folders of Examples/ that a document shows. */
const examples = { expo: "Expo", clients: "NodeBackEnd", node: "SupabaseFunction" };

for (const [document, name] of Object.entries(examples)) {
  test(`a document shows every file of Examples/${name} unchanged`, () => {
    const folder = path.join(clients, "../Examples", name);
    const text = readFileSync(documents[document], "utf8");
    const files = readdirSync(folder).filter((file) => /\.(tsx?|mjs)$/.test(file));
    assert.ok(files.length > 0);
    for (const file of files) assert.ok(text.includes(`\n${readFileSync(path.join(folder, file), "utf8")}\`\`\``), file);
  });
}

test("the back end of Examples/NodeBackEnd has at most 40 lines", () => {
  const text = readFileSync(path.join(clients, "../Examples/NodeBackEnd/server.mjs"), "utf8");
  assert.ok(text.trimEnd().split("\n").length <= 40);
});

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
        const [, name = `${index}.${language}`] = /^\/\/ ([\w-]+\.tsx?)\n/.exec(code) ?? [];
        writeFileSync(path.join(folder, document, name), code);
        count += 1;
      }
    }
  }
  assert.ok(count >= 18);
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
  let ports;
  let backEnds = {};
  const begun = Date.now();
  const runNode = (script) => {
    copyFileSync(path.join(clients, "../Examples/NodeBackEnd/server.mjs"), path.join(folder, "server.mjs"));
    return new Receiver("sh", ["-c", `exec env ${script}`], {
      cwd: folder, env: { ...environment, WEBHOOK_SECRET: "", PORT: ports.node },
    });
  };
  const runPython = (secret) => {
    const code = blocks("python", "python").find((it) => it.includes("do_POST"));
    return new Receiver(path.join(folder, "venv/bin/python"), ["-c", code], {
      cwd: folder, env: { ...environment, PORT: ports.python, WEBHOOK_SECRET: secret },
    });
  };
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tideover-newcomer-"));
    environment = {
      ...process.env, PATH: `${folder}:${process.env.PATH}`, PYTHONPATH: "", NODE_PATH: "",
    };
    symlinkSync(program, path.join(folder, "tideover"));
    const [, secret, start] = blocks("clients", "sh");
    assert.match(start, /^WEBHOOK_SECRET=\$\(cat whsec\.txt\) node server\.mjs$/m);
    const shell = (script) => execFileSync("sh", ["-c", script], { env: bare(environment), cwd: folder, encoding: "utf8" });
    shell(secret);
    // Two back ends receive: the one in Node and the one in Python.
    ports = { node: await freePort(), python: await freePort() };
    const { webhooks: [webhook] } = runInNewContext(`({ ${blocks("clients", "json5")[0]} })`);
    const receiver = (name) => ({
      ...webhook, id: name === "node" ? webhook.id : name, secretFile: path.join(folder, webhook.secretFile),
      url: webhook.url.replace("3000", ports[name]),
    });
    install(folder);
    world = await World.open(undefined, () => [receiver("node"), receiver("python")]);
    Object.assign(environment, {
      TIDEOVER_URL: world.url, TIDEOVER_KEY: world.secretKey, CUSTOMER: await world.customer("anna"),
      WEBHOOK_SECRET: readFileSync(path.join(folder, "whsec.txt"), "utf8").trim(),
    });
    backEnds = {
      node: runNode(blocks("clients", "sh")[2]), python: runPython(environment.WEBHOOK_SECRET),
    };
    for (const port of Object.values(ports)) {
      await soon("the back ends", () => fetch(`http://127.0.0.1:${port}`).then(() => true, () => false));
    }
    await world.step({ do: "subscribe", customer: "anna", product: "cards.pro.monthly" });
  });
  after(async () => {
    for (const backEnd of Object.values(backEnds)) backEnd.stop();
    await world?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const name of ["client", "react", "react-native", "node"]) {
    test(`${name} contains exactly the expected files`, () => {
      const tarball = path.join(packed, `tideover-${name}-0.1.0.tgz`);
      const names = execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).trim().split("\n");
      const files = names.filter((it) => !it.endsWith("/")).map((it) => it.replace("package/", ""));
      const others = files.filter((it) => !it.startsWith("dist/"));
      const programs = name === "client" ? ["bin/tideover-types.mjs"] : [];
      assert.deepEqual(others.sort(), ["LICENSE", "README.md", ...programs, "package.json"]);
      assert.ok(files.includes("dist/index.js") && files.includes("dist/index.d.ts"));
      assert.ok(files.every((it) => !it.startsWith("dist/") || /\.(js|d\.ts)$/.test(it)));
      const about = JSON.parse(execFileSync("tar", ["-xzOf", tarball, "package/package.json"]));
      assert.match(about.gitHead, /^[0-9a-f]{40}$/);
      assert.equal(about.license, "Apache-2.0");
    });
  }

  test("the wheel and the source archive contain exactly the expected files", () => {
    const script = "import sys, zipfile; print('\\n'.join(zipfile.ZipFile(sys.argv[1]).namelist()))";
    const wheel = path.join(packed, "tideover-0.1.0-py3-none-any.whl");
    const names = execFileSync("python3", ["-c", script, wheel], { encoding: "utf8" }).trim().split("\n");
    const sources = readdirSync(path.join(clients, "python/src/tideover")).filter((it) => /\.(py|typed)$/.test(it));
    const information = names.filter((it) => it.startsWith("tideover-0.1.0.dist-info/"));
    assert.deepEqual(
      names.filter((it) => !information.includes(it)).sort(), sources.map((it) => `tideover/${it}`).sort());
    assert.ok(sources.includes("py.typed"));
    assert.ok(information.some((it) => it.endsWith("/LICENSE")));
    const read = (file) => execFileSync("unzip", ["-p", wheel, file], { encoding: "utf8" });
    const metadata = read("tideover-0.1.0.dist-info/METADATA");
    assert.match(metadata, /^License: Apache-2\.0$/m);
    assert.ok(metadata.includes(readFileSync(documents.python, "utf8").trim()), "the README is the description");
    assert.doesNotMatch(metadata, /^Requires-Dist/m);
    const archive = execFileSync("tar", ["-tzf", path.join(packed, "tideover-0.1.0.tar.gz")], { encoding: "utf8" });
    for (const file of ["LICENSE", "README.md", "pyproject.toml", ...sources.map((it) => `src/tideover/${it}`)]) {
      assert.ok(archive.includes(`tideover-0.1.0/${file}\n`), file);
    }
  });

  const statement = () => JSON.parse(readFileSync(path.join(packed, "provenance.intoto.json"), "utf8"));

  test("the provenance has the checksum of every package and the commit that each names", () => {
    const { _type, predicateType, subject, predicate: { buildDefinition, runDetails } } = statement();
    assert.equal(_type, "https://in-toto.io/Statement/v1");
    assert.equal(predicateType, "https://slsa.dev/provenance/v1");
    const files = readdirSync(packed).filter((it) => it !== "provenance.intoto.json").sort();
    assert.deepEqual(subject.map(({ name }) => name), files);
    assert.equal(files.length, 6);
    for (const { name, digest: { sha256 } } of subject) {
      const bytes = readFileSync(path.join(packed, name));
      assert.equal(createHash("sha256").update(bytes).digest("hex"), sha256, name);
    }
    const { commit } = buildDefinition.externalParameters;
    const [source, ...tools] = buildDefinition.resolvedDependencies;
    assert.deepEqual(source.digest, { gitCommit: commit });
    assert.deepEqual(tools.map(({ name }) => name), ["node", "typescript", "python", "setuptools"]);
    assert.ok(tools.every(({ uri }) => /^pkg:generic\/\w+@\d+\./.test(uri)));
    assert.equal(runDetails.builder.id, "urn:tideover:unsigned");
    const tarball = path.join(packed, "tideover-client-0.1.0.tgz");
    assert.equal(JSON.parse(execFileSync("tar", ["-xzOf", tarball, "package/package.json"])).gitHead, commit);
  });

  test("a package that was changed, added or removed after packing differs from the provenance", () => {
    const copy = path.join(folder, "repacked");
    cpSync(packed, copy, { recursive: true });
    const script = process.env.TIDEOVER_PROVENANCE;
    const check = () => spawnSync("/usr/bin/python3", [script, copy, "--check"], { encoding: "utf8" });
    assert.equal(check().status, 0, check().stderr);
    writeFileSync(path.join(copy, "tideover-client-0.1.0.tgz"), "changed");
    writeFileSync(path.join(copy, "tideover-other-0.1.0.tgz"), "added");
    rmSync(path.join(copy, "tideover-0.1.0-py3-none-any.whl"));
    const { status, stderr } = check();
    assert.equal(status, 1);
    assert.deepEqual(stderr.trim().split("\n"), [
      "tideover-0.1.0-py3-none-any.whl is missing",
      "tideover-client-0.1.0.tgz differs from the statement",
      "tideover-other-0.1.0.tgz is not in the statement",
    ]);
  });

  test("the command of the client's page writes the names of the configuration", () => {
    const [command] = blocks("client", "sh");
    const project = path.join(folder, "named");
    mkdirSync(path.join(project, "src"), { recursive: true });
    copyFileSync(path.join(clients, "../Examples/tideover.json"), path.join(project, "tideover.json"));
    symlinkSync(path.join(folder, "node_modules"), path.join(project, "node_modules"));
    // Without npm, what npx runs.
    const npx = existsSync("/usr/bin/npx") ? "npx --offline" : "node node_modules/@tideover/client/bin/";
    const script = command.replace("npx tideover-types", existsSync("/usr/bin/npx") ? `${npx} tideover-types` : `${npx}tideover-types.mjs`);
    execFileSync("sh", ["-ec", script], { env: bare(environment), cwd: project, stdio: ["ignore", "inherit", "inherit"] });
    assert.match(readFileSync(path.join(project, "src/tideover.d.ts"), "utf8"), /^    entitlement: "premium";$/m);
  });

  test("the source archive installs offline", () => {
    const target = path.join(folder, "from-source");
    execFileSync("/usr/bin/python3", [
      "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
      "--disable-pip-version-check", "--target", target, path.join(packed, "tideover-0.1.0.tar.gz"),
    ]);
    assert.ok(existsSync(path.join(target, "tideover/py.typed")));
  });

  test("the installed packages have their types, in an empty project without ambient declarations", () => {
    const project = path.join(folder, "typed");
    mkdirSync(project);
    writeFileSync(path.join(project, "index.mts"), `
      import { CustomerSession, TideoverAPI } from "@tideover/client";
      import { EntitlementCache, fetchWebhook } from "@tideover/node";
      const api = new TideoverAPI({ url: "https://billing.example.com", app: "cards", key: "sk" });
      export const answer = new EntitlementCache(api).answer("anna", "premium");
      export const POST: (request: Request) => Promise<Response> = fetchWebhook({ keys: "whsec_c2VjcmV0" }, () => {});
      // @ts-expect-error a customer is missing
      new CustomerSession({ url: "https://billing.example.com", app: "cards", key: "pk" });
    `);
    writeFileSync(path.join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: {
      noEmit: true, strict: true, module: "node16", moduleResolution: "node16", target: "es2020",
      lib: ["es2020", "dom"], types: [],
    } }));
    const { status, stdout } = spawnSync("tsc", ["-p", project], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
  });

  test("each installed package names its commit and has its README", () => {
    for (const name of ["client", "react", "react-native", "node"]) {
      const place = path.join(folder, "node_modules/@tideover", name);
      assert.match(JSON.parse(readFileSync(path.join(place, "package.json"), "utf8")).gitHead, /^[0-9a-f]{40}$/);
      assert.equal(
        readFileSync(path.join(place, "README.md"), "utf8"), readFileSync(documents[name], "utf8"));
    }
  });

  test("the curl example runs", () => {
    const [script] = blocks("clients", "sh");
    const { entitlements } = JSON.parse(execFileSync("sh", ["-c", script], { env: environment, encoding: "utf8" }));
    assert.equal(entitlements.premium.access, true);
  });

  /** Sends a test message with the command of the documents, and returns its report. */
  const sendTest = (id) => spawnSync(
    program, ["webhooks", "test", id, "--config", world.config], { env: bare(environment), encoding: "utf8" });

  test("the back end of the first page runs, with deliveries of the real server", async () => {
    const url = `http://127.0.0.1:${ports.node}`;
    const status = async (customer) => (await fetch(url, { headers: { "x-customer": customer } })).status;
    const { CUSTOMER: anna } = environment;
    await soon("the trial", () => backEnds.node.log.includes(`trial_started ${anna}`));
    assert.equal(await status(anna), 200);
    assert.equal(await status(await world.customer("ben")), 403);

    // The answer is kept for half a minute, but the delivery of the refund is faster.
    await world.step({ do: "advance", by: "8 d" });
    await world.step({ do: "refund", customer: "anna", product: "cards.pro.monthly" });
    await soon("the refund", () => backEnds.node.log.includes(`refunded ${anna}`));
    assert.equal(await status(anna), 403);
    await world.step({ do: "buy", customer: "anna", product: "cards.lifetime" });
    await soon("the purchase", async () => (await status(anna)) === 200);

    const { status: code, stdout } = sendTest("backend");
    assert.equal(code, 0, stdout);
    await soon("the test message", () => /^webhook_test/m.test(backEnds.node.log));
    const forged = await fetch(`${url}/hooks`, { method: "POST", body: "{}", headers: {
      "webhook-id": "1", "webhook-timestamp": String(Math.floor(Date.now() / 1000)), "webhook-signature": "v1,AAAA",
    } });
    assert.equal(forged.status, 400);
  });

  test("the receiver of the Python page verifies deliveries of the real server", async () => {
    await soon("the trial", () => backEnds.python.log.includes(`trial_started ${environment.CUSTOMER}`));
    assert.match(sendTest("python").stdout, /204/);
    await soon("the test message", () => /^webhook_test/m.test(backEnds.python.log));
    backEnds.python.stop();
    backEnds.python = runPython("whsec_c2VjcmV0");
    await soon("a refusal", () => /400/.test(sendTest("python").stdout));
  });

  test("the Python example runs", () => {
    const python = path.join(folder, "venv/bin/python");
    const run = (code) => execFileSync(python, ["-c", code], { env: environment, encoding: "utf8", cwd: folder });
    assert.equal(run(blocks("clients", "python")[0]).trim(), "granted");
    const [first] = blocks("python", "python");
    const there = first.replace("https://billing.example.com", world.url)
      .replace('"sk_secret"', '"sk_secret", environment="simulated"')
      .replace("sk_secret", world.secretKey).replace("u_42", environment.CUSTOMER);
    assert.match(run(there), /^open until (2026-|None)/);
  });

  test("from the empty folder to here took less than ten minutes", () => {
    assert.ok(Date.now() - begun < 600_000);
  });

  for (const [index, name] of [[1, "FastAPI"], [2, "Django"]]) {
    test(`the ${name} example runs`, () => {
      // Debian's own interpreter has the framework, the folder the installed package.
      const code = blocks("python", "python")[index];
      const settings = name === "Django" ? "import django.conf\ndjango.conf.settings.configure()\n" : "";
      // What the server sends with `tideover webhooks test` names no customer.
      const message = '\nimport inspect, tideover\n'
        + 'inspect.unwrap(hooks)(tideover.Webhook("1", 1, {"type": "webhook_test"}))\n';
      const { status, stderr } = spawnSync("/usr/bin/python3", ["-c", settings + code + message], {
        env: { ...environment, PYTHONPATH: path.join(folder, "site") }, encoding: "utf8", cwd: folder,
      });
      assert.equal(status, 0, stderr);
    });
  }
});

/** The program takes configuration from variables; those of the examples are not meant for it. */
function bare(environment) {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("TIDEOVER_")));
}

/** A free port; the system gives ports from 32768 to other programs, and could give one of those meanwhile. */
async function freePort() {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const probe = createServer().listen(port, "127.0.0.1");
    const isFree = await new Promise((resolve) => {
      probe.once("listening", () => resolve(true)).once("error", () => resolve(false));
    });
    if (!isFree) continue;
    probe.close();
    return String(port);
  }
}

/** A back end in a process of its own; `log` has what it printed. */
class Receiver {
  log = "";

  constructor(command, words, options) {
    this.process = spawn(command, words, { ...options, stdio: ["ignore", "pipe", "ignore"] });
    this.process.stdout.on("data", (part) => { this.log += part; });
  }

  stop() {
    this.process.kill();
  }
}

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
