// Plays scenario files of both stores with a simulated React Native app beside the built server. At
// every step the hooks have the server's answer, online and after a start without a network.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { runInNewContext } from "node:vm";
import { deaths, Phone } from "./support/phone.mjs";
import { applePurchase, playPurchase, program, soon, World } from "./support/tideover.mjs";

const folder = new URL("../../../Scenarios/", import.meta.url);
// These take minutes and depend on time: they run on request.
const requested = process.env.TIDEOVER_CLIENT_SCENARIOS === "1";
const skip = !program
  ? "TIDEOVER_BINARY does not name the built program"
  : requested
    ? false
    : "set TIDEOVER_CLIENT_SCENARIOS=1 to play them";

/** JSON5 is an object literal of JavaScript. */
const scenario = (name) => runInNewContext(`(${readFileSync(new URL(name, folder), "utf8")})`);

/** Files that are not played, by the reason. */
const others = {
  "the relay does not see whose purchase it is": [
    "app-store-bought-outside", "app-store-family-refund", "app-store-family-revoked",
  ],
  "an operator acts, with a key of the server": [
    "app-store-operator-extends", "google-operator-defers", "google-operator-revokes",
  ],
  "the server is configured in another way": [
    "app-store-consumption-answered", "google-no-credentials-presented-first", "google-no-credentials-pushed-first",
  ],
  "the store reports the message that failed first": [
    "google-first-answer-stale", "google-store-outage", "google-store-rate-limited", "google-store-too-slow",
  ],
  "the server asks the store on its own schedule": [
    "google-ended-unheard", "google-messages-in-disorder", "google-push-lost", "google-store-answers-stale",
  ],
  "the app acknowledges the purchase": ["google-unacknowledged"],
  "a second passes with each message, so that the payment is a second later": ["app-store-trial-fails-without-grace"],
};

const names = readdirSync(folder).filter((name) => /^(app-store|google)-/.test(name)
  && !Object.values(others).flat().includes(name.replace(".json5", "")));

test("nearly all scenarios of both stores are played", () => {
  const count = (store) => names.filter((name) => name.startsWith(store)).length;
  assert.ok(count("app-store") >= 55 && count("google") >= 60, names.join());
});

describe("a React Native app has the server's answer at every step of", { skip, concurrency: 8 }, () => {
  for (const name of names) {
    test(name, async () => {
      const played = scenario(name);
      const world = await World.open({ ...played, app: { ...played.app, id: "cards" } });
      try {
        await play(played, world);
      } finally {
        await world.close();
      }
    });
  }
});

async function play(scenario, world) {
  const phones = {};
  for (const [name, { store }] of Object.entries(scenario.customers)) {
    phones[name] = new Phone(world, await world.customer(name), { names: entitlements(scenario), store });
    await phones[name].startApp();
  }
  for (const { expect = {}, events: _, note: __, ...step } of scenario.steps) {
    const name = step.customer ?? Object.keys(phones)[0];
    await act(step, phones[name], world);
    for (const phone of Object.values(phones)) await deliver(world, phone, phone === phones[name]);
    await soon(`the answer of ${JSON.stringify(step)}`, async () => {
      const { snapshot } = await phones[name].backEnd.snapshot(phones[name].customer);
      return Object.entries(expect).every(([it, members]) => it === "answer" || holds(members, snapshot, it));
    });
    for (const phone of Object.values(phones)) {
      const snapshot = await phone.agrees();
      await phone.agreesOffline(snapshot);
      await phone.agrees();
    }
  }
  for (const phone of Object.values(phones)) {
    assert.deepEqual(phone.unfinished, []);
    assert.equal(new Set(phone.finished).size, phone.finished.length);
    phone.endApp();
  }
}

/** The app's own steps are the phone's; everything else happens in the store. */
async function act(step, phone, world) {
  const { do: action, at, after, kind = "soft", response } = step;
  if (action !== "openApp" && action !== "showPrompt") return world.step(step);
  if (at || after) await world.step({ do: "advance", ...(at ? { to: at } : { by: after }) });
  if (action === "openApp") return phone.sync.restore();
  await phone.look();
  await phone.session.reportPrompt({ id: `${phone.now}`, kind, response });
}

/**
 * Hands over the purchases that the store has sold since the last time. Each kills the app at one of
 * the places between the purchase and its finish, and the next start recovers it.
 */
async function deliver(world, phone, isBuyer) {
  const apple = world.transactions.map(applePurchase).filter((it) => it.appAccountToken === phone.customer);
  const google = isBuyer ? world.tokens.map(({ token, productId }) => playPurchase(token, productId)) : [];
  for (const purchase of [...apple, ...google]) {
    if (world.handedOver.has(purchase.id)) continue;
    world.handedOver.add(purchase.id);
    const before = phone.finished.length;
    await phone.receiveAndDie(purchase, deaths[world.handedOver.size % deaths.length]);
    assert.equal(phone.finished.length, before);
    await phone.startApp();
    assert.equal(phone.finished.at(-1), purchase.id);
  }
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
