// What engines.test.mjs runs in each engine. It uses the language and `print`, and none of a
// platform's functions: the timers below never fire, and `fetch` is an option of each session.
import {
  answerFrom, answerOf, believe, CustomerSession, instant, promptIn, PurchaseSync, snapshotOfCustomerInfo,
  statedIn, TideoverError, verifiedClaims, webCryptoVerifier,
} from "../../client/dist/index.js";
import { accepted, snapshot, tables } from "./data.mjs";

globalThis.setTimeout = () => 0;
globalThis.clearTimeout = () => {};

/** Stands for Ed25519: these engines have none. It accepts what Node accepts. */
const verifier = (...parts) => accepted.includes(parts.map((bytes) => bytes.join()).join("|"));

const cases = {};

function merged(target, patch) {
  if (typeof patch !== "object" || patch === null) return patch;
  const result = { ...target };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}

for (const one of tables.passes.cases) {
  cases[`pass: ${one.name}`] = () => {
    const expected = { issuer: "tideover", audience: "cards", customer: "anna", environment: "production", ...one.expected };
    const claims = ({ pass, patch }) => merged(tables.passes.passes[pass], patch ?? {});
    const time = { clock: instant(one.clock), newest: instant(one.newestVerified) };
    const held = one.held && believe(claims(one.held), { ...expected, customer: claims(one.held).sub }, undefined, time);
    const found = believe(claims(one), expected, held, time);
    if (one.refused) return equal(found, one.refused);
    for (const [name, { kind, access }] of Object.entries(one.answers)) {
      const answer = answerOf(found, name, time);
      equal(answer.kind, kind);
      equal(answer.entitlement?.access ?? false, access);
    }
  };
}

for (const { name, document, verdict } of tables["signed-passes"].cases) {
  cases[`signed pass: ${name}`] = async () => {
    const found = await verifiedClaims(document, tables["signed-passes"].keys, verifier);
    equal(typeof found === "string" ? found : "accepted", verdict);
  };
}

for (const { name, entitlement, expect } of tables.snapshots.cases) {
  cases[`snapshot: ${name}`] = () => equal(answerFrom(entitlement, "server").status, expect.status);
}

for (const one of tables.prompts.cases) {
  cases[`prompt: ${one.name}`] = () => {
    const found = merged(tables.prompts.snapshots[one.snapshot], one.patch ?? {});
    const dated = { snapshot: found, asOf: instant(one.heldAt ?? found.asOf) };
    equal(promptIn(dated, instant(one.at))?.kind ?? null, one.expect.prompt);
    for (const [name, access] of Object.entries(one.expect.access)) {
      equal(statedIn(dated, name, instant(one.at))?.access ?? null, access);
    }
  };
}

/** A session beside a server that answers with `snapshot`; `state.isOffline` cuts it off. */
function session(state) {
  return new CustomerSession({
    url: "https://billing.example.com", app: "cards", key: "pk", customer: "anna", verifier,
    storage: state.storage, clock: () => state.now, random: () => 0, sleep: async () => {}, passKeys: tables.keys,
    fetch: async (_, { method, body }) => {
      if (state.isOffline) throw new TypeError("no network");
      const items = method === "POST" ? JSON.parse(body).purchases ?? [] : [];
      return {
        status: 200, headers: { get: () => null },
        text: async () => JSON.stringify({
          ...snapshot, drift: [], items: items.map((_, index) => ({ kind: "purchase", index, verdict: "accepted" })),
        }),
      };
    },
  });
}

function world() {
  const kept = {};
  const storage = {
    getItem: async (name) => kept[name] ?? null,
    setItem: async (name, text) => { kept[name] = text; },
    removeItem: async (name) => { delete kept[name]; },
  };
  return { storage, now: instant(snapshot.asOf), isOffline: false };
}

cases["a session answers from the server, then from its pass, then not"] = async () => {
  const state = world();
  await session(state).refresh();
  state.isOffline = true;
  const later = session(state);
  await later.refresh();
  equal(later.lastError instanceof TideoverError && later.lastError.code, "network");
  const answer = later.answer("premium");
  equal(`${answer.status} ${answer.source}`, "granted pass");
  state.now += 7 * 86_400_000;
  equal(later.answer("premium").because, "offline");
};

cases["a purchase is finished once the server has it"] = async () => {
  const state = { ...world(), isOffline: true };
  const finished = [];
  const purchase = { productId: "monthly", purchaseToken: "token", purchaseState: "purchased" };
  const sync = new PurchaseSync(session(state), {
    getAvailablePurchases: async () => [purchase],
    finishTransaction: async (what) => { finished.push(what.purchase.productId); },
    purchaseUpdatedListener: () => ({ remove: () => {} }),
  });
  await sync.start();
  equal(finished.length, 0);
  state.isOffline = false;
  await sync.flush();
  equal(finished.join(), "monthly");
};

cases["an engine without Ed25519 has no verifier of its own, and believes no pass"] = async () => {
  equal(await webCryptoVerifier(undefined), undefined);
  equal(await verifiedClaims(snapshot.pass, tables.keys, undefined), "unverifiable");
};

cases["what RevenueCat concluded becomes a snapshot"] = () => {
  const info = { originalAppUserId: "anna", requestDate: snapshot.asOf, entitlements: { all: {} } };
  equal(snapshotOfCustomerInfo(info, "cards").customer, "anna");
};

function equal(found, expected) {
  if (found !== expected) throw new Error(`${String(found)} instead of ${String(expected)}`);
}

let failures = 0;
for (const [name, check] of Object.entries(cases)) {
  try {
    await check();
  } catch (error) {
    failures += 1;
    print(`failed: ${name}: ${error}`);
  }
}
print(`${Object.keys(cases).length} cases, ${failures} failures`);
