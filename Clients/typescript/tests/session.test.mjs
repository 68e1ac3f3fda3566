import { CustomerSession } from "@tideover/client";
import { nodeVerifier } from "@tideover/node";
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  begin, day, entitlement, fakeFetch, memoryStore, passKeys, problem, reply, snapshot,
} from "./support/server.mjs";

/**
 * A session beside a server: `world` has the clock, what the server answers, and whether it is
 * there.
 */
function start(more = {}) {
  const world = { now: begin, isOffline: false, answer: snapshot(), keys: passKeys, ...more.world };
  const { fetch, requests } = fakeFetch(({ url, headers, method }) => {
    if (world.isOffline) throw new TypeError("fetch failed");
    if (url.pathname.endsWith("/pass-keys")) return reply(200, { keys: world.keys });
    if (method === "POST") return reply(200, { ...world.answer, items: [], drift: [] });
    const etag = `W/"${world.answer.customerVersion}"`;
    return headers["If-None-Match"] === etag ? reply(304) : reply(200, world.answer, { ETag: etag });
  });
  const storage = more.storage ?? memoryStore();
  const options = {
    url: "https://billing.example.com", app: "cards", key: "pk_1", customer: "anna", fetch, attempts: 1,
    storage, clock: () => world.now, verifier: nodeVerifier, ...more.options,
  };
  const open = (changes = {}) => new CustomerSession({ ...options, ...changes });
  return { world, requests, storage, open, session: open() };
}

const status = (session, name = "premium") => {
  const answer = session.answer(name);
  return answer.status === "unknown" ? `unknown: ${answer.because}` : `${answer.status} by ${answer.source}`;
};

test("access is not denied before the first answer", async () => {
  const { session } = start();
  assert.equal(status(session), "unknown: loading");
  await session.refresh();
  assert.equal(status(session), "granted by server");
  assert.equal(session.passStatus, "believed");
});

test("a start offline gives an unknown answer with its reason", async () => {
  const { session } = start({ world: { isOffline: true } });
  assert.equal(await session.refresh(), undefined);
  assert.equal(status(session), "unknown: offline");
  assert.equal(session.lastError.code, "network");
});

test("after a restart offline the pass answers until its end", async () => {
  const { session, open, world } = start();
  await session.refresh();
  world.isOffline = true;
  world.now = begin + 7 * day - 1;
  const later = open();
  await later.refresh();
  assert.equal(status(later), "granted by pass");
  world.now += 1;
  assert.equal(status(later), "unknown: offline");
});

test("the last answer is valid for a day offline, then the pass answers", async () => {
  const { session, world } = start();
  await session.refresh();
  world.isOffline = true;
  world.now = begin + day - 1;
  assert.equal(status(session), "granted by server");
  world.now += 1;
  assert.equal(status(session), "granted by pass");
  assert.equal(session.snapshot, undefined);
});

test("an answer ends at its announced change, and the pass presumes a renewal", async () => {
  const end = new Date(begin + day / 2).toISOString();
  const { session, world } = start({
    world: { answer: snapshot({ premium: { accessUntil: end, nextChange: end } }) },
  });
  await session.refresh();
  assert.equal(session.untilNextChange, day / 2);
  world.now = begin + day / 2;
  const answer = session.answer("premium");
  assert.equal(answer.status, "granted");
  assert.ok(answer.isPresumed);
});

test("a clock that is set back restores no access", async () => {
  const { session, open, world } = start();
  await session.refresh();
  world.isOffline = true;
  world.now = begin + 8 * day;
  await session.refresh();
  assert.equal(status(session), "unknown: offline");
  world.now = begin + day;
  const later = open();
  await later.refresh();
  assert.ok(later.isClockBehind);
  assert.equal(status(later), "unknown: offline");
});

test("a clock that lags by hours ends no prompt and no answer of the server early", async () => {
  const until = new Date(begin + 5 * 3_600_000).toISOString();
  const answer = snapshot({
    premium: { state: "grace", accessUntil: until, nextChange: until },
    prompt: { kind: "soft", entitlement: "premium", key: "grace.soft", arguments: { until } },
  });
  const { session, world } = start({ world: { answer, now: begin - 10 * 3_600_000 } });
  for (const refresh of ["first", "unchanged"]) {
    await session.refresh();
    assert.deepEqual([status(session), session.prompt?.kind], ["granted by server", "soft"], refresh);
    world.now += 3_600_000;
  }
  world.now = begin + 5 * 3_600_000;
  assert.deepEqual([status(session), session.prompt], ["granted by pass", undefined]);
});

test("an unchanged answer grows older on a device whose clock lags", async () => {
  const endsAt = new Date(begin + 2.5 * day).toISOString();
  const cancelBy = new Date(begin + 1.5 * day).toISOString();
  const trial = { startedAt: new Date(begin).toISOString(), endsAt, cancelBy, daysLeft: 3, urgent: false };
  const answer = snapshot({ premium: { trial } });
  const { session, world } = start({ world: { answer, now: begin - 20 * 3_600_000 } });
  for (const daysLeft of [3, 3, 2]) {
    await session.refresh();
    assert.equal(session.stated("premium")?.trial.daysLeft, daysLeft);
    world.now += 8 * 3_600_000;
  }
});

test("a server's response makes a clock that was ahead usable again", async () => {
  const { session, world } = start();
  await session.refresh();
  world.isOffline = true;
  world.now = begin + 400 * day;
  await session.refresh();
  world.isOffline = false;
  world.now = begin + day;
  await session.refresh();
  assert.ok(!session.isClockBehind);
  assert.equal(status(session), "granted by server");
});

test("a pass older than the answer is ignored after it", async () => {
  const { session, world } = start();
  await session.refresh();
  world.answer = snapshot({
    version: 2, pass: null, premium: { state: "expired", reason: "refunded", access: false, nextChange: null },
  });
  await session.reconcile([{ productId: "monthly" }]);
  assert.equal(status(session), "denied by server");
  world.now = begin + 2 * day;
  world.isOffline = true;
  assert.equal(status(session), "unknown: offline");
});

test("a platform without Ed25519 accepts no pass and reports it", async () => {
  const { open, world } = start();
  const subtle = globalThis.crypto?.subtle;
  const importKey = subtle && Object.getPrototypeOf(subtle).importKey;
  if (subtle) Object.getPrototypeOf(subtle).importKey = () => Promise.reject(new Error("NotSupported"));
  try {
    const session = open({ verifier: undefined });
    await session.refresh();
    assert.equal(session.passStatus, "unverifiable");
    assert.equal(status(session), "granted by server");
    world.now += 2 * day;
    world.isOffline = true;
    assert.equal(status(session), "unknown: offline");
  } finally {
    if (subtle) Object.getPrototypeOf(subtle).importKey = importKey;
  }
});

test("a forged pass in the storage is refused", async () => {
  const { session, open, storage, world } = start({ options: { passKeys } });
  await session.refresh();
  const [[name, text]] = storage.entries;
  const record = JSON.parse(text);
  const [header, payload, signature] = record.pass.split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url"));
  claims.notAfter = "2036-01-01T00:00:00Z";
  record.pass = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.${signature}`;
  storage.entries.set(name, JSON.stringify(record));
  world.isOffline = true;
  const later = open();
  await later.refresh();
  assert.equal(later.passStatus, "badSignature");
  assert.equal(status(later), "unknown: offline");
});

test("a pass of another customer in the storage is refused", async () => {
  const { session, open, storage, world } = start();
  await session.refresh();
  const [[name, text]] = storage.entries;
  storage.entries.set(name.replace("anna", "ben"), text);
  world.isOffline = true;
  const other = open({ customer: "ben" });
  await other.refresh();
  assert.equal(other.passStatus, "wrongCustomer");
  assert.equal(status(other), "unknown: offline");
});

for (const text of ["{", "null", "[]", '{"pass":1}', "x".repeat(200_000)]) {
  test(`storage with ${text.slice(0, 12)} counts as empty`, async () => {
    const { open, storage, world } = start();
    storage.entries.set("tideover/cards/production/anna", text);
    world.isOffline = true;
    const session = open();
    await session.refresh();
    assert.equal(status(session), "unknown: offline");
  });
}

test("a storage failure is reported and does not affect access", async () => {
  const broken = { ...memoryStore(), setItem: async () => { throw new Error("disk full"); } };
  const { session } = start({ storage: broken });
  await session.refresh();
  assert.equal(status(session), "granted by server");
  assert.match(String(session.lastError), /disk full/);
  assert.equal(session.isUnanswered, false);
});

test("a clock that is set back and stays there does not keep a pass for ever", async () => {
  let uptime = 0;
  const { session, open, world } = start({ options: { uptime: () => uptime } });
  await session.refresh();
  world.isOffline = true;
  world.now = begin - 30 * day;
  let later = open();
  for (const days of [3, 3]) {
    await later.refresh();
    assert.equal(status(later), "granted by pass");
    assert.equal(later.isClockBehind, true);
    uptime += days * day;
    await later.refresh();
    uptime += 5 * 3_600_000;
    later = open();
  }
  await later.refresh();
  uptime += day;
  assert.equal(status(later), "unknown: offline");
  world.isOffline = false;
  world.now = begin;
  await later.refresh();
  assert.equal(status(later), "granted by server");
});

test("an answer ends with its time while the clock is set back and the server is unreachable", async () => {
  let uptime = 0;
  const end = new Date(begin + 3_600_000).toISOString();
  const { session, world } = start({ options: { uptime: () => uptime } });
  world.answer = snapshot({ pass: null, premium: { willRenew: false, accessUntil: end, nextChange: end } });
  await session.refresh();
  world.isOffline = true;
  world.now = begin - day;
  uptime += 3_600_000 - 1;
  assert.equal(status(session), "granted by server");
  assert.equal(session.untilNextChange, 1);
  uptime += 1;
  assert.equal(status(session), "unknown: offline");
});

test("an answer that is asked for again does not grow older by the time before it", async () => {
  let uptime = 0;
  const end = new Date(begin + 10 * 3_600_000).toISOString();
  const { session, world } = start({ options: { uptime: () => uptime } });
  world.answer = snapshot({ premium: { willRenew: false, accessUntil: end, nextChange: end } });
  world.now = begin - 2 * day;
  const left = [];
  for (const hours of [0, 4, 8]) {
    uptime = hours * 3_600_000;
    world.answer = { ...world.answer, asOf: new Date(begin + uptime).toISOString() };
    await session.refresh();
    assert.equal(status(session), "granted by server");
    left.push(session.untilNextChange / 3_600_000);
  }
  assert.deepEqual(left, [10, 6, 2]);
});

test("a session that cannot clear its storage answers nothing after a sign-out", async () => {
  const stuck = { ...memoryStore(), removeItem: async () => { throw new Error("the disk is stuck"); } };
  const { session } = start({ storage: stuck });
  await session.refresh();
  let calls = 0;
  session.subscribe(() => { calls += 1; });
  await assert.rejects(session.forget(), /stuck/);
  assert.equal(calls, 1);
  assert.match(status(session), /^unknown/);
});

test("a verifier that throws costs the pass, and no answer", async () => {
  const verifier = () => { throw new Error("no hash"); };
  const { session } = start({ options: { verifier } });
  await session.refresh();
  assert.equal(status(session), "granted by server");
  assert.equal(session.passStatus, "unverifiable");
  assert.equal(session.lastError, undefined);
  assert.deepEqual((await session.reconcile([{ productId: "monthly" }])).items, []);
});

/** A session whose storage has a pass of an earlier start, and cannot be read while `isLocked`. */
async function startLocked() {
  const entries = new Map();
  const setUp = start({ storage: memoryStore(entries) });
  await setUp.session.refresh();
  const storage = { ...memoryStore(entries), isLocked: true };
  const { getItem } = storage;
  storage.getItem = async (name) => {
    if (storage.isLocked) throw new Error("the storage is locked");
    return getItem(name);
  };
  return { ...setUp, entries, storage, session: setUp.open({ storage }) };
}

test("a session whose storage cannot be read asks the server, presents purchases and ends", async () => {
  const { session, entries } = await startLocked();
  await session.refresh();
  assert.equal(status(session), "granted by server");
  assert.match(String(session.lastError), /locked/);
  const { items } = await session.reconcile([{ productId: "monthly" }]);
  assert.deepEqual(items, []);
  await session.forget();
  assert.equal(entries.size, 0);
});

test("storage that cannot be read is not replaced by less, and is read again", async () => {
  const { session, entries, storage, world } = await startLocked();
  const [before] = entries.values();
  world.isOffline = true;
  await session.refresh();
  assert.equal(status(session), "unknown: offline");
  assert.deepEqual([...entries.values()], [before]);
  storage.isLocked = false;
  await session.refresh();
  assert.equal(status(session), "granted by pass");
});

test("a pass in storage that is read late does not answer after a newer answer", async () => {
  const { session, entries, storage, world } = await startLocked();
  world.answer = snapshot({
    version: 2, pass: null, premium: { state: "expired", reason: "refunded", access: false, nextChange: null },
  });
  await session.reconcile([{ productId: "monthly" }]);
  storage.isLocked = false;
  world.isOffline = true;
  await session.refresh();
  assert.equal(status(session), "denied by server");
  world.now = begin + 2 * day;
  assert.equal(status(session), "unknown: offline");
  assert.equal(JSON.parse([...entries.values()][0]).pass, undefined);
});

test("requests have the tag, except for a new pass at half of its life", async () => {
  const { session, requests, world } = start();
  await session.refresh();
  await session.refresh();
  world.now = begin + 3.5 * day;
  world.answer = snapshot({ at: world.now });
  await session.refresh();
  const tags = requests.filter(({ url }) => url.pathname.endsWith("/anna")).map(({ headers }) => headers["If-None-Match"]);
  assert.deepEqual(tags, [undefined, 'W/"1"', undefined]);
  world.isOffline = true;
  world.now = begin + 10 * day;
  assert.equal(status(session), "granted by pass");
});

test("an unknown key of a pass is fetched", async () => {
  const { session, world } = start();
  await session.refresh();
  const asked = () => session.passStatus;
  world.keys = [];
  const { open } = start({ world: { keys: [] } });
  const other = open();
  await other.refresh();
  assert.equal(other.passStatus, "unknownKey");
  assert.equal(asked(), "believed");
});

test("an overtaken answer is dropped", async () => {
  const { world, open } = start();
  let release;
  const gate = new Promise((resolve) => { release = resolve; });
  const slow = snapshot({ version: 1, premium: { access: false, state: "expired" } });
  const session = open({
    fetch: async (url, init) => {
      if (init.method === "POST") return reply(200, { ...snapshot({ version: 2 }), items: [], drift: [] });
      if (url.includes("pass-keys")) return reply(200, { keys: world.keys });
      await gate;
      return reply(200, slow);
    },
  });
  const refreshed = session.refresh();
  await session.load();
  await session.reconcile([{ productId: "monthly" }]);
  release();
  await refreshed;
  assert.equal(status(session), "granted by server");
});

test("an older answer of a request that began later, but before the newer answer, is dropped", async () => {
  const { world, open } = start();
  const expired = { access: false, state: "expired" };
  const answers = { POST: snapshot({ version: 6 }), GET: snapshot({ version: 5, premium: expired }) };
  const release = {};
  const held = (method) => new Promise((resolve) => { release[method] = resolve; });
  const gates = { POST: held("POST"), GET: held("GET") };
  const session = open({
    fetch: async (url, { method }) => {
      if (url.includes("pass-keys")) return reply(200, { keys: world.keys });
      await gates[method];
      return reply(200, { ...answers[method], items: [], drift: [] });
    },
  });
  await session.load();
  const reconciled = session.reconcile([{ productId: "monthly" }]);
  await session.load();
  const refreshed = session.refresh();
  release.POST();
  await reconciled;
  release.GET();
  await refreshed;
  assert.equal(status(session), "granted by server");
  await session.refresh();
  assert.equal(status(session), "denied by server", "a restored server");
});

test("an entitlement outside of the catalogue is neither granted nor denied", async () => {
  const { session } = start();
  await session.refresh();
  assert.equal(status(session, "gold"), "unknown: unnamed");
});

test("an answer stays the same object until it changes and calls the listeners", async () => {
  const { session, world } = start();
  await session.refresh();
  const answer = session.answer("premium");
  await session.refresh();
  assert.equal(session.answer("premium"), answer);
  let calls = 0;
  const cancel = session.subscribe(() => { calls += 1; });
  world.answer = snapshot({ version: 2, premium: { state: "grace" } });
  await session.refresh();
  assert.ok(calls > 0);
  assert.notEqual(session.answer("premium"), answer);
  cancel();
});

test("a session stores nothing after a sign-out", async () => {
  const { session, storage, requests } = start();
  await session.refresh();
  await session.forget();
  assert.equal(storage.entries.size, 0);
  const before = requests.length;
  await session.refresh();
  assert.equal(requests.length, before);
  assert.equal(storage.entries.size, 0);
  assert.equal(status(session), "unknown: loading");
});

test("a request that fails after a sign-out stores nothing", async () => {
  let fail;
  const gate = new Promise((_, reject) => { fail = reject; });
  const { storage, open, requests } = start();
  const session = open({ fetch: () => gate });
  const refreshed = session.refresh();
  await session.forget();
  fail(new TypeError("fetch failed"));
  await refreshed;
  assert.equal(storage.entries.size, 0);
  assert.equal(requests.length, 0);
});

for (const from of ["the server", "storage"]) {
  test(`a pass of ${from} that is verified after a sign-out does not answer`, async () => {
    const { session: earlier, open, world } = start();
    await earlier.refresh();
    world.isOffline = from === "storage";
    let verify;
    const verified = new Promise((resolve) => { verify = () => resolve(true); });
    let reach;
    const reached = new Promise((resolve) => { reach = resolve; });
    const verifier = () => { reach(); return verified; };
    const session = open({ verifier, ...(from === "storage" ? {} : { storage: memoryStore() }) });
    const refreshed = session.refresh();
    await reached;
    const forgotten = session.forget();
    verify();
    await Promise.all([forgotten, refreshed]);
    assert.match(status(session), /^unknown/);
    assert.equal(session.passStatus, "none");
  });
}

test("a snapshot from the server's rendering answers at once", () => {
  const { open } = start();
  assert.equal(status(open({ initial: snapshot() })), "granted by server");
});

test("a snapshot to begin with answers no longer than its time, however late it is given", async () => {
  const nextChange = new Date(begin + 3_600_000).toISOString();
  const { open, world } = start({ world: { isOffline: true } });
  for (const [initial, last] of [
    [snapshot({ premium: { nextChange } }), 3_600_000], [snapshot({ premium: { nextChange: null } }), day],
  ]) {
    world.now = begin + last - 1;
    assert.equal(status(open({ initial })), "granted by server");
    world.now = begin + last;
    const session = open({ initial });
    assert.equal(status(session), "unknown: loading");
    await session.refresh();
    assert.equal(status(session), "unknown: offline");
  }
});

test("an empty list of purchases is reported as empty", async () => {
  const { session, requests } = start();
  await session.reconcile([]);
  assert.deepEqual(requests.find(({ method }) => method === "POST").body, { nothing: true });
});

test("a problem of the server reaches the caller of reconcile", async () => {
  const { open } = start();
  const session = open({ fetch: async () => problem(401, "unauthorised") });
  await assert.rejects(session.reconcile([]), { code: "unauthorised", status: 401 });
});

test("an entitlement equals the server's", async () => {
  const { session } = start();
  await session.refresh();
  assert.deepEqual(session.answer("premium").entitlement, entitlement());
});

for (const [name, body] of [
  ["an empty object", {}],
  ["an error", { error: "maintenance" }],
  ["no entitlements", { ...snapshot({ version: 2 }), entitlements: null }],
  ["an entitlement that is null", { ...snapshot({ version: 2 }), entitlements: { premium: null } }],
]) {
  test(`a response with ${name} replaces no answer`, async () => {
    const { session, world } = start();
    await session.refresh();
    world.answer = body;
    assert.equal(await session.refresh(), undefined);
    assert.equal(session.lastError.code, "malformed");
    await assert.rejects(session.reconcile([]), { code: "malformed", status: 200 });
    assert.equal(status(session), "granted by server");
    assert.ok(session.untilNextChange > 0);
  });
}

for (const prompt of [null, undefined]) {
  test(`an answer whose prompt is ${prompt} has no prompt to show`, async () => {
    const { session, world } = start();
    world.answer = { ...snapshot(), prompt };
    await session.refresh();
    assert.deepEqual(session.prompt, { kind: "none" });
    await session.reconcile([]);
    assert.deepEqual(session.prompt, { kind: "none" });
    assert.equal(status(session), "granted by server");
  });
}

test("a prompt and a trial end with their time, also while the server is unreachable", async () => {
  const iso = (at) => new Date(at).toISOString();
  const trial = { startedAt: iso(begin), endsAt: iso(begin + 7200_000), cancelBy: iso(begin), daysLeft: 1, urgent: true };
  const prompt = { kind: "soft", entitlement: "premium", key: "grace.soft", arguments: { until: iso(begin + 3600_000) } };
  const { session, world } = start({
    world: { answer: snapshot({ prompt, premium: { state: "grace", trial, nextChange: iso(begin + 7200_000) } }) },
  });
  await session.refresh();
  world.isOffline = true;
  const seen = (at) => {
    world.now = begin + at;
    return [session.prompt?.kind, session.stated("premium")?.trial?.daysLeft];
  };
  assert.deepEqual(seen(3599_999), ["soft", 1]);
  assert.deepEqual(seen(3600_000), [undefined, 1]);
  assert.deepEqual(seen(7200_000), [undefined, undefined]);
});

test("the days of a trial are counted also while the server is unreachable", async () => {
  const hour = 3600_000;
  const iso = (at) => new Date(at).toISOString();
  const end = begin + 2 * day + hour;
  const trial = { startedAt: iso(end - 7 * day), endsAt: iso(end), cancelBy: iso(end - day), daysLeft: 3, urgent: false };
  const words = { key: "trial.running", arguments: {}, title: "", message: "", label: null };
  const { session, world } = start({
    world: { answer: snapshot({ premium: { trial, words, accessUntil: iso(end), nextChange: iso(end) } }) },
  });
  await session.refresh();
  world.isOffline = true;
  const seen = (at) => {
    world.now = begin + at;
    const { daysLeft, urgent } = session.stated("premium").trial;
    assert.equal(session.stated("premium"), session.stated("premium"));
    assert.deepEqual(session.answer("premium").entitlement.trial, session.stated("premium").trial);
    return [daysLeft, urgent, session.untilNextChange];
  };
  assert.deepEqual(seen(0), [3, false, hour]);
  assert.deepEqual(seen(hour - 1), [3, false, 1]);
  assert.deepEqual(seen(hour), [2, false, day]);
});

test("a trial is urgent on its last day, and not before", async () => {
  const hour = 3600_000;
  const iso = (at) => new Date(at).toISOString();
  const end = begin + day + hour;
  const trial = { startedAt: iso(end - 7 * day), endsAt: iso(end), cancelBy: iso(end - day), daysLeft: 2, urgent: false };
  const { session, world } = start({
    world: { answer: snapshot({ premium: { trial, accessUntil: iso(end), nextChange: iso(end) } }) },
  });
  await session.refresh();
  const seen = (at) => {
    world.now = begin + at;
    const { daysLeft, urgent } = session.stated("premium").trial;
    return [daysLeft, urgent, session.untilNextChange];
  };
  assert.deepEqual(seen(hour - 1), [2, false, 1]);
  assert.deepEqual(seen(hour), [1, true, day]);
  assert.deepEqual(seen(day - 1), [1, true, hour + 1]);
  assert.deepEqual(seen(0), [2, false, hour]);
});
