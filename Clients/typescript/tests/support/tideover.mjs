// A real server with the simulated stores behind it, on loopback. Between them stands a relay that
// can lose the stores' messages, and keeps what devices get from a store: signed transactions and
// tokens.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";

/** The built program; without it the tests that need one are skipped visibly. */
export const program = process.env.TIDEOVER_BINARY;

/** Variables of the tests are not configuration of the program. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TIDEOVER_")));

const push = { audience: "https://tideover.example/push", email: "pusher@tideover-rehearsal.iam.gserviceaccount.com" };

const standard = {
  scenario: "A store for clients", source: "Scenarios/README.md",
  app: { id: "cards", bundleId: "com.example.cards" },
  products: {
    "cards.pro.monthly": { entitlements: ["premium"], group: "pro", period: "P1M", trial: "P1W", price: "9.99 USD", grace: "P16D" },
    "cards.lifetime": { entitlements: ["premium"], kind: "nonConsumable", price: "149.99 USD" },
  },
  googlePlay: {
    packageName: "com.example.cards",
    subscriptions: { "cards.pro": { entitlements: ["premium"], basePlans: { monthly: { period: "P1M", price: "9.99 USD", grace: "7 d" } } } },
  },
  customers: { anna: {}, ben: { store: "googlePlay" } },
  start: "2026-05-01T10:00:00Z",
};

/** The products of a scenario's stores, as an operator configures them. */
function catalogue({ products = {}, googlePlay: { subscriptions = {}, products: items = {} } = {} }) {
  const known = ["entitlements", "kind", "group", "period", "trial", "price"];
  const only = ({ grace, graceScope, ...product }) => ({
    ...Object.fromEntries(Object.entries(product).filter(([name]) => known.includes(name))),
    ...(grace && grace !== "off" && graceScope !== "paidOnly" ? { grace } : {}),
  });
  const result = Object.fromEntries(Object.entries(products).map(([id, product]) => [id, only(product)]));
  for (const [id, { entitlements, basePlans }] of Object.entries(subscriptions)) {
    for (const [plan, { period, price, grace }] of Object.entries(basePlans)) {
      const days = parseInt(grace ?? "0", 10);
      result[`${id}:${plan}`] = {
        entitlements, group: id, period, price, ...(days > 0 ? { grace: `P${days}D` } : {}),
      };
    }
  }
  for (const [id, { consumable, ...product }] of Object.entries(items)) {
    result[id] = { ...only(product), kind: consumable ? "consumable" : "nonConsumable" };
  }
  return result;
}

/** Lengths of time as the configuration writes them: `3d`, not `3 d`. */
function lengths(values = {}) {
  const short = (value) => (typeof value === "string" ? value.replace(" ", "") : value);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, short(value)]));
}

/** Waits until something holds; `what` is a text or returns one. The limit only ends a test that would wait for ever. */
export async function soon(what, holds) {
  const end = Date.now() + 180_000;
  while (Date.now() < end) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Waited in vain for ${typeof what === "function" ? what() : what}.`);
}

/** The store or the server did not answer the other within its time limit: the machine is busy. */
export class TooSlow extends Error {}

export class World {
  processes = [];
  transactions = [];
  tokens = [];
  /** Ids of purchases that a phone has received. */
  handedOver = new Set();
  isLosing = false;
  /** Whether the server may refuse a message for now, because the store does not answer it. */
  toleratesFailedMessages = false;

  constructor(scenario, webhooks, googlePlay) {
    this.scenario = scenario;
    this.webhooks = webhooks;
    this.googlePlay = googlePlay;
  }

  /**
   * The stores of a scenario and a server, with a public and a secret key. `webhooks` returns the
   * receivers of the server's configuration, given a function that writes a file. `googlePlay` has
   * further members of the app's configuration.
   */
  static async open(scenario = standard, webhooks = () => [], googlePlay = {}) {
    const world = new World(scenario, webhooks, googlePlay);
    world.folder = mkdtempSync(path.join(tmpdir(), "tideover-clients-"));
    try {
      await world.start();
    } catch (error) {
      await world.close();
      throw error;
    }
    return world;
  }

  async start() {
    this.relay = http.createServer((request, response) => void this.pass(request, response));
    this.relay.listen(0, "127.0.0.1");
    await once(this.relay, "listening");
    const stage = this.write("store.json", this.scenario);
    this.authority = path.join(this.folder, "store");
    const target = `http://127.0.0.1:${this.relay.address().port}`;
    const ready = await this.run(
      ["sandbox", "serve", stage, "--listen", "127.0.0.1:0", "--target", target, "--authority", this.authority],
      /stores listen on (\S+)\n[^]*issuer id (\S+), key id (\S+) and[^]*key file \S+\n/);
    [, this.store, this.issuerId, this.keyId] = ready;
    // The last file is written just after it is named.
    const last = this.scenario.googlePlay ? "service-account.json" : `AuthKey_${this.keyId}.p8`;
    await soon("the stores' keys", () => existsSync(path.join(this.authority, last)));
    const key = this.tool("keys", "pass");
    writeFileSync(path.join(this.folder, "pass-key.pem"), key, { mode: 0o600 });
    this.config = this.write("tideover.json", this.configuration());
    this.publicKey = this.tool("keys", "add", "--kind", "public", "--app", "cards", "--config", this.config).trim();
    this.secretKey = this.tool("keys", "add", "--kind", "secret", "--app", "cards", "--config", this.config).trim();
    await this.serve();
  }

  /** Starts the server; `stop` ends it, as a device in the underground sees it. */
  async serve() {
    const listen = this.url ? new URL(this.url).host : "127.0.0.1:0";
    this.config = this.write("tideover.json", { ...this.configuration(), server: { listen } });
    [, this.url] = await this.run(
      ["serve", "--config", this.config, "--clock", `${this.store}/clock`], /(http:\/\/127\.0\.0\.1:\d+)/);
    this.server = this.processes.at(-1);
  }

  async stop() {
    this.server.kill("SIGTERM");
    if (this.server.exitCode === null) await once(this.server, "exit");
  }

  async restart() {
    await this.stop();
    await this.serve();
  }

  configuration() {
    const { issuerId, keyId, scenario } = this;
    const { bundleId, appAppleId = 1234567890 } = scenario.app;
    const { packageName } = scenario.googlePlay ?? {};
    const file = (name) => path.join(this.authority, name);
    const key = { issuerId, keyId, privateKeyFile: file(`AuthKey_${keyId}.p8`) };
    const { credentials = true } = scenario.googlePlay ?? {};
    const account = { push, ...this.googlePlay, ...(credentials ? { serviceAccountFile: file("service-account.json") } : {}) };
    const consumption = scenario.customersConsent ? { consumption: { customersConsent: true } } : {};
    const { plan, ...prompts } = scenario.prompts ?? {};
    const policy = { prompts: lengths(prompts), ...(plan ? { plan } : {}) };
    return {
      server: { listen: "127.0.0.1:0" },
      storage: `sqlite:${path.join(this.folder, "tideover.db")}`,
      pass: { keyFile: path.join(this.folder, "pass-key.pem") },
      apps: [{
        id: "cards", environments: ["simulated"],
        ...(bundleId ? { appStore: { bundleId, appAppleId, ...key, ...consumption } } : {}),
        ...(packageName ? { googlePlay: { packageName, ...account } } : {}),
        simulatedStore: { url: this.store, root: file("root.der") },
        products: catalogue(scenario), ...(scenario.prompts ? { policy } : {}),
      }],
      webhooks: this.webhooks((name, text) => this.write(name, text)),
    };
  }

  /** A step of a scenario file: a customer acts, or time passes. */
  async step(step) {
    const response = await fetch(`${this.store}/control`, { method: "POST", body: JSON.stringify(step) });
    const answer = await response.json();
    const isTolerated = ({ status }) => this.toleratesFailedMessages && status === 503;
    const failed = answer.moments?.filter((moment) => !moment.passed && !isTolerated(moment)) ?? [];
    if (failed.some(({ failure, status }) => failure || status === 503)) throw new TooSlow(JSON.stringify(failed));
    if (answer.fault || failed.length > 0) throw new Error(JSON.stringify(answer));
    // The server looks at the store's clock every second.
    await soon(`the server's clock at ${answer.now}`, async () => {
      const { time } = await (await fetch(`${this.url}/healthz`)).json();
      return Date.parse(time) >= Date.parse(answer.now);
    });
    return answer;
  }

  /** The operator requests an action for the newest purchase. */
  async storeAction(send) {
    const [purchase] = [...this.tokens.map(({ token }) => token),
      ...this.transactions.map((it) => applePurchase(it).id)].slice(-1);
    const key = this.tool("keys", "add", "--kind", "admin", "--config", this.config).trim();
    const url = `${this.url}/v1/apps/cards/purchases/${encodeURIComponent(purchase)}/actions?environment=simulated`;
    const headers = { Authorization: `Bearer ${key}`, "Idempotency-Key": purchase, "Content-Type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ why: "a scenario", ...send }) });
    if (response.status !== 200) throw new Error(await response.text());
  }

  /** The store's time, for the clock of a device. */
  async now() {
    return Date.parse((await (await fetch(`${this.store}/clock`)).json()).now);
  }

  async customer(name) {
    const { customers } = await (await fetch(`${this.store}/customers`)).json();
    return customers.find((customer) => customer.name === name).appAccountToken;
  }

  async pass(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    this.remember(request, body);
    if (this.isLosing && request.method === "POST") return response.writeHead(200).end();
    try {
      const { host, "content-length": _, connection: __, ...headers } = request.headers;
      const answer = await fetch(`${this.url}${request.url}`, {
        method: request.method, headers, ...(body.length > 0 ? { body } : {}),
      });
      const type = answer.headers.get("content-type");
      response.writeHead(answer.status, type ? { "Content-Type": type } : {});
      response.end(Buffer.from(await answer.arrayBuffer()));
    } catch {
      response.writeHead(503).end();
    }
  }

  /** Keeps what a device gets from its store; a message that arrived damaged has nothing. */
  remember({ url }, body) {
    const part = (text) => JSON.parse(Buffer.from(text, "base64"));
    try {
      const message = JSON.parse(body);
      if (url.includes("/app-store")) {
        const { data } = part(message.signedPayload.split(".")[1]);
        if (data?.signedTransactionInfo) this.transactions.push(data.signedTransactionInfo);
      } else if (url.includes("/google-play")) {
        const { subscriptionNotification, oneTimeProductNotification: item } = part(message.message.data);
        const token = subscriptionNotification?.purchaseToken ?? item?.purchaseToken;
        const [subscription] = Object.keys(this.scenario.googlePlay.subscriptions ?? {});
        if (token) this.tokens.push({ token, productId: item?.sku ?? subscription });
      }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }

  tool(...words) {
    return execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], env });
  }

  /** Starts the program, and returns the match in its output when it is ready. */
  run(words, ready) {
    const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], env });
    this.processes.push(child);
    let log = "";
    return new Promise((resolve, reject) => {
      const read = (part) => {
        log += part;
        const found = ready.exec(log);
        if (found) resolve(found);
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
      child.once("exit", () => reject(new Error(log)));
    });
  }

  write(name, value) {
    const file = path.join(this.folder, name);
    writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value));
    chmodSync(file, 0o600);
    return file;
  }

  async close() {
    for (const child of this.processes) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGTERM");
        await once(child, "exit");
      }
    }
    this.relay?.close();
    this.relay?.closeAllConnections?.();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A purchase as react-native-iap 14 has it, on an iPhone. */
export function applePurchase(transaction) {
  const claims = JSON.parse(Buffer.from(transaction.split(".")[1], "base64url"));
  return {
    id: claims.transactionId, transactionId: claims.transactionId, productId: claims.productId,
    transactionDate: claims.purchaseDate, purchaseToken: transaction, store: "apple", platform: "ios",
    quantity: 1, purchaseState: "purchased", isAutoRenewing: true,
    originalTransactionIdentifierIOS: claims.originalTransactionId, appAccountToken: claims.appAccountToken,
    expirationDateIOS: claims.expiresDate, environmentIOS: claims.environment,
  };
}

/** The same on Android. */
export function playPurchase(purchaseToken, productId) {
  return {
    id: purchaseToken, productId, currentPlanId: "monthly", transactionDate: 0, purchaseToken,
    store: "google", platform: "android", quantity: 1, purchaseState: "purchased", isAutoRenewing: true,
    isAcknowledgedAndroid: false, packageNameAndroid: "com.example.cards",
  };
}
