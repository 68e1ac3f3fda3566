import { CustomerSession, PurchaseSync } from "@tideover/client";
import { nodeVerifier } from "@tideover/node";
import assert from "node:assert/strict";
import { test } from "node:test";
import { begin, fakeFetch, passKeys, problem, reply, snapshot } from "./support/server.mjs";

/** A store library like react-native-iap 14: it hands over again what is not finished. */
function library(purchases = []) {
  const finished = [];
  const listeners = new Set();
  return {
    finished,
    listeners,
    buy: (purchase) => {
      purchases.push(purchase);
      listeners.forEach((listener) => listener(purchase));
    },
    getAvailablePurchases: async () => [...purchases],
    finishTransaction: async ({ purchase, isConsumable }) => {
      finished.push(isConsumable ? `${purchase.productId} (used up)` : purchase.productId);
    },
    purchaseUpdatedListener: (listener) => {
      listeners.add(listener);
      return { remove: () => listeners.delete(listener) };
    },
  };
}

function setUp(verdict, { purchases, world = {}, ...options } = {}) {
  const store = library(purchases);
  const { fetch, requests } = fakeFetch((request) => {
    if (world.isOffline) throw new TypeError("fetch failed");
    if (request.url.pathname.endsWith("/pass-keys")) return reply(200, { keys: passKeys });
    const items = (request.body?.purchases ?? []).map((purchase, index) => {
      const found = verdict(purchase, requests.length, store.finished);
      return typeof found === "string" ? { kind: "purchase", index, verdict: found } : found;
    });
    return items.find((item) => item?.status) ?? reply(200, { ...snapshot(), items, drift: [] });
  });
  const session = new CustomerSession({
    url: "https://billing.example.com", app: "cards", key: "pk_1", customer: "anna", fetch, attempts: 1,
    clock: () => begin, verifier: nodeVerifier,
  });
  const errors = [];
  const sync = new PurchaseSync(session, store, { onError: (error) => errors.push(error), ...options });
  const presented = () => requests.filter(({ method }) => method === "POST").map(({ body }) => body);
  return { store, session, sync, errors, presented };
}

const bought = (productId, more = {}) => ({ productId, purchaseToken: "eyJ", store: "apple", ...more });

test("a purchase is finished only after the server has stored it", async () => {
  let finishedBefore;
  const { store, sync, session } = setUp((_, __, finished) => {
    finishedBefore = [...finished];
    return "accepted";
  });
  await sync.start();
  store.buy(bought("monthly"));
  await sync.flush();
  assert.deepEqual(finishedBefore, []);
  assert.deepEqual(store.finished, ["monthly"]);
  assert.equal(session.answer("premium").status, "granted");
  sync.stop();
});

test("purchases are sent unchanged", async () => {
  const purchase = bought("monthly", { quantity: 1, expirationDateIOS: 5, renewalInfoIOS: { willAutoRenew: true } });
  const { sync, presented } = setUp(() => "accepted", { purchases: [purchase] });
  await sync.start();
  assert.deepEqual(presented(), [{ purchases: [purchase] }]);
  sync.stop();
});

for (const verdict of ["refused", "unasked", "failed"]) {
  test(`a purchase that is ${verdict} is not finished`, async () => {
    const { store, sync } = setUp(() => verdict, { purchases: [bought("monthly")] });
    await sync.start();
    assert.deepEqual(store.finished, []);
    sync.stop();
  });
}

for (const [name, answer] of [
  ["cannot be reached", () => { throw new TypeError("fetch failed"); }],
  ["stored only a part", () => problem(503, "storage-unavailable")],
]) {
  test(`while the server ${name}, no purchase is finished and all are presented again`, async () => {
    let isBroken = true;
    const { store, sync, errors } = setUp(() => (isBroken ? answer() : "accepted"));
    await sync.start();
    store.buy(bought("monthly"));
    await sync.flush();
    assert.deepEqual(store.finished, []);
    assert.equal(errors.length, 1);
    isBroken = false;
    await sync.flush();
    assert.deepEqual(store.finished, ["monthly"]);
    sync.stop();
  });
}

for (const [name, set] of [
  ["the server cannot be reached about a store without purchases", (world) => { world.isOffline = true; }],
  ["the store cannot be read", (world) => { world.isClosed = true; }],
]) {
  test(`while ${name}, it is tried again less and less often`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const world = {};
    const { store, sync, session, errors, presented } = setUp(() => "accepted", { world });
    const { getAvailablePurchases } = store;
    store.getAvailablePurchases = async () => {
      if (world.isClosed) throw new Error("the store is closed");
      return getAvailablePurchases();
    };
    const passes = async (milliseconds) => {
      t.mock.timers.tick(milliseconds);
      for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
      return errors.length;
    };
    set(world);
    await sync.start();
    assert.equal(errors.length, 1);
    assert.deepEqual([await passes(15_000), await passes(15_000), await passes(15_000)], [2, 2, 3]);
    Object.assign(world, { isOffline: false, isClosed: false });
    await passes(60_000);
    assert.deepEqual(presented().at(-1), { nothing: true });
    assert.equal(session.answer("premium").status, "granted");
    const before = presented().length;
    await passes(600_000);
    assert.equal(presented().length, before);
    sync.stop();
  });
}

test("a purchase that arrives while the store cannot be read does not end the attempts", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { store, sync, presented } = setUp(() => "accepted");
  store.getAvailablePurchases = async () => { throw new Error("the store is closed"); };
  await sync.start();
  store.buy(bought("monthly"));
  await sync.flush();
  assert.deepEqual(store.finished, ["monthly"]);
  store.getAvailablePurchases = async () => [bought("yearly", { purchaseToken: "eyZ" })];
  t.mock.timers.tick(60_000);
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
  assert.deepEqual(presented().at(-1).purchases.map(({ productId }) => productId), ["yearly"]);
  sync.stop();
});

test("a purchase without an answer from Google Play is presented again, the others are finished", async () => {
  const { store, sync, presented } = setUp(
    ({ productId }, count) => (productId === "yearly" && count < 3 ? "unasked" : "accepted"),
    { purchases: [bought("monthly"), bought("yearly")] });
  await sync.start();
  assert.deepEqual(store.finished, ["monthly"]);
  await sync.flush();
  assert.deepEqual(presented().at(-1).purchases.map(({ productId }) => productId), ["yearly"]);
  sync.stop();
});

test("a pending purchase is presented and not finished", async () => {
  const { store, sync, presented } = setUp(
    () => "accepted", { purchases: [bought("monthly", { purchaseState: "pending" })] });
  await sync.start();
  assert.equal(presented().length, 1);
  assert.deepEqual(store.finished, []);
  sync.stop();
});

test("an app that ends before the finish presents the purchase at the next start", async () => {
  const store = library();
  const first = setUp(() => "accepted");
  const broken = { ...store, finishTransaction: async () => { throw new Error("the app was ended"); } };
  const sync = new PurchaseSync(first.session, broken);
  await sync.start();
  store.buy(bought("monthly"));
  await sync.flush();
  sync.stop();
  const second = new PurchaseSync(first.session, store);
  await second.start();
  assert.deepEqual(store.finished, ["monthly"]);
  second.stop();
});

test("a consumable is finished as one, and an acknowledged Android purchase is not finished", async () => {
  const { store, sync } = setUp(() => "accepted", {
    purchases: [bought("coins"), bought("monthly", { isAcknowledgedAndroid: true })],
    isConsumable: ({ productId }) => productId === "coins",
  });
  await sync.start();
  assert.deepEqual(store.finished, ["coins (used up)"]);
  sync.stop();
});

test("an empty store is reported, so that the answer is confirmed", async () => {
  const { sync, presented } = setUp(() => "accepted");
  await sync.start();
  assert.deepEqual(presented(), [{ nothing: true }]);
  sync.stop();
});

test("a purchase made while another is presented is presented next", async () => {
  const { store, sync, presented } = setUp(({ productId }) => {
    if (productId === "monthly") queueMicrotask(() => store.buy(bought("coins")));
    return "accepted";
  });
  await sync.start();
  store.buy(bought("monthly"));
  await sync.flush();
  assert.deepEqual(store.finished, ["monthly", "coins"]);
  assert.equal(presented().length, 3);
  sync.stop();
});

test("after stop no purchase is received", async () => {
  const { store, sync } = setUp(() => "accepted");
  await sync.start();
  sync.stop();
  assert.equal(store.listeners.size, 0);
});

test("after stop nothing that failed is presented again", async () => {
  let isBroken = true;
  const { store, sync, presented } = setUp(() => {
    if (isBroken) throw new TypeError("fetch failed");
    return "accepted";
  });
  await sync.start();
  store.buy(bought("monthly"));
  await sync.flush();
  sync.stop();
  isBroken = false;
  const before = presented().length;
  await sync.flush();
  assert.equal(presented().length, before);
  await sync.start();
  assert.deepEqual(store.finished, ["monthly"]);
  sync.stop();
});

test("a purchase that waits and that a restore finds is presented once", async () => {
  let isBroken = true;
  const { store, sync, presented } = setUp(() => {
    if (isBroken) throw new TypeError("fetch failed");
    return "accepted";
  });
  await sync.start();
  store.buy(bought("monthly"));
  await sync.flush();
  isBroken = false;
  await sync.restore();
  assert.equal(presented().at(-1).purchases.length, 1);
  assert.deepEqual(store.finished, ["monthly"]);
  sync.stop();
});

test("a purchase after a sign-out is not presented for the former customer", async () => {
  const { store, session, sync, presented } = setUp(() => "accepted");
  await sync.start();
  await session.forget();
  const before = presented().length;
  store.buy(bought("monthly"));
  await sync.flush();
  assert.equal(presented().length, before);
  assert.deepEqual([store.finished, store.listeners.size], [[], 0]);
  await assert.rejects(session.reconcile([]), { code: "signed-out", isTransient: false });
});

test("a purchase is finished although the app's own function fails", async () => {
  const mistake = new Error("a mistake in the app");
  const { store, sync, errors, presented } = setUp(
    () => "accepted", { purchases: [bought("monthly")], onReconciled: () => { throw mistake; } });
  await sync.start();
  assert.deepEqual([store.finished, errors, presented().length], [["monthly"], [mistake], 1]);
  sync.stop();
});
