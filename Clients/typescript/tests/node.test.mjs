import { TideoverAPI } from "@tideover/client";
import {
  EntitlementCache, expressWebhook, fastifyRequireEntitlement, fastifyWebhook, fetchWebhook, honoRequireEntitlement,
  honoWebhook, requireEntitlement, verifyWebhook, withEntitlement,
} from "@tideover/node";
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import { createRequire } from "node:module";
import { test } from "node:test";
import { begin, fakeFetch, problem, reply, snapshot } from "./support/server.mjs";

const secret = `whsec_${Buffer.from("a secret for these tests").toString("base64")}`;

function signed(body, id = "msg_1", key = secret) {
  const time = Math.floor(Date.now() / 1000).toString();
  const text = createHmac("sha256", Buffer.from(key.slice(6), "base64")).update(`${id}.${time}.${body}`);
  return {
    "content-type": "application/json", "webhook-id": id, "webhook-timestamp": time,
    "webhook-signature": `v1,${text.digest("base64")}`,
  };
}

async function listening(handler, use) {
  const server = http.createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    return await use(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections?.();
    server.close();
  }
}

// MARK: Webhooks

const body = '{"type":"entitlement_changed"}';

test("Express and Node's http: a signed message is handled, any other is refused", async () => {
  const seen = [];
  const handler = expressWebhook({ keys: secret }, ({ payload }) => void seen.push(payload.type));
  await listening((request, response) => handler(request, response, assert.fail), async (url) => {
    const post = (text, headers) => fetch(url, { method: "POST", body: text, headers });
    assert.equal((await post(body, signed(body))).status, 204);
    assert.equal((await post(`${body} `, signed(body))).status, 400);
    assert.equal((await post(body, {})).status, 400);
    assert.equal((await post("x".repeat(1_100_000), signed(body))).status, 413);
  });
  assert.deepEqual(seen, ["entitlement_changed"]);
});

test("an empty secret verifies nothing, and neither does one that is not Base64", async () => {
  const forged = signed(body, "msg_1", "");
  for (const keys of ["", " ", [], [""], "whsec_", "whsec_A", "whpk_", "my secret", undefined]) {
    await assert.rejects(verifyWebhook(forged, body, { keys }), TypeError, JSON.stringify(keys));
  }
  await assert.rejects(verifyWebhook(forged, body, { keys: [secret, ""] }), { code: "signature" });
});

test("a secret from a file, and an empty former one beside it, verify", async () => {
  for (const keys of [`${secret}\n`, [secret, ""], ["", secret]]) {
    assert.equal((await verifyWebhook(signed(body), body, { keys })).id, "msg_1");
  }
});

test("Express: a body read by express.raw or express.text is accepted, and a parsed one is reported as a mistake", async () => {
  const handler = expressWebhook({ keys: secret }, () => {});
  const response = { end() {}, setHeader() {} };
  for (const read of [Buffer.from(body), body]) {
    response.statusCode = 0;
    await handler({ headers: signed(body), body: read }, response, assert.fail);
    assert.equal(response.statusCode, 204);
  }
  const errors = [];
  await handler({ headers: signed(body), body: JSON.parse(body) }, {}, (error) => errors.push(error));
  assert.match(String(errors[0]), /before express\.json/);
});

test("an error of a handler reaches the framework, so that the sender retries", async () => {
  const fail = () => { throw new Error("database"); };
  const errors = [];
  await expressWebhook({ keys: secret }, fail)(
    { headers: signed(body), body: Buffer.from(body) }, {}, (error) => errors.push(error));
  assert.match(String(errors[0]), /database/);
  const raw = new Request("http://a/", { method: "POST", body, headers: signed(body) });
  await assert.rejects(honoWebhook({ keys: secret }, fail)({ req: { raw } }), /database/);
});

const express = (() => {
  try {
    return createRequire(import.meta.url)("express");
  } catch {
    return undefined;
  }
})();
const skip = express ? false : "Express is not on NODE_PATH: scripts/clients.sh has Debian's";

test("Express itself: webhooks before and after express.raw, and entitlements", { skip }, async () => {
  const { entitlements } = cached(snapshot());
  const gold = { entitlements, unknown: "deny", customer: (request) => request.get("x-customer") };
  const seen = [];
  const handle = ({ payload, id }) => {
    if (id === "msg_bad") throw new Error("database");
    seen.push(payload.type);
  };
  const app = express();
  app.set("env", "test");
  app.post("/hooks", expressWebhook({ keys: secret }, handle));
  app.post("/raw", express.raw({ type: "*/*" }), expressWebhook({ keys: secret }, handle));
  app.post("/parsed", express.json(), expressWebhook({ keys: secret }, handle));
  app.get("/export", requireEntitlement("premium", gold), (_, response) => response.send("exported"));
  app.get("/gold", requireEntitlement("gold", gold), (_, response) => response.send("gold"));
  await listening(app, async (url) => {
    const post = async (path, text, headers) => (await fetch(url + path, { method: "POST", body: text, headers })).status;
    assert.equal(await post("/hooks", body, signed(body)), 204);
    assert.equal(await post("/raw", body, signed(body)), 204);
    assert.equal(await post("/hooks", "{}", signed(body)), 400);
    assert.equal(await post("/raw", "{}", signed(body)), 400);
    // The sender tries again, and a body that was parsed already is a mistake in the program.
    assert.equal(await post("/hooks", body, signed(body, "msg_bad")), 500);
    assert.equal(await post("/parsed", body, signed(body)), 500);
    const get = async (path, customer) => (await fetch(url + path, { headers: customer ? { "x-customer": customer } : {} })).status;
    assert.deepEqual([await get("/export", "anna"), await get("/gold", "anna"), await get("/export")], [200, 403, 401]);
  });
  assert.deepEqual(seen, ["entitlement_changed", "entitlement_changed"]);
});

test("Fetch: a body is read as it was sent, and no more of it than a message has", async () => {
  const handler = fetchWebhook({ keys: secret }, () => {});
  const post = async (text, headers) => (
    await handler(new Request("http://a/", { method: "POST", body: text, headers, duplex: "half" }))).status;
  assert.deepEqual([await post(body, signed(body)), await post(`${body} `, signed(body))], [204, 400]);
  assert.equal((await handler(new Request("http://a/"))).status, 400);
  const read = new Request("http://a/", { method: "POST", body, headers: signed(body) });
  await read.text();
  await assert.rejects(handler(read), /read already/);
  let pulled = 0;
  let isCancelled = false;
  const endless = new ReadableStream({
    pull(controller) {
      pulled += 1;
      controller.enqueue(new Uint8Array(65_536));
    },
    cancel: () => { isCancelled = true; },
  });
  assert.equal(await post(endless, signed(body)), 413);
  assert.ok(isCancelled && pulled < 30, `${pulled}`);
});

test("Fastify: the body reaches the check unchanged", async () => {
  let parser;
  let route;
  await fastifyWebhook("/hooks", { keys: secret }, () => {})({
    addContentTypeParser: (_, __, parse) => { parser = parse; },
    post: (path, handler) => { route = { path, handler }; },
  });
  const parsed = await new Promise((resolve) => parser({}, Buffer.from(body), (_, value) => resolve(value)));
  const sent = [];
  const answer = { code: (status) => { sent.push(status); return answer; }, send: () => answer };
  await route.handler({ headers: signed(body), body: parsed }, answer);
  await route.handler({ headers: signed(body), body: Buffer.from("{}") }, answer);
  assert.equal(route.path, "/hooks");
  assert.deepEqual(sent, [204, 400]);
});

// MARK: Entitlements

const denied = { state: "expired", access: false, reason: "ended", nextChange: null };
const unconfirmed = { ...denied, confidence: "unknown" };

function cached(answer, options = {}) {
  const world = { now: begin, answer, isOffline: false };
  const { fetch, requests } = fakeFetch(({ headers }) => {
    if (world.isOffline) throw new TypeError("fetch failed");
    const etag = `W/"${world.answer.customerVersion}"`;
    return headers["If-None-Match"] === etag ? reply(304) : reply(200, world.answer, { ETag: etag });
  });
  const api = new TideoverAPI({ url: "http://t", app: "cards", key: "sk", fetch, attempts: 1 });
  const entitlements = new EntitlementCache(api, { clock: () => world.now, ...options });
  return { world, requests, entitlements };
}

test("an answer is cached for half a minute, then requested with its tag", async () => {
  const { world, requests, entitlements } = cached(snapshot());
  const ask = async () => (await entitlements.answer("anna", "premium")).status;
  assert.equal(await ask(), "granted");
  world.now += 29_999;
  await ask();
  assert.equal(requests.length, 1);
  world.now += 1;
  assert.equal(await ask(), "granted");
  assert.equal(requests[1].headers["If-None-Match"], 'W/"1"');
});

test("an answer is never cached past its change", async () => {
  const end = new Date(begin + 10_000).toISOString();
  const { world, requests, entitlements } = cached(snapshot({ premium: { nextChange: end } }));
  await entitlements.answer("anna", "premium");
  world.now += 9_999;
  await entitlements.answer("anna", "premium");
  assert.equal(requests.length, 1);
  world.now += 1;
  world.answer = snapshot({ at: world.now, version: 2, premium: denied });
  assert.equal((await entitlements.answer("anna", "premium")).status, "denied");
});

test("an answer is valid for ten minutes while the server is unreachable, never past its change", async () => {
  for (const [nextChange, last] of [[null, 600_000], [new Date(begin + 60_000).toISOString(), 60_000]]) {
    const { world, entitlements } = cached(snapshot({ premium: { nextChange } }));
    await entitlements.answer("anna", "premium");
    world.isOffline = true;
    world.now = begin + last - 1;
    assert.equal((await entitlements.answer("anna", "premium")).status, "granted");
    world.now += 1;
    assert.deepEqual(await entitlements.answer("anna", "premium"), { status: "unknown", because: "offline" });
  }
});

test("a prompt is cached as an answer is, and ends with its time while the server is unreachable", async () => {
  const until = new Date(begin + 60_000).toISOString();
  const prompt = { kind: "soft", entitlement: "premium", key: "grace.soft", arguments: { until } };
  const { world, requests, entitlements } = cached(snapshot({ premium: { state: "grace", nextChange: until }, prompt }));
  const kind = async () => (await entitlements.prompt("anna"))?.kind;
  assert.equal(await kind(), "soft");
  world.now += 29_999;
  assert.equal(await kind(), "soft");
  assert.equal(requests.length, 1);
  world.isOffline = true;
  world.now = begin + 59_999;
  assert.equal(await kind(), "soft");
  world.now += 1;
  assert.equal(await kind(), undefined);
  world.isOffline = false;
  world.answer = snapshot({ at: world.now, version: 2, premium: { state: "hold", access: false } });
  assert.equal(await kind(), "none");
});

test("concurrent requests cause one request to the server", async () => {
  const { requests, entitlements } = cached(snapshot());
  await Promise.all(Array.from({ length: 50 }, () => entitlements.answer("anna", "premium")));
  assert.equal(requests.length, 1);
});

test("the cache is bounded and can be cleared", async () => {
  const { requests, entitlements } = cached(snapshot(), { maxCustomers: 2 });
  for (const customer of ["a", "b", "c", "b", "c"]) await entitlements.answer(customer, "premium");
  assert.equal(requests.length, 3);
  await entitlements.answer("a", "premium");
  assert.equal(requests.length, 4);
  entitlements.forget("a");
  await entitlements.answer("a", "premium");
  assert.equal(requests.length, 5);
});

test("a server that does not answer is waited for briefly, and its answer is kept", async () => {
  let answer;
  const { fetch, requests } = fakeFetch((_, count) => (
    count === 1 ? reply(200, snapshot()) : new Promise((resolve) => { answer = resolve; })));
  let now = begin;
  const api = new TideoverAPI({ url: "http://t", app: "cards", key: "sk", fetch, attempts: 1 });
  const entitlements = new EntitlementCache(api, { clock: () => now, maxWait: 20 });
  const ask = async () => (await entitlements.answer("anna", "premium")).status;
  await ask();
  now += 30_000;
  assert.deepEqual([await ask(), await ask()], ["granted", "granted"]);
  assert.deepEqual([(await entitlements.prompt("anna")).kind, requests.length], ["none", 2]);
  answer(reply(200, snapshot({ at: now, version: 2, premium: denied })));
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual([await ask(), requests.length], ["denied", 2]);
});

test("a server that hangs holds a limited number of requests about known customers", async () => {
  const { fetch, requests } = fakeFetch((_, count) => (count <= 40 ? reply(200, snapshot()) : new Promise(() => {})));
  let now = begin;
  const api = new TideoverAPI({ url: "http://t", app: "cards", key: "sk", fetch, attempts: 1, timeout: 100 });
  const entitlements = new EntitlementCache(api, { clock: () => now, maxWait: 0 });
  const ask = async (number) => (await entitlements.answer(`${number}`, "premium")).status;
  for (const count of [40, 72]) {
    const found = await Promise.all(Array.from({ length: 40 }, (_, number) => ask(number)));
    assert.deepEqual(new Set(found), new Set(["granted"]));
    assert.equal(requests.length, count);
    now += 30_000;
  }
});

test("a busy server is asked about each customer, however many at a time", async () => {
  let go;
  const held = new Promise((resolve) => { go = resolve; });
  const changed = reply(200, snapshot({ premium: denied, version: 2 }));
  const { fetch } = fakeFetch((_, count) => (count <= 40 ? reply(200, snapshot()) : held.then(() => changed)));
  let now = begin;
  const api = new TideoverAPI({ url: "http://t", app: "cards", key: "sk", fetch, attempts: 1 });
  const entitlements = new EntitlementCache(api, { clock: () => now });
  const askAll = () => Promise.all(Array.from({ length: 40 }, async (_, number) => (
    await entitlements.answer(`${number}`, "premium")).status));
  await askAll();
  now += 30_000;
  const found = askAll();
  go();
  assert.deepEqual(new Set(await found), new Set(["denied"]));
});

test("an answer from before a change that a webhook reported is not kept", async () => {
  const answers = [];
  const { fetch } = fakeFetch(() => new Promise((resolve) => answers.push(resolve)));
  const api = new TideoverAPI({ url: "http://t", app: "cards", key: "sk", fetch, attempts: 1 });
  const entitlements = new EntitlementCache(api, { clock: () => begin });
  const ask = async () => (await entitlements.answer("anna", "premium")).status;
  const before = ask();
  entitlements.forget("anna");
  const since = ask();
  answers[1](reply(200, snapshot({ version: 2 })));
  assert.equal(await since, "granted");
  answers[0](reply(200, snapshot({ premium: denied })));
  assert.equal(await before, "denied");
  assert.equal(await ask(), "granted");
});

test("an answer from before the change is not kept under an alias either", async () => {
  const answers = [];
  const { fetch } = fakeFetch(() => new Promise((resolve) => answers.push(resolve)));
  const api = new TideoverAPI({ url: "http://t", app: "cards", key: "sk", fetch, attempts: 1 });
  const entitlements = new EntitlementCache(api, { clock: () => begin });
  const ask = async () => (await entitlements.answer("anonymous-1", "premium")).status;
  const before = ask();
  entitlements.forget("anna");
  entitlements.forget("ben");
  answers[0](reply(200, { ...snapshot({ premium: denied }), customer: "anna" }));
  assert.equal(await before, "denied");
  const since = ask();
  answers[1](reply(200, { ...snapshot({ version: 2 }), customer: "anna" }));
  assert.equal(await since, "granted");
  assert.equal(await ask(), "granted");
});

test("a customer is forgotten under each of its ids", async () => {
  const id = "7e3fb20b-4cdb-47cc-936d-99d65f608138";
  const { world, requests, entitlements } = cached({ ...snapshot(), customer: id });
  const ask = async () => (await entitlements.answer("u_42", "premium")).status
    + (await entitlements.answer(id.toUpperCase(), "premium")).status;
  await ask();
  await ask();
  assert.equal(requests.length, 2);
  world.answer = { ...snapshot({ version: 2, premium: denied }), customer: id };
  entitlements.forget(id);
  assert.equal(await ask(), "denieddenied");
});

test("a server that refuses the key is a mistake to correct, not an outage that admits everyone", async () => {
  let answer = reply(200, snapshot());
  let now = begin;
  const { fetch } = fakeFetch(() => answer);
  const api = new TideoverAPI({ url: "http://t", app: "cards", key: "sk", fetch, attempts: 1 });
  const entitlements = new EntitlementCache(api, { clock: () => now });
  await entitlements.answer("anna", "premium");
  for (const [status, name] of [[401, "key-unknown"], [403, "key-not-allowed"], [404, "unknown-app"]]) {
    answer = problem(status, name);
    await assert.rejects(entitlements.answer("ben", "premium"), { code: name });
    assert.equal(await entitlements.prompt("ben"), undefined);
    const options = { entitlements, unknown: "allow", customer: () => "ben" };
    // Express would send the customer the status of the error.
    const errors = [];
    await requireEntitlement("premium", options)({}, {}, (error) => errors.push(error));
    assert.match(String(errors[0]), new RegExp(`refuses the request of this back end: ${name}`));
    assert.equal(errors[0].status, undefined);
    assert.equal(errors[0].cause.status, status);
  }
  // What is known of a customer still counts, for the ten minutes of an outage.
  now += 599_999;
  assert.equal((await entitlements.answer("anna", "premium")).status, "granted");
  now += 1;
  await assert.rejects(entitlements.answer("anna", "premium"), { code: "unknown-app" });
  // A proxy has such a page while the server is away.
  for (answer of [reply(403, "<html>"), reply(404, "<html>"), reply(200, "<html>"), problem(503, "overloaded")]) {
    assert.deepEqual(await entitlements.answer("ben", "premium"), { status: "unknown", because: "offline" });
  }
});

const cases = [
  ["granted", snapshot(), "deny", 200],
  ["denied", snapshot({ premium: denied }), "allow", 403],
  ["unconfirmed, deny", snapshot({ premium: unconfirmed }), "deny", 403],
  ["unconfirmed, allow", snapshot({ premium: unconfirmed }), "allow", 200],
  ["unreachable, deny", undefined, "deny", 503],
  ["unreachable, allow", undefined, "allow", 200],
];

for (const [name, answer, unknown, status] of cases) {
  test(`every framework answers ${status} for a customer who is ${name}`, async () => {
    const { world, entitlements } = cached(answer);
    world.isOffline = !answer;
    const options = { entitlements, unknown, customer: () => "anna" };

    const express = requireEntitlement("premium", options);
    await listening((request, response) => express(request, response, () => response.end("ok")), async (url) => {
      const response = await fetch(url);
      assert.equal(response.status, status);
      if (status === 503) assert.equal(response.headers.get("retry-after"), "30");
      if (status !== 200) assert.equal((await response.json()).status, status);
    });

    const next = withEntitlement("premium", options, (_, { params }) => new Response(params.id));
    assert.equal((await next(new Request("http://a/"), { params: { id: "7" } })).status, status);

    let went = 200;
    const hono = await honoRequireEntitlement("premium", options)({ req: { raw: {} } }, async () => {});
    assert.equal(hono?.status ?? 200, status);

    const reply = { code: (code) => { went = code; return reply; }, headers: () => reply, send: () => reply };
    await fastifyRequireEntitlement("premium", options)({}, reply);
    assert.equal(went, status);
  });
}

test("a request without a customer is answered 401, and a failing sign-in reaches Express", async () => {
  const { entitlements } = cached(snapshot());
  for (const id of [undefined, ""]) {
    const next = withEntitlement("premium", { entitlements, unknown: "allow", customer: () => id }, () => new Response());
    assert.equal((await next(new Request("http://a/"))).status, 401);
  }
  await assert.rejects(entitlements.answer("..", "premium"), { code: "bad-customer" });
  const errors = [];
  const broken = { entitlements, unknown: "allow", customer: () => { throw new Error("session store"); } };
  await requireEntitlement("premium", broken)({}, {}, (error) => errors.push(error));
  assert.match(String(errors[0]), /session store/);
});
