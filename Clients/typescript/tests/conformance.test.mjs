import {
  answerFrom, answerOf, believe, instant, promptIn, statedIn, verifiedClaims, webCryptoVerifier,
} from "@tideover/client";
import { nodeVerifier, verifyWebhook, WebhookRefusal } from "@tideover/node";
import assert from "node:assert/strict";
import { test } from "node:test";
import { coreAnswers, coreEdges, corePrompts, merged, table } from "./support/tables.mjs";

/** As many cases as the Python client finds in the same files. */
const counts = { passes: 48, "signed-passes": 19, webhooks: 25, snapshots: 11, prompts: 20 };

function each(name, check) {
  const { cases, ...rest } = table(name);
  test(`${name}.json has the expected number of cases`, () => assert.equal(cases.length, counts[name]));
  for (const one of cases) test(`${name}: ${one.name}`, () => check(one, rest));
}

each("passes", (one, { passes }) => {
  const expected = {
    issuer: "tideover", audience: "cards", customer: "anna", environment: "production", ...one.expected,
  };
  const claims = ({ pass, patch }) => merged(passes[pass], patch ?? {});
  const time = { clock: instant(one.clock), newest: instant(one.newestVerified) };
  // The device verified its stored pass for that pass's own customer.
  const held = one.held && believe(
    claims(one.held), { ...expected, customer: claims(one.held).sub }, undefined, time);
  const found = believe(claims(one), expected, held, time);
  if (one.refused) return assert.equal(found, one.refused);
  for (const [name, { kind, access, confidence }] of Object.entries(one.answers)) {
    const answer = answerOf(found, name, time);
    assert.equal(answer.kind, kind);
    assert.equal(answer.entitlement?.access ?? false, access);
    const stated = answer.entitlement?.confidence ?? "unknown";
    assert.equal(kind === "presumed" && stated !== "unknown" ? "presumed" : stated, confidence);
  }
});

each("signed-passes", async ({ document, verdict }, { keys }) => {
  for (const verifier of [await webCryptoVerifier(globalThis.crypto?.subtle), nodeVerifier]) {
    if (!verifier) continue;
    const found = await verifiedClaims(document, keys, verifier);
    assert.equal(typeof found === "string" ? found : "accepted", verdict);
  }
  // Without a verifier no document is accepted.
  const found = await verifiedClaims(document, keys, undefined);
  assert.equal(found, verdict === "accepted" ? "unverifiable" : typeof found === "string" ? found : "");
});

each("webhooks", async ({ headers, body, keys, at, verdict }) => {
  const verify = () => verifyWebhook(headers, body, { keys, now: () => at });
  if (verdict === "accepted") return assert.equal((await verify()).payload.type, "entitlement_changed");
  await assert.rejects(verify, (error) => error instanceof WebhookRefusal && error.code === verdict);
});

each("snapshots", ({ entitlement, expect }) => {
  const answer = answerFrom(entitlement, "server");
  assert.equal(answer.status, expect.status);
  assert.equal(answer.isPresumed, expect.isPresumed);
});

each("prompts", (one, { snapshots }) => {
  const snapshot = merged(snapshots[one.snapshot], one.patch ?? {});
  const dated = { snapshot, asOf: instant(one.heldAt ?? snapshot.asOf) };
  const at = instant(one.at);
  assert.equal(promptIn(dated, at)?.kind ?? null, one.expect.prompt);
  for (const [name, access] of Object.entries(one.expect.access)) {
    assert.equal(statedIn(dated, name, at)?.access ?? null, access, name);
  }
});

test("a platform without Ed25519 has no verifier", async () => {
  assert.equal(await webCryptoVerifier(null), undefined);
  assert.equal(await webCryptoVerifier({ importKey: () => Promise.reject(new Error("NotSupported")) }), undefined);
});

test("every answer of the core's tables is read with the access that it has, online and from a pass", () => {
  const answers = coreAnswers();
  assert.ok(answers.length > 2000);
  const expected = { issuer: "tideover", audience: "cards", customer: "anna", environment: "production" };
  const time = { clock: instant("2026-05-06T10:00:00Z") };
  const [issued, notAfter] = ["2026-05-06T10:00:00Z", "2026-05-13T10:00:00Z"];
  for (const { name, state, access = state === "active" || state === "grace", confidence = "confirmed" } of answers) {
    const status = access ? "granted" : confidence === "unknown" ? "unknown" : "denied";
    assert.equal(answerFrom({ state, access, confidence }, "server").status, status, name);
    const claims = {
      iss: "tideover", aud: "cards", sub: "anna", environment: "production", issued, notAfter, version: 1,
      entitlements: { premium: { state, reason: "any", confidence, notAfter } },
    };
    const answer = answerOf(believe(claims, expected, undefined, time), "premium", time);
    assert.equal(answer.entitlement.access, access, name);
    assert.equal(answerFrom(answer.entitlement, "pass").status, status, name);
  }
});

test("every boundary of the core's tables ends what a snapshot and a pass state", () => {
  const edges = coreEdges();
  assert.ok(edges.length > 900);
  const expected = { issuer: "tideover", audience: "cards", customer: "anna", environment: "production" };
  for (const { name, edge, before } of edges) {
    const at = instant(edge);
    const [asOf, nextChange, notAfter] = [at - 3_600_000, at, at + 86_400_000].map((it) => new Date(it).toISOString());
    const premium = { ...before, reason: "any", nextChange, accessUntil: nextChange, notAfter };
    const dated = { snapshot: { entitlements: { premium }, prompt: { kind: "none" } }, asOf: at - 3_600_000 };
    assert.equal(statedIn(dated, "premium", at - 1)?.access, before.access, name);
    assert.equal(statedIn(dated, "premium", at), undefined, name);
    const claims = {
      iss: "tideover", aud: "cards", sub: "anna", environment: "production", issued: asOf, notAfter, version: 1,
      entitlements: { premium },
    };
    const kindAt = (clock) => answerOf(believe(claims, expected, undefined, { clock }), "premium", { clock }).kind;
    assert.deepEqual([kindAt(at - 1), kindAt(at), kindAt(at + 86_400_000 - 1)], ["stated", "presumed", "presumed"], name);
  }
});

test("every prompt of the core's tables is shown until its time", () => {
  const prompts = corePrompts();
  assert.ok(prompts.length > 20);
  for (const { name, at, prompt } of prompts) {
    const entitlement = prompt.kind === "none" ? {} : { entitlement: "premium" };
    const snapshot = { entitlements: { premium: { access: true } }, prompt: { ...entitlement, ...prompt } };
    assert.deepEqual(promptIn({ snapshot, asOf: instant(at) }, instant(at)), snapshot.prompt, name);
    const until = instant(prompt.arguments?.until);
    if (until) assert.equal(promptIn({ snapshot, asOf: until - 1 }, until), undefined, name);
  }
});
