// The examples of Examples/ run beside the built server: the screens of the Expo app render in each
// state of a subscription, and the edge function answers.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { createElement } from "react";
import { fileURLToPath, pathToFileURL } from "node:url";
import { act, create, find, texts } from "./support/render.mjs";
import { applePurchase, program, soon, World } from "./support/tideover.mjs";

const here = fileURLToPath(new URL("../", import.meta.url));
const skip = program ? false : "TIDEOVER_BINARY does not name the built program";

/** Compiles an example beside the packages, with `change` applied to each file, and imports it. */
function compiled(name, change) {
  const folder = path.join(here, `.example-${name}`);
  rmSync(folder, { recursive: true, force: true });
  cpSync(path.join(here, "../../Examples", name), folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({
    extends: "../tsconfig.base.json",
    compilerOptions: {
      lib: ["ES2020", "DOM"], jsx: "react-jsx", module: "ES2022", moduleResolution: "node", esModuleInterop: true,
      skipLibCheck: true, declaration: false,
    },
    include: ["*"], files: ["node", "react-native", "guides"].map((it) => `../ambient/${it}.d.ts`),
  }));
  const { status, stdout } = spawnSync("tsc", ["-p", folder], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
  for (const file of readdirSync(folder).filter((it) => it.endsWith(".js"))) {
    const place = path.join(folder, file);
    // A bundler finds modules without their extension, Node does not.
    const code = readFileSync(place, "utf8").replace(/from "(\.\/\w+)"/g, 'from "$1.js"');
    writeFileSync(place, change(code));
  }
  return folder;
}

/** Modules that an app would install from npm. */
function standIns(folder, modules) {
  for (const [name, [entry, code]] of Object.entries(modules)) {
    const place = path.join(folder, "node_modules", name);
    mkdirSync(place, { recursive: true });
    const exports = { [entry]: "./index.js" };
    writeFileSync(path.join(place, "package.json"), JSON.stringify({ name, type: "module", exports }));
    writeFileSync(path.join(place, "index.js"), code);
  }
}

const store = 'import { phone } from "../../phone.js"; export const {'
  + " initConnection, endConnection, getAvailablePurchases, finishTransaction, purchaseUpdatedListener, requestPurchase"
  + " } = phone;";

describe("the examples beside the real server", { skip }, () => {
  let world;
  const folders = [];
  before(async () => { world = await World.open(); });
  after(async () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    await world?.close();
  });

  const example = (name, change) => {
    const folder = compiled(name, change);
    folders.push(folder);
    return folder;
  };

  test("the Expo app shows the offer, the running trial, the grace banner and the hold screen", async (t) => {
    const folder = example("Expo", (code) => code.replace("https://billing.example.com", world.url)
      .replace('"pk_from_tideover_keys_add"', `"${world.publicKey}", environment: "simulated"`));
    writeFileSync(path.join(folder, "phone.js"), "export const phone = {};");
    standIns(folder, {
      "react-native-iap": [".", store],
      "@react-native-async-storage/async-storage": [".",
        "const kept = new Map(); export default { getItem: async (name) => kept.get(name) ?? null,"
        + " setItem: async (name, value) => void kept.set(name, value), removeItem: async (name) => void kept.delete(name) };"],
      "@noble/curves": ["./ed25519", 'import { nodeVerifier } from "@tideover/node";'
        + " export const ed25519 = { verify: (signature, message, key) => nodeVerifier(key, signature, message) };"],
    });
    const { phone } = await import(pathToFileURL(path.join(folder, "phone.js")));
    const listeners = new Set();
    const finished = [];
    const requested = [];
    let connected = Promise.resolve(true);
    let isClosed = false;
    Object.assign(phone, {
      initConnection: () => connected,
      endConnection: async () => {
        if (isClosed) throw new Error("not connected");
      },
      getAvailablePurchases: async () => [],
      finishTransaction: async ({ purchase }) => finished.push(purchase.id),
      purchaseUpdatedListener: (listener) => {
        listeners.add(listener);
        return { remove: () => listeners.delete(listener) };
      },
      requestPurchase: async ({ request }) => {
        if (isClosed) throw new Error("cancelled");
        requested.push(request.ios.appAccountToken);
        await world.step({ do: "subscribe", customer: "anna", product: request.ios.sku });
        for (const listener of listeners) listener(applePurchase(world.transactions.at(-1)));
      },
    });
    const { default: App } = await import(pathToFileURL(path.join(folder, "App.js")));
    const { changeAppState } = await import("react-native");
    const customer = await world.customer("anna");
    let view;
    await act(async () => { view = create(createElement(App, { customer })); });
    const shows = (text) => soon(text, async () => {
      await act(async () => changeAppState("active"));
      return texts(view.toJSON()).join("\n").includes(text) || find(view.toJSON(), "Button")?.props.title === text;
    });
    const isOpen = () => texts(view.toJSON()).includes("All your cards");

    await shows("Start free trial");
    assert.ok(!isOpen());
    await act(async () => find(view.toJSON(), "Button").props.onPress());
    await shows("All your cards");
    await shows("Your free trial");
    assert.deepEqual(requested, [customer]);
    await soon("the finish", () => finished.length === 1);

    await world.step({ do: "advance", by: "8 d" });
    await world.step({ do: "failPayments", customer: "anna" });
    await world.step({ do: "advance", by: "1 month" });
    await shows("There was a problem with your payment");
    assert.ok(isOpen());

    await world.step({ do: "advance", by: "17 d" });
    await shows("Your cards are kept.");
    assert.ok(!isOpen());
    await world.step({ do: "fixPayments", customer: "anna" });
    await act(async () => find(view.toJSON(), "Button").props.onPress());
    await shows("All your cards");

    // Another customer on the same device has an answer of their own.
    const other = await world.customer("ben");
    await act(async () => view.update(createElement(App, { customer: other })));
    assert.ok(!isOpen());
    await shows("Start free trial");
    assert.equal(listeners.size, 1);
    await act(async () => view.unmount());
    assert.equal(listeners.size, 0);

    // A store that connects after the screen has gone hands nothing to its session.
    let connect;
    connected = new Promise((resolve) => { connect = resolve; });
    await act(async () => { view = create(createElement(App, { customer })); });
    await act(async () => view.unmount());
    await act(async () => connect(true));
    assert.equal(listeners.size, 0);

    // A store that cannot be reached, and a purchase that is cancelled, are no unhandled rejections,
    // which a test does not survive.
    const warn = t.mock.method(console, "warn", () => {});
    connected = Promise.reject(new Error("no store"));
    isClosed = true;
    await act(async () => { view = create(createElement(App, { customer: other })); });
    await shows("Start free trial");
    await act(async () => find(view.toJSON(), "Button").props.onPress());
    await act(async () => view.unmount());
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(warn.mock.calls.map(({ arguments: [error] }) => error.message), ["no store", "cancelled", "not connected"]);
  });

  test("the Supabase edge function admits only entitled customers", async () => {
    const folder = example("SupabaseFunction", (code) => code.replace(
      'app: "cards"', 'app: "cards", environment: "simulated"'));
    let handler;
    const values = { TIDEOVER_URL: world.url, TIDEOVER_KEY: world.secretKey };
    globalThis.Deno = { env: { get: (name) => values[name] }, serve: (it) => { handler = it; } };
    try {
      await import(pathToFileURL(path.join(folder, "index.js")));
      await world.step({ do: "buy", customer: "anna", product: "cards.lifetime" });
      const status = async (sub) => {
        const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
        const headers = sub ? { Authorization: `Bearer ${part({ alg: "HS256" })}.${part({ sub })}.c2ln` } : {};
        return (await handler(new Request("http://edge/", { headers }))).status;
      };
      assert.equal(await status(await world.customer("anna")), 200);
      assert.equal(await status(await world.customer("ben")), 403);
      assert.equal(await status(), 401);
    } finally {
      delete globalThis.Deno;
    }
  });
});
