// A device in a simulated world: the built server, both simulated stores, and the hooks that an app
// renders. TIDEOVER_BINARY names the built program.
import { CustomerSession, PurchaseSync, TideoverAPI } from "@tideover/client";
import { EntitlementCache, fetchWebhook, nodeVerifier, withEntitlement } from "@tideover/node";
import { TideoverProvider, useEntitlement, usePrompt } from "@tideover/react";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { generateTypes } from "../scripts/generate-types.mjs";
import { memoryStore } from "./support/server.mjs";
import { applePurchase, playPurchase, program, World } from "./support/tideover.mjs";

const day = 86_400_000;
const skip = program ? false : "TIDEOVER_BINARY does not name the built program";

/**
 * A phone: its storage and its store's purchases outlive the app, which can be started and ended.
 */
class Phone {
  storage = memoryStore();
  unfinished = [];
  finished = [];
  offset = 0;

  constructor(world, customer) {
    this.world = world;
    this.customer = customer;
    this.backEnd = new TideoverAPI({ url: world.url, app: "cards", key: world.secretKey, environment: "simulated" });
  }

  async startApp() {
    this.now = (await this.world.now()) + this.offset;
    this.session = new CustomerSession({
      url: this.world.url, app: "cards", key: this.world.publicKey, environment: "simulated",
      customer: this.customer, storage: this.storage, clock: () => this.now, attempts: 1, verifier: nodeVerifier,
    });
    const library = {
      getAvailablePurchases: async () => [...this.unfinished],
      purchaseUpdatedListener: () => ({ remove: () => {} }),
      finishTransaction: async ({ purchase }) => {
        this.finished.push(purchase.productId);
        this.unfinished = this.unfinished.filter((it) => it !== purchase);
      },
    };
    this.errors = [];
    this.sync = new PurchaseSync(this.session, library, { onError: (error) => this.errors.push(error) });
    if (this.unfinished.length > 0) await this.sync.start();
  }

  endApp() {
    this.sync.stop();
    this.session = undefined;
  }

  /** What the hooks render now. */
  screen() {
    const Screen = () => {
      const { status, because = "" } = useEntitlement("premium");
      return `${status} ${because}`.trim() + `, ${usePrompt().kind}`;
    };
    return renderToString(createElement(TideoverProvider, { session: this.session }, createElement(Screen)));
  }

  /** Refreshes, and compares what the hook has with what the server answers a back end. */
  async agrees(screen, state) {
    this.now = (await this.world.now()) + this.offset;
    await this.session.refresh();
    const { snapshot } = await this.backEnd.snapshot(this.customer);
    assert.deepEqual(this.session.answer("premium").entitlement, snapshot.entitlements.premium);
    assert.deepEqual(this.session.snapshot.prompt, snapshot.prompt);
    assert.equal(snapshot.entitlements.premium.state, state);
    assert.equal(this.screen(), screen);
  }
}

describe("a device with the real server", { skip }, () => {
  let world;
  before(async () => { world = await World.open(); });
  after(() => world?.close());

  test("the generated types equal those of the built server", async () => {
    const document = await (await fetch(`${world.url}/openapi.json`)).json();
    const committed = readFileSync(new URL("../client/src/types.ts", import.meta.url), "utf8");
    assert.equal(committed, generateTypes(document), "stale: run scripts/clients.sh types");
  });

  test("a device follows a year on the App Store", async () => {
    const phone = new Phone(world, await world.customer("anna"));
    await phone.startApp();
    assert.equal(phone.screen(), "unknown loading, none");
    await phone.agrees("unknown unconfirmed, none", "never");
    await phone.session.reconcile({ nothing: true });
    await phone.agrees("denied, none", "never");

    // The store's message is lost and the server is unreachable: only the phone has the purchase.
    world.isLosing = true;
    await world.step({ do: "subscribe", customer: "anna", product: "cards.pro.monthly" });
    await world.stop();
    phone.unfinished.push(applePurchase(world.transactions.at(-1)));
    await phone.sync.restore();
    assert.deepEqual(phone.finished, []);
    assert.equal(phone.errors[0].code, "network");
    phone.endApp();

    world.isLosing = false;
    await world.serve();
    await phone.startApp();
    assert.deepEqual(phone.finished, ["cards.pro.monthly"]);
    await phone.agrees("granted, none", "active");
    assert.equal(phone.session.answer("premium").entitlement.trial.daysLeft, 7);

    await world.step({ do: "advance", by: "8 d" });
    await phone.agrees("granted, none", "active");
    assert.equal(phone.session.answer("premium").entitlement.reason, "paid");

    await world.step({ do: "failPayments", customer: "anna" });
    await world.step({ do: "advance", by: "1 month" });
    await phone.agrees("granted, soft", "grace");

    // After a day without a network the app starts again: the pass answers.
    await world.stop();
    phone.endApp();
    phone.offset = day;
    await phone.startApp();
    assert.equal(phone.screen(), "unknown loading, none");
    await phone.session.refresh();
    assert.equal(phone.screen(), "granted, none");
    assert.equal(phone.session.answer("premium").source, "pass");
    phone.now += 7 * day;
    assert.equal(phone.screen(), "unknown offline, none");
    phone.offset = 0;
    await world.serve();
    await phone.agrees("granted, soft", "grace");

    await world.step({ do: "advance", by: "17 d" });
    await phone.agrees("denied, hard", "hold");
    await world.step({ do: "fixPayments", customer: "anna" });
    await phone.agrees("granted, none", "active");
    await world.step({ do: "refund", customer: "anna", product: "cards.pro.monthly" });
    await phone.agrees("denied, none", "expired");
    phone.endApp();
  });

  test("a device recovers a Google Play purchase with a lost message", async () => {
    const phone = new Phone(world, await world.customer("ben"));
    world.isLosing = true;
    await world.step({ do: "buy", customer: "ben", product: "cards.pro", acknowledged: false });
    world.isLosing = false;
    phone.unfinished.push(playPurchase(world.tokens.at(-1)));
    await phone.startApp();
    assert.deepEqual(phone.finished, ["cards.pro"]);
    await phone.agrees("granted, none", "active");
    await world.step({ do: "cancel", customer: "ben", product: "cards.pro" });
    await phone.agrees("granted, none", "active");
    await world.step({ do: "advance", by: "1 month" });
    await phone.agrees("denied, none", "expired");
    phone.endApp();
  });

  test("a back end admits only entitled customers", async () => {
    const api = new TideoverAPI({ url: world.url, app: "cards", key: world.secretKey, environment: "simulated" });
    const options = {
      entitlements: new EntitlementCache(api), unknown: "deny",
      customer: (request) => request.headers.get("x-customer") ?? undefined,
    };
    const GET = withEntitlement("premium", options, () => new Response("exported"));
    const ask = async (customer) =>
      (await GET(new Request("http://back.end/", { headers: customer ? { "x-customer": customer } : {} }))).status;
    await world.step({ do: "buy", customer: "anna", product: "cards.lifetime" });
    assert.equal(await ask(await world.customer("anna")), 200);
    assert.equal(await ask(await world.customer("ben")), 403);
    assert.equal(await ask("a-stranger"), 403);
    assert.equal(await ask(), 401);
  });

  test("a back end reads explanations, past answers and events", async () => {
    const api = new TideoverAPI({ url: world.url, app: "cards", key: world.secretKey, environment: "simulated" });
    const anna = await world.customer("anna");
    assert.ok((await api.explain(anna)).entitlements.premium.decision);
    assert.ok((await api.timeline(anna)).entitlements.premium);
    const kinds = new Set();
    for await (const { kind } of api.eventsAfter()) kinds.add(kind);
    assert.ok(kinds.has("trial_started") && kinds.has("billing_issue_entered"));
  });

  test("a webhook without a signature is refused", async () => {
    const POST = fetchWebhook({ keys: "whsec_c2VjcmV0" }, () => assert.fail("it was believed"));
    const request = new Request("http://back.end/hooks", { method: "POST", body: "{}" });
    assert.equal((await POST(request)).status, 400);
  });
});
