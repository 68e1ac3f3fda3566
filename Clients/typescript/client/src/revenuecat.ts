import type { Entitlement, Snapshot } from "./types.js";

/** The members of RevenueCat's CustomerInfo (react-native-purchases) that are read. */
export interface RevenueCatCustomerInfo {
  originalAppUserId: string;
  requestDate: string;
  entitlements: { all: Record<string, RevenueCatEntitlement> };
}

export interface RevenueCatEntitlement {
  isActive: boolean;
  willRenew: boolean;
  periodType: string;
  expirationDate: string | null;
  productIdentifier: string;
  store: string;
  isSandbox: boolean;
  unsubscribeDetectedAt: string | null;
  billingIssueDetectedAt: string | null;
}

/**
 * What RevenueCat concluded, as a snapshot to begin with until the server's own arrives. It is a
 * relay's: `presumed`, and it never asks for a payment.
 */
export function snapshotOfCustomerInfo(
  info: RevenueCatCustomerInfo, app: string, customer = info.originalAppUserId,
): Snapshot {
  const all = Object.entries(info.entitlements.all);
  return {
    app,
    customer,
    environment: all.some(([, { isSandbox }]) => isSandbox) ? "sandbox" : "production",
    asOf: info.requestDate,
    customerVersion: 0,
    entitlements: Object.fromEntries(all.map(([name, entitlement]) => [name, converted(entitlement)])),
    prompt: { kind: "none" },
  };
}

function converted(from: RevenueCatEntitlement): Entitlement {
  const isFailing = from.billingIssueDetectedAt !== null;
  const state = !from.isActive ? "expired" : isFailing ? "grace" : "active";
  return {
    state,
    reason: reason(from, state),
    access: from.isActive,
    confidence: "presumed",
    rule: "relayed",
    productId: from.productIdentifier,
    store: stores[from.store] ?? null,
    accessUntil: from.expirationDate,
    // This form has no date of grace, and the expiration date is not one.
    graceUntil: null,
    willRenew: from.willRenew,
    trial: null,
    pending: [],
    nextChange: from.isActive ? from.expirationDate : null,
    keepArtifactsUntil: null,
    advice: null,
    words: null,
    trialOffer: null,
    chargedTwice: [],
  };
}

const stores: Record<string, string> = {
  APP_STORE: "appStore", MAC_APP_STORE: "appStore", PLAY_STORE: "googlePlay",
};

const periods: Record<string, string> = { TRIAL: "trial", INTRO: "introductory", PREPAID: "prepaid" };

function reason(from: RevenueCatEntitlement, state: Entitlement["state"]): string {
  if (state === "grace") return "billingIssue";
  if (state === "expired") {
    if (from.billingIssueDetectedAt !== null) return "billingError";
    return from.unsubscribeDetectedAt === null ? "ended" : "cancelled";
  }
  return from.expirationDate === null ? "lifetime" : periods[from.periodType.toUpperCase()] ?? "paid";
}
