// A simulated React Native app on a phone. Its storage and its store's purchases outlive the app,
// which can be started, ended and killed.
import { CustomerSession, PurchaseSync, TideoverAPI } from "@tideover/client";
import { nodeVerifier } from "@tideover/node";
import { TideoverProvider, useEntitlement, usePrompt, useTrial } from "@tideover/react";
import assert from "node:assert/strict";
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { memoryStore } from "./server.mjs";
import { soon } from "./tideover.mjs";

/** When an app can be killed between a purchase and its finish. */
export const deaths = ["before the request", "before the response", "before the finish"];

const patience = 120_000;

// The request of an app that was killed never ends. Its time limit must not keep the tests' process
// alive after the last test.
const begin = globalThis.setTimeout;
globalThis.setTimeout = (work, milliseconds, ...rest) => {
  const timer = begin(work, milliseconds, ...rest);
  if (milliseconds === patience) timer.unref();
  return timer;
};

export class Phone {
  storage = memoryStore();
  /** What the store hands over at each start. */
  unfinished = [];
  finished = [];
  isOffline = false;
  /** How far the phone's clock is ahead of the stores', in milliseconds. */
  offset = 0;
  /** One of `deaths`, while the app is about to be killed. */
  death = undefined;

  constructor(world, customer, { names = ["premium"], store } = {}) {
    this.world = world;
    this.customer = customer;
    this.names = names;
    this.options = {
      url: world.url, app: "cards", key: world.publicKey, environment: "simulated", store, attempts: 1,
      timeout: patience,
    };
    this.backEnd = new TideoverAPI({ ...this.options, key: world.secretKey });
  }

  async startApp() {
    await this.look();
    this.errors = [];
    this.death = undefined;
    this.session = new CustomerSession({
      ...this.options, customer: this.customer, storage: this.storage, verifier: nodeVerifier,
      clock: () => this.now, fetch: this.network(),
    });
    const onError = (error) => this.errors.push(error);
    this.sync = new PurchaseSync(this.session, this.library(), { onError });
    await this.sync.start();
  }

  endApp() {
    this.sync.stop();
    this.session = undefined;
  }

  /** Looks at the clock, which stands still until the next time. */
  async look() {
    this.now = (await this.world.now()) + this.offset;
  }

  /** The store hands a purchase over, and the app presents it. */
  async receive(purchase) {
    this.unfinished.push(purchase);
    for (const listener of this.listeners) listener(purchase);
    await this.sync.flush();
  }

  /** The app gets a purchase and is killed meanwhile: nothing of it runs any further. */
  async receiveAndDie(purchase, death) {
    this.death = death;
    this.unfinished.push(purchase);
    const killed = new Promise((resolve) => { this.killed = resolve; });
    for (const listener of this.listeners) listener(purchase);
    await killed;
    this.endApp();
  }

  network() {
    return async (url, init) => {
      if (this.isOffline) throw new TypeError("fetch failed");
      const isPurchase = init.method === "POST";
      if (isPurchase && this.death === "before the request") return this.die();
      const response = await fetch(url, init);
      return isPurchase && this.death === "before the response" ? this.die() : response;
    };
  }

  /** The functions of react-native-iap 14. */
  library() {
    this.listeners = new Set();
    return {
      getAvailablePurchases: async () => [...this.unfinished],
      purchaseUpdatedListener: (listener) => {
        this.listeners.add(listener);
        return { remove: () => this.listeners.delete(listener) };
      },
      finishTransaction: async ({ purchase }) => {
        if (this.death === "before the finish") return this.die();
        this.finished.push(purchase.id);
        this.unfinished = this.unfinished.filter((it) => it !== purchase);
      },
    };
  }

  die() {
    this.killed();
    return new Promise(() => {});
  }

  /** What the hooks have now. */
  hooks(name = "premium") {
    let found;
    const Screen = () => {
      found = { answer: useEntitlement(name), prompt: usePrompt(), trial: useTrial(name) };
      return null;
    };
    renderToString(createElement(TideoverProvider, { session: this.session }, createElement(Screen)));
    return found;
  }

  /** Status and kind of prompt, as text. */
  screen() {
    const { answer: { status, because = "" }, prompt } = this.hooks();
    return `${status} ${because}`.trim() + `, ${prompt.kind}`;
  }

  /** Refreshes, and requires that the hooks have what the server answers a back end. */
  async agrees() {
    let snapshot;
    // The server can learn something from a store between the two requests.
    await soon("one version of the answer", async () => {
      await this.look();
      await this.session.refresh();
      ({ snapshot } = await this.backEnd.snapshot(this.customer));
      return snapshot.customerVersion === this.session.snapshot?.customerVersion;
    });
    for (const name of this.names) {
      const entitlement = snapshot.entitlements[name];
      const { answer, prompt, trial } = this.hooks(name);
      assert.deepEqual(answer.entitlement, entitlement);
      assert.equal(answer.status, statusOf(entitlement));
      assert.deepEqual(prompt, snapshot.prompt);
      const { trial: running, trialOffer: offer, words } = entitlement;
      assert.deepEqual(trial, { running, offer, words });
    }
    return snapshot;
  }

  /** Starts again without a network: the answers are those of the pass. */
  async agreesOffline(snapshot) {
    this.endApp();
    this.isOffline = true;
    await this.startApp();
    await this.session.refresh();
    for (const name of this.names) {
      const { answer, prompt } = this.hooks(name);
      assert.equal(answer.status, snapshot.pass ? statusOf(snapshot.entitlements[name]) : "unknown");
      if (answer.status !== "unknown") assert.equal(answer.source, "pass");
      assert.equal(prompt.kind, "none");
    }
    this.isOffline = false;
  }
}

function statusOf({ access, confidence }) {
  if (access) return "granted";
  return confidence === "unknown" ? "unknown" : "denied";
}
