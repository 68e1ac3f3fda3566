// A device in a simulated world: the built server, both simulated stores, and the hooks that an app
// renders. TIDEOVER_BINARY names the built program.
import { CustomerSession, TideoverAPI } from "@tideover/client";
import { EntitlementCache, fetchWebhook, withEntitlement } from "@tideover/node";
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import { generateTypes } from "../scripts/generate-types.mjs";
import { deaths, Phone } from "./support/phone.mjs";
import { applePurchase, playPurchase, program, World } from "./support/tideover.mjs";

const day = 86_400_000;
const skip = program ? false : "TIDEOVER_BINARY does not name the built program";

/** The hooks agree with the server, which has the state; `screen` is what they show. */
async function agrees(phone, screen, state) {
  const { entitlements } = await phone.agrees();
  assert.equal(entitlements.premium.state, state);
  assert.equal(phone.screen(), screen);
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

  test("a page reads through a path of its own origin, and a browser keeps other origins away", async () => {
    const site = http.createServer(async ({ method, url, headers }, response) => {
      const forwarded = url.replace(/^\/tideover\/v1\/apps\//, "/v1/apps/");
      const answer = await fetch(world.url + forwarded, { method, headers: { authorization: headers.authorization } });
      response.writeHead(answer.status).end(await answer.text());
    }).listen(0, "127.0.0.1");
    await once(site, "listening");
    const session = new CustomerSession({
      url: `http://127.0.0.1:${site.address().port}/tideover`, app: "cards", key: world.publicKey,
      environment: "simulated", customer: await world.customer("anna"),
    });
    const read = await session.refresh();
    site.closeAllConnections();
    site.close();
    assert.deepEqual([read?.app, session.lastError], ["cards", undefined]);
    const path = `${world.url}/v1/apps/cards/customers/anna?environment=simulated`;
    const headers = { Origin: "https://app.example.com", Authorization: `Bearer ${world.publicKey}` };
    for (const [method, status] of [["OPTIONS", 405], ["GET", 200]]) {
      const answer = await fetch(path, { method, headers });
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get("access-control-allow-origin"), null);
    }
  });

  test("a device follows a year on the App Store", async () => {
    const phone = new Phone(world, await world.customer("anna"));
    phone.isOffline = true;
    await phone.startApp();
    assert.equal(phone.screen(), "unknown loading, none");
    phone.isOffline = false;
    await agrees(phone, "unknown unconfirmed, none", "never");
    await phone.sync.restore();
    await agrees(phone, "denied, none", "never");

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
    assert.equal(phone.finished.length, 1);
    await agrees(phone, "granted, none", "active");
    assert.equal(phone.session.answer("premium").entitlement.trial.daysLeft, 7);

    await world.step({ do: "advance", by: "8 d" });
    await agrees(phone, "granted, none", "active");
    assert.equal(phone.session.answer("premium").entitlement.reason, "paid");

    await world.step({ do: "failPayments", customer: "anna" });
    await world.step({ do: "advance", by: "1 month" });
    await agrees(phone, "granted, soft", "grace");

    // After a day without a network the app starts again: the pass answers.
    await world.stop();
    phone.endApp();
    phone.offset = day;
    await phone.startApp();
    assert.equal(phone.screen(), "granted, none");
    assert.equal(phone.session.answer("premium").source, "pass");
    phone.now += 7 * day;
    assert.equal(phone.screen(), "unknown offline, none");
    phone.offset = 0;
    await world.serve();
    await agrees(phone, "granted, soft", "grace");

    await world.step({ do: "advance", by: "17 d" });
    await agrees(phone, "denied, hard", "hold");
    await world.step({ do: "fixPayments", customer: "anna" });
    await agrees(phone, "granted, none", "active");
    await world.step({ do: "refund", customer: "anna", product: "cards.pro.monthly" });
    await agrees(phone, "denied, none", "expired");
    phone.endApp();
  });

  test("a device recovers a Google Play purchase with a lost message", async () => {
    const phone = new Phone(world, await world.customer("ben"));
    world.isLosing = true;
    await world.step({ do: "buy", customer: "ben", product: "cards.pro", acknowledged: false });
    world.isLosing = false;
    phone.unfinished.push(playPurchase(world.tokens.at(-1).token, "cards.pro"));
    await phone.startApp();
    assert.equal(phone.finished.length, 1);
    await agrees(phone, "granted, none", "active");
    await world.step({ do: "cancel", customer: "ben", product: "cards.pro" });
    await agrees(phone, "granted, none", "active");
    await world.step({ do: "advance", by: "1 month" });
    await agrees(phone, "denied, none", "expired");
    phone.endApp();
  });

  for (const death of deaths) {
    test(`an app that is killed ${death} finishes its purchases at the next start`, async () => {
      const purchases = {
        anna: () => applePurchase(world.transactions.at(-1)),
        ben: () => playPurchase(world.tokens.at(-1).token, "cards.pro"),
      };
      for (const [name, product] of [["anna", "cards.pro.monthly"], ["ben", "cards.pro"]]) {
        const phone = new Phone(world, await world.customer(name));
        await phone.startApp();
        await world.step({ do: "buy", customer: name, product });
        const purchase = purchases[name]();
        await phone.receiveAndDie(purchase, death);
        assert.deepEqual(phone.finished, []);
        await phone.startApp();
        assert.deepEqual(phone.finished, [purchase.id]);
        await agrees(phone, "granted, none", "active");
        phone.endApp();
        await world.step({ do: "cancel", customer: name, product });
        await world.step({ do: "advance", by: "2 months" });
      }
    });
  }

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
