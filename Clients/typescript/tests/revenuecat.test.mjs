import { answerFrom, snapshotOfCustomerInfo } from "@tideover/client";
import assert from "node:assert/strict";
import { test } from "node:test";

const until = "2026-06-01T00:00:00Z";

function converted(more) {
  const premium = {
    isActive: true, willRenew: true, periodType: "NORMAL", expirationDate: until, productIdentifier: "monthly",
    store: "APP_STORE", isSandbox: false, unsubscribeDetectedAt: null, billingIssueDetectedAt: null, ...more,
  };
  const info = { originalAppUserId: "anna", requestDate: "2026-05-10T00:00:00Z", entitlements: { all: { premium } } };
  return snapshotOfCustomerInfo(info, "cards");
}

for (const [name, more, state, reason] of [
  ["paid", {}, "active", "paid"],
  ["in a trial", { periodType: "TRIAL" }, "active", "trial"],
  ["lifetime", { expirationDate: null, willRenew: false }, "active", "lifetime"],
  ["in grace", { billingIssueDetectedAt: until }, "grace", "billingIssue"],
  ["failed", { isActive: false, billingIssueDetectedAt: until }, "expired", "billingError"],
  ["cancelled", { isActive: false, unsubscribeDetectedAt: until }, "expired", "cancelled"],
  ["ended", { isActive: false }, "expired", "ended"],
]) {
  test(`a CustomerInfo that is ${name}`, () => {
    const { premium } = converted(more).entitlements;
    assert.equal(premium.state, state);
    assert.equal(premium.reason, reason);
    assert.equal(premium.confidence, "presumed");
    assert.equal(answerFrom(premium, "server").status, premium.access ? "granted" : "denied");
  });
}

test("a converted CustomerInfo has no payment prompt and keeps the sandbox", () => {
  const snapshot = converted({ billingIssueDetectedAt: until, isSandbox: true });
  assert.deepEqual(snapshot.prompt, { kind: "none" });
  assert.equal(snapshot.environment, "sandbox");
  assert.equal(snapshot.customerVersion, 0);
});
