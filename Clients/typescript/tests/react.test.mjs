import { CustomerSession } from "@tideover/client";
import { nodeVerifier } from "@tideover/node";
import { TideoverProvider, useEntitlement, usePrompt, useTrial } from "@tideover/react";
import * as native from "@tideover/react-native";
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { createElement, Fragment, StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { appStateListeners, changeAppState, opened, Platform } from "react-native";
import { act, create, find, texts } from "./support/render.mjs";
import { begin, day, fakeFetch, passKeys, reply, snapshot } from "./support/server.mjs";

const mounted = [];
afterEach(() => act(async () => mounted.splice(0).forEach((view) => view.unmount())));

function setUp(more = {}) {
  const world = { now: begin, isOffline: false, answer: snapshot(), ...more };
  const { fetch, requests } = fakeFetch(({ url }) => {
    if (world.isOffline) throw new TypeError("fetch failed");
    return url.pathname.endsWith("/pass-keys") ? reply(200, { keys: passKeys }) : reply(200, world.answer);
  });
  const session = new CustomerSession({
    url: "https://billing.example.com", app: "cards", key: "pk_1", customer: "anna", fetch, attempts: 1,
    clock: () => world.now, verifier: nodeVerifier, initial: world.initial, storage: world.storage,
  });
  return { world, requests, session };
}

/** Everything that was ever shown, so that a flash is seen too. */
function gate() {
  const shown = [];
  const Gate = () => {
    const answer = useEntitlement("premium");
    if (shown.at(-1) !== answer.status) shown.push(answer.status);
    return answer.status;
  };
  return { shown, Gate };
}

async function mount(session, element, Provider = TideoverProvider, props = {}) {
  let view;
  await act(async () => { view = create(createElement(Provider, { session, ...props }, element)); });
  mounted.push(view);
  return view;
}

test("a customer with access never sees a lock flash", async () => {
  const { session } = setUp();
  const { shown, Gate } = gate();
  await mount(session, createElement(Gate));
  assert.deepEqual(shown, ["unknown", "granted"]);
});

test("a start offline shows neither content nor a lock", async () => {
  const { session } = setUp({ isOffline: true });
  const { shown, Gate } = gate();
  await mount(session, createElement(Gate));
  assert.deepEqual(shown, ["unknown"]);
});

test("a server renders the given answer, and the browser shows the same first", () => {
  const { session } = setUp({ initial: snapshot() });
  const { Gate } = gate();
  const html = renderToString(createElement(TideoverProvider, { session }, createElement(Gate)));
  assert.equal(html, "granted");
});

test("the page requests the answer again when it becomes visible", async () => {
  const listeners = new Map();
  Object.assign(globalThis, {
    document: {},
    addEventListener: (name, listener) => listeners.set(name, listener),
    removeEventListener: (name) => listeners.delete(name),
  });
  try {
    const { session, requests, world } = setUp();
    const { shown, Gate } = gate();
    const view = await mount(session, createElement(Gate));
    const before = requests.length;
    world.answer = snapshot({ version: 2, premium: { access: false, state: "expired", reason: "refunded" } });
    await act(async () => listeners.get("focus")());
    assert.ok(requests.length > before);
    assert.deepEqual(shown, ["unknown", "granted", "denied"]);
    await act(async () => view.unmount());
    assert.equal(listeners.size, 0);
  } finally {
    for (const name of ["document", "addEventListener", "removeEventListener"]) delete globalThis[name];
  }
});

test("a page that becomes visible without a focus requests the answer, and a hidden one does not", async () => {
  const listeners = new Map();
  const document = { visibilityState: "hidden" };
  Object.assign(globalThis, {
    document,
    addEventListener: (name, listener) => listeners.set(name, listener),
    removeEventListener: (name) => listeners.delete(name),
  });
  try {
    const { session, requests } = setUp();
    await mount(session, createElement(gate().Gate));
    const before = requests.length;
    await act(async () => listeners.get("visibilitychange")());
    assert.equal(requests.length, before);
    document.visibilityState = "visible";
    await act(async () => listeners.get("visibilitychange")());
    assert.ok(requests.length > before);
  } finally {
    for (const name of ["document", "addEventListener", "removeEventListener"]) delete globalThis[name];
  }
});

test("a server that does not answer is asked less and less often, and a full storage asks for nothing", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const broken = { getItem: () => null, setItem: () => { throw new Error("full"); }, removeItem: () => {} };
  const { session, requests, world } = setUp({ storage: broken });
  const { Gate } = gate();
  world.isOffline = true;
  await mount(session, createElement(Gate));
  const asked = async (milliseconds) => {
    const before = requests.length;
    await act(async () => t.mock.timers.tick(milliseconds));
    return requests.length > before;
  };
  assert.deepEqual([await asked(30_000), await asked(30_000), await asked(30_000)], [true, false, true]);
  world.isOffline = false;
  assert.ok(await asked(120_000));
  assert.match(String(session.lastError), /full/);
  assert.equal(await asked(600_000), false);
});

test("an answer ends at its time although the next request is later", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { session, requests, world } = setUp();
  const end = new Date(begin + 300_000).toISOString();
  world.answer = snapshot({ pass: null, premium: { willRenew: false, accessUntil: end, nextChange: end } });
  const { Gate, shown } = gate();
  await mount(session, createElement(Gate));
  world.isOffline = true;
  const pass = async (milliseconds) => {
    world.now += milliseconds;
    await act(async () => t.mock.timers.tick(milliseconds));
  };
  await act(async () => session.refresh());
  for (const milliseconds of [30_000, 60_000, 120_000]) await pass(milliseconds);
  const before = requests.length;
  assert.equal(shown.at(-1), "granted");
  await pass(90_000);
  assert.equal(shown.at(-1), "unknown");
  assert.equal(requests.length, before + 1);
});

for (const [name, nextChange] of [["that never changes", null], ["that changes later", snapshot().entitlements.premium.nextChange]]) {
  test(`a screen that stays open for days keeps an answer ${name}, without a pass`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { session, requests, world } = setUp();
    const answer = () => snapshot({ at: world.now, pass: null, premium: { accessUntil: nextChange, nextChange } });
    world.answer = answer();
    const { Gate, shown } = gate();
    const view = await mount(session, createElement(Gate));
    for (let hour = 0; hour < 60; hour += 1) {
      world.now += day / 24;
      world.answer = answer();
      await act(async () => t.mock.timers.tick(day / 24));
    }
    assert.deepEqual(shown, ["unknown", "granted"]);
    assert.equal(session.answer("premium").status, "granted");
    assert.ok(requests.length <= 7);
    const before = requests.length;
    await act(async () => view.unmount());
    await act(async () => t.mock.timers.tick(3 * day));
    assert.equal(requests.length, before);
  });
}

test("an app requests the answer again only in the foreground", async () => {
  const { session, requests } = setUp();
  const { Gate } = gate();
  const view = await mount(session, createElement(Gate), native.TideoverProvider);
  const before = requests.length;
  await act(async () => changeAppState("background"));
  assert.equal(requests.length, before);
  await act(async () => changeAppState("active"));
  assert.ok(requests.length > before);
  await act(async () => view.unmount());
  assert.equal(appStateListeners.size, 0);
});

test("an answer with an announced change is requested at that time", async () => {
  const end = new Date(begin + 60).toISOString();
  const { session, world } = setUp({ answer: snapshot({ premium: { willRenew: false, accessUntil: end, nextChange: end } }) });
  const { shown, Gate } = gate();
  await mount(session, createElement(Gate));
  world.now = begin + 60;
  world.answer = snapshot({ at: world.now, version: 2, premium: { access: false, state: "expired", nextChange: null } });
  for (let wait = 0; wait < 3_000 && shown.at(-1) !== "denied"; wait += 1) {
    await act(async () => new Promise((resolve) => setTimeout(resolve, 20)));
  }
  assert.equal(shown.at(-1), "denied");
});

test("a component outside of the provider throws", async () => {
  const { Gate } = gate();
  assert.throws(() => renderToString(createElement(Gate)), /no TideoverProvider/);
});

// MARK: Prompts and trials

const prompt = {
  kind: "soft", entitlement: "premium", key: "grace.soft", arguments: { until: "2026-05-17T00:00:00.000Z" },
  title: "There was a problem with your payment", message: "You still have full access.",
  action: { label: "Update payment method", url: "https://apps.apple.com/account/billing" },
};

const trial = {
  trial: { startedAt: "2026-05-09T00:00:00.000Z", endsAt: "2026-05-12T00:00:00.000Z", cancelBy: "2026-05-11T00:00:00.000Z", daysLeft: 2, urgent: false },
  words: { key: "trial.running.unpriced", arguments: { daysLeft: 2 }, title: "Your free trial is running", message: "It lasts until 12 May.", label: "Manage subscription" },
  advice: null,
};

test("prompt and trial are absent until the server answers", async () => {
  const seen = [];
  const Probe = () => {
    seen.push([usePrompt().kind, useTrial("premium")?.running?.daysLeft]);
    return null;
  };
  const { session } = setUp({ answer: snapshot({ prompt, premium: trial }) });
  await mount(session, createElement(Probe));
  assert.deepEqual(seen[0], ["none", undefined]);
  assert.deepEqual(seen.at(-1), ["soft", 2]);
});

test("the recovery banner is announced and opens the store's page", async () => {
  const { session } = setUp({ answer: snapshot({ prompt }) });
  const view = await mount(session, createElement(native.RecoveryBanner));
  const tree = view.toJSON();
  assert.deepEqual(texts(tree), [prompt.title, prompt.message, prompt.action.label]);
  const alert = tree.children[0];
  assert.equal(alert.props.accessibilityRole, "alert");
  assert.equal(alert.props.accessibilityLabel, `${prompt.title}. ${prompt.message}`);
  const button = find(tree, "Pressable");
  assert.equal(button.props.accessibilityRole, "button");
  assert.ok(button.props.style.minHeight >= 48);
  await button.props.onPress();
  assert.equal(opened.at(-1), prompt.action.url);
});

test("the recovery banner reports its prompt once, its press, and the same prompt after a pause", async () => {
  const { session, requests, world } = setUp({ answer: snapshot({ prompt }) });
  const reports = () => requests.filter(({ url }) => url.pathname.endsWith("/prompts")).map(({ body }) => body);
  // Two screens with a banner, whose effects React runs twice.
  const banners = [1, 2].map((key) => createElement(StrictMode, { key }, createElement(native.RecoveryBanner)));
  const view = await mount(session, banners);
  await act(async () => session.refresh());
  const [first] = reports();
  assert.deepEqual(reports(), [{ id: first.id, kind: "soft" }]);
  await act(async () => find(view.toJSON()[0], "Pressable").props.onPress());
  assert.deepEqual(reports().slice(1), [{ ...first, response: "opened" }]);

  world.now += day;
  world.answer = snapshot({ at: world.now, version: 2 });
  await act(async () => session.refresh());
  world.answer = snapshot({ at: world.now, version: 3, prompt });
  await act(async () => session.refresh());
  assert.equal(reports().length, 3);
  assert.notEqual(reports()[2].id, first.id);

  world.answer = snapshot({ at: world.now, version: 4, prompt: { ...prompt, kind: "hard", key: "hold.hard" } });
  await act(async () => session.refresh());
  assert.equal(reports()[3].kind, "hard");
});

test("a prompt of the sandbox that answers for production is reported there", async () => {
  const { session, requests } = setUp({ answer: { ...snapshot({ prompt }), environment: "sandbox" } });
  await mount(session, createElement(native.RecoveryBanner));
  const asked = requests.map(({ url }) => [url.pathname.split("/").at(-1), url.searchParams.get("environment")]);
  assert.deepEqual(asked.slice(0, 1), [["anna", "production"]]);
  assert.deepEqual(asked.filter(([page]) => page === "prompts"), [["prompts", "sandbox"]]);
});

test("a report of a prompt that fails is made again with the banner's next appearance", async () => {
  const { session, requests, world } = setUp({ answer: snapshot({ prompt }) });
  const reports = () => requests.filter(({ url }) => url.pathname.endsWith("/prompts")).length;
  await session.refresh();
  world.isOffline = true;
  const view = await mount(session, createElement(native.RecoveryBanner));
  assert.equal(reports(), 1);
  await act(async () => view.unmount());
  world.isOffline = false;
  await mount(session, createElement(native.RecoveryBanner));
  assert.equal(reports(), 2);
});

test("banners render nothing without a prompt or a trial", async () => {
  const { session } = setUp();
  const both = createElement(
    Fragment, null, createElement(native.RecoveryBanner), createElement(native.TrialBanner, { entitlement: "premium" }));
  assert.equal((await mount(session, both)).toJSON(), null);
});

test("an app's own texts and colours are used", async () => {
  const { session } = setUp({ answer: snapshot({ prompt }) });
  const translate = (key, { until }) => key === "grace.soft" && { title: "Zahlung", message: until, label: "Ändern" };
  const view = await mount(session, createElement(native.RecoveryBanner, { translate, theme: native.dark }));
  assert.deepEqual(texts(view.toJSON()), ["Zahlung", "2026-05-17T00:00:00.000Z", "Ändern"]);
  assert.equal(view.toJSON().props.style.backgroundColor, native.dark.background);
});

test("a page that does not open is reported", async () => {
  const broken = { ...prompt, action: { label: "Update", url: "broken://" } };
  const { session } = setUp({ answer: snapshot({ prompt: broken }) });
  const errors = [];
  const onError = (error) => errors.push(error);
  const view = await mount(session, createElement(native.RecoveryBanner, { onError }));
  await act(async () => find(view.toJSON(), "Pressable").props.onPress());
  assert.match(String(errors[0]), /no app opens this/);
});

for (const [os, page] of [["ios", "apps.apple.com"], ["android", "play.google.com"]]) {
  test(`without a page of its own the trial's button opens the page of ${os}`, async () => {
    Platform.OS = os;
    const { session } = setUp({ answer: snapshot({ premium: trial }) });
    const view = await mount(session, createElement(native.TrialBanner, { entitlement: "premium" }));
    assert.equal(texts(view.toJSON())[0], trial.words.title);
    find(view.toJSON(), "Pressable").props.onPress();
    assert.equal(new URL(opened.at(-1)).host, page);
  });
}

// WCAG 2.1, success criterion 1.4.3.
for (const [name, theme] of [["light", native.light], ["dark", native.dark]]) {
  test(`the ${name} theme has enough contrast`, () => {
    const luminance = (colour) => {
      const [r, g, b] = [1, 3, 5].map((at) => {
        const part = parseInt(colour.slice(at, at + 2), 16) / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    for (const pair of [[theme.text, theme.background], [theme.onAccent, theme.accent]]) {
      const [darker, lighter] = pair.map(luminance).sort((a, b) => a - b);
      assert.ok((lighter + 0.05) / (darker + 0.05) >= 4.5);
    }
  });
}
