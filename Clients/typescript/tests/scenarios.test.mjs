// Plays scenario files of both stores with a simulated React Native app beside the built server. At
// every step the hooks have the server's answer, online and after a start without a network.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { runInNewContext } from "node:vm";
import { deaths, Phone } from "./support/phone.mjs";
import { applePurchase, playPurchase, program, soon, TooSlow, World } from "./support/tideover.mjs";

const folder = new URL("../../../Scenarios/", import.meta.url);
const skip = program ? false : "TIDEOVER_BINARY does not name the built program";

/** JSON5 is an object literal of JavaScript. */
const scenario = (name) => runInNewContext(`(${readFileSync(new URL(name, folder), "utf8")})`);

/** Files that are not played, by the reason. */
const others = {
  "messages of two customers arrive in disorder, and the relay does not see whose a token is": [
    "google-messages-in-disorder",
  ],
};

/**
 * Files with steps that play otherwise beside a running server, by the reason: the hooks have the
 * server's answer at every step, but only the last answer of each customer is compared with the file.
 */
const settling = {
  "the server asks the store on its own schedule, before the file expects it": [
    "google-ended-unheard", "google-first-answer-stale", "google-push-lost", "google-store-answers-stale",
    "google-store-outage", "google-store-rate-limited", "google-store-too-slow",
  ],
  "a second passes with each message, so that what is due happens a second later": [
    "app-store-trial-fails-without-grace", "google-prepaid-unacknowledged", "google-unacknowledged",
  ],
  "the app presents a purchase at once, not when the file opens it": [
    "google-no-credentials-presented-first", "google-no-credentials-pushed-first",
  ],
};

/** Files in which the app stays closed after the purchase: neither it nor the server acknowledges it. */
const closed = ["google-prepaid-unacknowledged", "google-unacknowledged"];

const among = (groups, name) => Object.values(groups).flat().includes(name.replace(".json5", ""));
const all = readdirSync(folder).filter((name) => /^(app-store|google)-.*\.json5$/.test(name) && !among(others, name));

/**
 * Few files that contain every action of every store. All of them take minutes: they are played if
 * TIDEOVER_CLIENT_SCENARIOS is `all`.
 */
function few() {
  const actions = Object.fromEntries(all.map((name) => [name, actionsOf(name)]));
  const missing = new Set(Object.values(actions).flat());
  const chosen = [];
  while (missing.size > 0) {
    const gain = (name) => actions[name].filter((it) => missing.has(it)).length;
    const best = all.reduce((held, name) => (gain(name) > gain(held) ? name : held));
    actions[best].forEach((it) => missing.delete(it));
    chosen.push(best);
  }
  return chosen;
}

/** The kinds of steps of a file with their store, without those that only disturb messages. */
function actionsOf(name) {
  const kinds = scenario(name).steps.map((step) => step.do).filter((it) => it && !/^(disturb|endDist|lose)/.test(it));
  return [...new Set(kinds)].map((kind) => `${name.split("-")[0]} ${kind}`);
}

const names = process.env.TIDEOVER_CLIENT_SCENARIOS === "all" ? all : few();

test("nearly all scenarios of both stores can be played, and every action of both is", () => {
  const count = (store) => all.filter((name) => name.startsWith(store)).length;
  assert.ok(count("app-store") >= 60 && count("google") >= 72, all.join());
  const missing = new Set(all.flatMap(actionsOf));
  names.flatMap(actionsOf).forEach((it) => missing.delete(it));
  assert.deepEqual([...missing], []);
  assert.ok(names.length >= 30, names.join());
});

describe("a React Native app has the server's answer at every step of", { skip, concurrency: 3 }, () => {
  for (const name of names) {
    test(name, { timeout: 900_000 }, () => playFile(name));
  }
});

/** Plays a file; again, twice at most, if store and server were too slow for each other on a busy machine. */
async function playFile(name, attempt = 1) {
  const played = scenario(name);
  const isClosed = closed.includes(name.replace(".json5", ""));
  const world = await World.open(
    { ...played, app: { ...played.app, id: "cards" } }, undefined, { acknowledge: !isClosed });
  try {
    return await play(played, world, { settles: among(settling, name), isClosed });
  } catch (error) {
    if (!(error instanceof TooSlow) || attempt === 3) throw error;
  } finally {
    await world.close();
  }
  return playFile(name, attempt + 1);
}

async function play(scenario, world, { settles, isClosed }) {
  const phones = {};
  for (const [name, { store }] of Object.entries(scenario.customers)) {
    phones[name] = new Phone(world, await world.customer(name), { names: entitlements(scenario), store });
    await phones[name].startApp();
  }
  world.toleratesFailedMessages = settles;
  const last = {};
  for (const { expect = {}, events: _, note: __, consumptions: ___, ...step } of scenario.steps) {
    const name = step.customer ?? Object.keys(phones)[0];
    last[name] = expect;
    await act(step, phones[name], world);
    if (!isClosed) for (const phone of Object.values(phones)) await deliver(world, phone, phone === phones[name]);
    if (!settles) await states(phones[name], expect, step);
    await agree(phones);
  }
  if (settles) {
    await settle(phones, last, world);
    await agree(phones);
  }
  for (const phone of Object.values(phones)) {
    assert.deepEqual(phone.unfinished, []);
    assert.equal(new Set(phone.finished).size, phone.finished.length);
    phone.endApp();
  }
}

/**
 * Lets time pass until every customer has the last answer of the file. The server repeats a failed
 * query by its own clock, which stands while nothing advances it; and a query under way fails if the
 * clock jumps by an hour, because its token has then expired.
 */
async function settle(phones, last, world) {
  for (let attempt = 0; attempt < 6; attempt++) {
    await world.step({ do: "advance", by: "20 min" });
    for (const phone of Object.values(phones)) await phone.sync.restore();
    const answers = Object.entries(last).map(([name, expect]) => isStated(phones[name], expect, 5_000));
    if ((await Promise.all(answers)).every(Boolean)) return;
  }
  for (const [name, expect] of Object.entries(last)) await states(phones[name], expect, "the end");
}

/** On each phone the hooks have the server's answer, also after a start without a network. */
async function agree(phones) {
  for (const phone of Object.values(phones)) {
    const snapshot = await phone.agrees();
    await phone.agreesOffline(snapshot);
    await phone.agrees();
  }
}

/** Waits until the server has the answer that the file states. */
async function states(phone, expect, step) {
  let snapshot;
  const what = () => `the answer of ${JSON.stringify(step)}: ${JSON.stringify(expect)}, not ${JSON.stringify(snapshot)}`;
  await soon(what, async () => {
    ({ snapshot } = await phone.backEnd.snapshot(phone.customer));
    return stated(expect, snapshot);
  });
}

/** Whether the server has the answer that the file states within some milliseconds. */
async function isStated(phone, expect, patience) {
  const end = Date.now() + patience;
  do {
    if (stated(expect, (await phone.backEnd.snapshot(phone.customer)).snapshot)) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  } while (Date.now() < end);
  return false;
}

/** Whether a snapshot has all that a file states of it. */
function stated(expect, snapshot) {
  return Object.entries(expect).every(([it, members]) => it === "answer" || holds(members, snapshot, it));
}

/** The app's own steps are the phone's, the operator's are the back end's; all others the store's. */
async function act(step, phone, world) {
  const { do: action, at, after, kind = "soft", response, send } = step;
  if (!["openApp", "showPrompt", "storeAction"].includes(action)) {
    await world.step(step);
    // The server asks for missed messages when it starts.
    if (action === "catchUp") await world.restart();
    return;
  }
  if (at || after) await world.step({ do: "advance", ...(at ? { to: at } : { by: after }) });
  if (action === "storeAction") return world.storeAction(send);
  if (action === "openApp") {
    // What a phone has without the customer's token: bought in the store, or shared by the family.
    for (const purchase of world.transactions.map(applePurchase)) {
      if (!purchase.appAccountToken) await deliverOne(world, phone, purchase);
    }
    return phone.sync.restore();
  }
  await phone.look();
  await phone.session.reportPrompt({ id: `${phone.now}`, kind, response });
}

/** Hands over the purchases that the store has sold to a customer since the last time. */
async function deliver(world, phone, isBuyer) {
  const apple = world.transactions.map(applePurchase).filter((it) => it.appAccountToken === phone.customer);
  const google = isBuyer ? world.tokens.map(({ token, productId }) => playPurchase(token, productId)) : [];
  for (const purchase of [...apple, ...google]) await deliverOne(world, phone, purchase);
}

/**
 * Hands a purchase over, once. The app is killed at one of the places between the purchase and its
 * finish, and the next start recovers it: while the server cannot ask the store, it is not finished.
 */
async function deliverOne(world, phone, purchase) {
  if (world.handedOver.has(purchase.id)) return;
  world.handedOver.add(purchase.id);
  const before = phone.finished.length;
  await phone.receiveAndDie(purchase, deaths[world.handedOver.size % deaths.length]);
  assert.equal(phone.finished.length, before);
  await phone.startApp();
  if (!world.toleratesFailedMessages) assert.equal(phone.finished.at(-1), purchase.id);
}

function entitlements({ products = {}, googlePlay: { subscriptions = {}, products: items = {} } = {} }) {
  const all = [products, subscriptions, items].flatMap((group) => Object.values(group));
  return [...new Set(all.flatMap(({ entitlements = [] }) => entitlements))];
}

/** Whether the server's answer has the plain members that the file states. */
function holds(members, snapshot, name) {
  return ["state", "access", "prompt.kind"].every((member) => {
    const wanted = members[member];
    if (wanted === undefined || typeof wanted === "object") return true;
    const found = member === "prompt.kind" ? snapshot.prompt.kind : snapshot.entitlements[name]?.[member];
    return found === wanted;
  });
}
