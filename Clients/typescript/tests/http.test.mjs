import { TideoverAPI, TideoverError } from "@tideover/client";
import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeFetch, problem, reply, snapshot } from "./support/server.mjs";

function client(route, more = {}) {
  const { fetch, requests } = fakeFetch(route);
  const pauses = [];
  const api = new TideoverAPI({
    url: "https://billing.example.com/", app: "cards", key: "pk_1", fetch, random: () => 0.5,
    sleep: async (pause) => void pauses.push(pause), ...more,
  });
  return { api, requests, pauses };
}

const failing = (error) => (_, count) => {
  if (count < 3) throw error;
  return reply(200, snapshot());
};

test("a request contains the app, the customer, the environment and the key", async () => {
  const { api, requests } = client(() => reply(200, snapshot(), { ETag: 'W/"1-a"' }), { environment: "sandbox" });
  const { etag } = await api.snapshot("u/1 ä");
  assert.equal(etag, 'W/"1-a"');
  const [{ url, headers, redirect }] = requests;
  assert.equal(url.href, "https://billing.example.com/v1/apps/cards/customers/u%2F1%20%C3%A4?environment=sandbox");
  assert.equal(headers.Authorization, "Bearer pk_1");
  assert.equal(redirect, "manual");
});

test("the customer's language is sent", async () => {
  const { api, requests } = client(() => reply(200, snapshot()), { language: "de-AT, en;q=0.5" });
  await api.snapshot("anna", 'W/"1-a"');
  assert.equal(requests[0].headers["Accept-Language"], "de-AT, en;q=0.5");
  const plain = client(() => reply(200, snapshot()));
  await plain.api.snapshot("anna");
  assert.ok(!("Accept-Language" in plain.requests[0].headers));
});

test("a cached answer is not read again", async () => {
  const { api, requests } = client(() => reply(304));
  assert.equal(await api.snapshot("anna", 'W/"1-a"'), undefined);
  assert.equal(requests[0].headers["If-None-Match"], 'W/"1-a"');
});

for (const [name, first] of [
  ["a lost connection", () => { throw new TypeError("fetch failed"); }],
  ["429", () => problem(429, "too-many-requests")],
  ["500", () => problem(500, "internal")],
  ["503", () => problem(503, "storage-unavailable")],
  ["a proxy's 502", () => reply(502, "<html>")],
]) {
  test(`${name} is retried with growing delays`, async () => {
    const { api, pauses } = client((_, count) => (count < 3 ? first() : reply(200, snapshot())));
    assert.equal((await api.snapshot("anna")).snapshot.customerVersion, 1);
    assert.deepEqual(pauses, [250, 500]);
  });
}

test("a delay is at least the server's Retry-After", async () => {
  const { api, pauses } = client(
    (_, count) => (count < 2 ? problem(503, "overloaded", { "Retry-After": "7" }) : reply(200, snapshot())));
  await api.snapshot("anna");
  assert.deepEqual(pauses, [7250]);
});

for (const seconds of ["31", "1000000"]) {
  test(`a Retry-After of ${seconds} seconds, above half a minute, ends the retries`, async () => {
    const { api, requests } = client(
      () => problem(429, "too-many-changes", { "Retry-After": seconds }));
    const retryAfter = Number(seconds) * 1000;
    await assert.rejects(api.snapshot("anna"), { code: "too-many-changes", retryAfter });
    assert.equal(requests.length, 1);
  });
}

test("the number of attempts is limited", async () => {
  const { api, requests } = client(failing(new TypeError("fetch failed")), { attempts: 2 });
  await assert.rejects(api.snapshot("anna"), { name: "TideoverError", code: "network" });
  assert.equal(requests.length, 2);
});

for (const status of [301, 400, 401, 403, 404, 413]) {
  test(`${status} is not retried`, async () => {
    const { api, requests } = client(() => problem(status, "some-problem"));
    await assert.rejects(api.snapshot("anna"), (error) => error instanceof TideoverError && error.status === status);
    assert.equal(requests.length, 1);
  });
}

for (const prefix of ["/problems/", "https://billing.example.com/problems/", "urn:tideover:problem:"]) {
  test(`the code of a problem is the text after ${prefix}`, async () => {
    const { api } = client(() => reply(403, { type: `${prefix}wrong-app`, title: "", status: 403 }));
    await assert.rejects(api.snapshot("anna"), { name: "TideoverError", code: "wrong-app" });
  });
}

test("an attempt ends with its timeout, also while the body arrives", async () => {
  const never = { status: 200, headers: new Headers(), text: () => new Promise(() => {}) };
  const { api, requests } = client(() => never, { timeout: 20, attempts: 2 });
  await assert.rejects(api.snapshot("anna"), { code: "timeout" });
  assert.ok(requests[0].signal.aborted);
  assert.equal(requests.length, 2);
});

test("an id that no URL can contain is refused before anything is sent", async () => {
  const { api, requests, pauses } = client(() => reply(200, snapshot()));
  for (const id of [".", "..", "", undefined, null]) {
    for (const ask of [
      () => api.snapshot(id), () => api.reconcile(id, { nothing: true }), () => api.timeline(id),
      () => api.explain(id), () => api.reportPrompt(id, { id: "p", kind: "soft" }),
    ]) {
      await assert.rejects(ask(), { code: "bad-customer", status: 400, isTransient: false });
    }
  }
  assert.deepEqual([requests, pauses], [[], []]);
  await api.snapshot("a.b...");
  assert.equal(requests[0].url.pathname, "/v1/apps/cards/customers/a.b...");
});

test("a response that is not JSON is refused", async () => {
  const { api } = client(() => reply(200, "<html>hello"));
  await assert.rejects(api.snapshot("anna"), { code: "malformed", status: 200 });
});

test("purchases beyond one request's limit are sent in several with continuous numbers", async () => {
  const { api, requests } = client(({ body }) => reply(200, {
    ...snapshot(), drift: [],
    items: (body.purchases ?? []).map((_, index) => ({ kind: "purchase", index, verdict: "accepted" })),
  }));
  const purchases = Array.from({ length: 35 }, (_, index) => ({ productId: `p${index}` }));
  const answer = await api.reconcile("anna", { purchases });
  assert.deepEqual(requests.map(({ body }) => body.purchases.length), [16, 16, 3]);
  assert.deepEqual(answer.items.map(({ index }) => index), purchases.map((_, index) => index));
});

test("what a device concluded is sent with the last of its purchases", async () => {
  const { api, requests } = client(() => reply(200, { ...snapshot(), items: [], drift: [] }));
  const device = { entitlements: { premium: { access: true } } };
  const sent = async (count) => {
    requests.length = 0;
    const purchases = Array.from({ length: count }, (_, index) => ({ productId: `p${index}` }));
    await api.reconcile("anna", { purchases, device, renewalInfos: ["a"] });
    return requests.map(({ body }) => [body.purchases?.length, "device" in body, "renewalInfos" in body]);
  };
  assert.deepEqual(await sent(0), [[undefined, true, true]]);
  assert.deepEqual(await sent(16), [[16, true, true]]);
  assert.deepEqual(await sent(17), [[16, false, true], [1, true, false]]);
  assert.deepEqual(await sent(33), [[16, false, true], [16, false, false], [1, true, false]]);
});

test("the change feed is read page by page", async () => {
  const pages = {
    null: { events: [{ id: "1" }], next: "1", more: true },
    1: { events: [{ id: "2" }], next: "2", more: false },
  };
  const { api } = client(({ url }) => reply(200, pages[url.searchParams.get("after")]));
  const ids = [];
  for await (const { id } of api.eventsAfter()) ids.push(id);
  assert.deepEqual(ids, ["1", "2"]);
});
