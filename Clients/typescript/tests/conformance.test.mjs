import { answerFrom, answerOf, believe, instant, verifiedClaims, webCryptoVerifier } from "@tideover/client";
import { nodeVerifier, verifyWebhook, WebhookRefusal } from "@tideover/node";
import assert from "node:assert/strict";
import { test } from "node:test";
import { coreAnswers, merged, table } from "./support/tables.mjs";

/** As many cases as the Python client finds in the same files. */
const counts = { passes: 48, "signed-passes": 19, webhooks: 25, snapshots: 11 };

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
