// Generated from /openapi.json by scripts/generate-types.mjs: do not edit.

export interface Advice {
  kind: "reEnableRenewal" | "fixPayment" | "purchase" | "resume" | "wait";
  productId: string | null;
  price: Price | null;
  chargedAt: Instant | null;
  url: string | null;
}

export interface Alias {
  alias: string;
  from: Instant;
  why: string;
  by: string;
}

export interface Arguments {
  until?: Instant;
  endsAt?: Instant;
  cancelBy?: Instant;
  daysLeft?: number;
  trial?: string;
  price?: Price;
}

export interface AssignedArm {
  id: string;
  arm: string;
}

export interface Charge {
  store: string;
  productId: string | null;
  state: "active" | "grace" | "hold";
  url: string | null;
}

export type Confidence = "confirmed" | "presumed" | "unknown";

export interface CorrectedEvent {
  id: EventID;
  kind: "corrected";
  effectiveAt: Instant;
  customer: string;
  environment: Environment;
  customerVersion: CustomerVersion;
  data: Correction;
}

export interface Correction {
  app: string;
  customer: string;
  environment: Environment;
  id: HappeningID;
  kind: string;
  undone: string;
  answer?: EventAnswer;
}

export interface CustomerTimeline {
  app: string;
  customer: string;
  environment: "production" | "sandbox" | "simulated";
  asOf: Instant;
  asKnownAt: Instant | null;
  reconciledAt?: Instant | null;
  policyVersion: PolicyVersion;
  entitlements: Record<string, EntitlementTimeline>;
  deadlines: Array<{
    id: string;
    kind: string;
    at: Instant;
    lineage: Lineage;
    productId?: string;
  }>;
}

export type CustomerVersion = number;

export interface DeviceConclusion {
  deviceTime?: Instant;
  askedAt?: Instant;
  environment?: string;
  entitlements?: Record<string, DeviceWord>;
}

export interface DeviceEvidence {
  transactions?: Array<string>;
  renewalInfos?: Array<string>;
  purchases?: Array<Record<string, any>>;
  receipts?: Array<string>;
  receiptAnswers?: Array<Record<string, any>>;
  nothing?: boolean;
  device?: DeviceConclusion;
}

export interface DeviceWord {
  access: boolean;
  until?: Instant | null;
  productId?: string;
  originalTransactionId?: string;
  verified?: boolean;
  unfinished?: Array<string>;
}

export interface Drift {
  id: string;
  customer: string;
  environment: "production" | "sandbox" | "simulated";
  entitlement: string;
  lineage?: Record<string, any>;
  direction: "device-denies-server-allows" | "device-allows-server-denies" | "until-differs";
  cause: "stale-device-cache" | "missed-notification" | "unverified-on-device" | "other-customer" | "environment" | "clock" | "unfinished-transaction" | "unclaimed-purchase";
  sentence: string;
  openedAt: Instant;
  healedAt?: Instant;
  healedBy?: "device" | "notification" | "asked" | "operator" | "ownership" | "time";
  agreedAccess?: boolean;
  lockoutMinutes?: number;
  device: DeviceWord;
  server: Record<string, any>;
}

export interface Entitlement {
  state: "active" | "grace" | "hold" | "expired" | "never";
  reason: string;
  access: boolean;
  confidence: "confirmed" | "presumed" | "unknown";
  rule: string;
  productId: string | null;
  store: string | null;
  accessUntil: Instant | null;
  graceUntil: Instant | null;
  willRenew: boolean | null;
  trial: Trial | null;
  pending: Array<PendingPurchase>;
  nextChange: Instant | null;
  keepArtifactsUntil: Instant | null;
  advice: Advice | null;
  words: Words | null;
  trialOffer: TrialOffer | null;
  chargedTwice: Array<Charge>;
}

export interface EntitlementChange {
  app: string;
  customer: string;
  environment: Environment;
  entitlement: string;
  at: Instant;
  from: Entitlement | null;
  to: Entitlement | null;
  answer?: EventAnswer;
}

export interface EntitlementChangedEvent {
  id: EventID;
  kind: "entitlement_changed";
  effectiveAt: Instant;
  customer: string;
  environment: Environment;
  customerVersion: CustomerVersion;
  data: EntitlementChange;
}

export interface EntitlementTimeline {
  spans: Array<TimelineSpan>;
  expected: Array<TimelineSpan>;
  transitions: Array<Record<string, any>>;
}

export type Environment = "production" | "sandbox" | "simulated";

export type Event = EntitlementChangedEvent | TransitionEvent | ReminderEvent | MessageDueEvent | PurchaseMovedEvent | CorrectedEvent;

export type EventAnswer = Record<string, MirroredEntitlement>;

export type EventID = string;

export interface Events {
  events: Array<Event>;
  next: string | null;
  more: boolean;
}

export interface ExplainedEntitlement {
  decision: Entitlement;
  why: Array<string>;
  lineage: Lineage | null;
  used: Array<UsedFact>;
  setAside: Array<SetAsideFact>;
  others: Array<OtherPurchase>;
  next: {
    at: Instant;
    decision: Entitlement;
    why: string;
  } | null;
  reply: Array<string>;
}

export interface Explanation {
  app: string;
  customer: string;
  environment: "production" | "sandbox" | "simulated";
  asOf: Instant;
  asKnownAt: Instant | null;
  reconciledAt?: Instant | null;
  policyVersion: PolicyVersion;
  entitlements: Record<string, ExplainedEntitlement>;
  drift: Array<Drift>;
  lockouts: Record<string, Record<string, any>>;
  prompt: {
    kind: "soft" | "hard" | null;
    heldBy: "quiet" | "interval" | "perDay" | "store" | null;
    heldUntil: Instant | null;
    sentence: string;
    shown: Array<ShownPrompt>;
  };
  sandbox?: {
    ruling: string;
    answers: boolean;
    sentence: string;
  } | null;
  purchases?: Array<{
    lineage: string;
    owners: Array<Owner>;
  }>;
  aliases?: Array<Alias>;
}

export type HappeningID = string;

export type Instant = string;

export interface Lineage {
  store: string;
  environment: Environment;
  id: string;
  ownership: "purchased" | "familyShared";
}

export type MessageChannel = "app" | "message";

export interface MessageDue {
  app: string;
  customer: string;
  environment: Environment;
  id: HappeningID;
  kind: string;
  about: MessageOccasion;
  channel: MessageChannel;
  at: Instant;
  until: Instant;
  lineage: Lineage;
  productId?: string;
  entitlements: Array<string>;
  key: WordsKey;
  arguments: Arguments;
  title: string;
  message: string;
  label?: string;
  experiment?: AssignedArm;
  answer?: EventAnswer;
}

export interface MessageDueEvent {
  id: EventID;
  kind: "message_due";
  effectiveAt: Instant;
  customer: string;
  environment: Environment;
  customerVersion: CustomerVersion;
  data: MessageDue;
}

export type MessageOccasion = "trialEnding" | "graceEntered" | "graceEnding" | "holdEntered" | "recovered" | "priceConsent" | "cleanupDue";

export interface Milliunits {
  milliunits: number;
  currency: string;
}

export interface MirroredEntitlement {
  access: boolean;
  state: State;
  reason: string;
  confidence: Confidence;
  productId: string | null;
  store: string | null;
  accessUntil: Instant | null;
  graceUntil: Instant | null;
  willRenew: boolean | null;
}

export interface OtherPurchase {
  lineage: Lineage;
  owned: boolean;
  state: string | null;
  reason: string | null;
  access: boolean | null;
  confidence: string | null;
  accessUntil: Instant | null;
  rule: string | null;
  why: string | null;
}

export interface Owner {
  lineage: Lineage;
  customer: string;
  from?: Instant;
  until?: Instant;
  why: string;
  decidedAt?: Instant;
}

export interface PassClaims {
  iss: string;
  aud: string;
  sub: string;
  environment: "production" | "sandbox" | "simulated";
  issued: Instant;
  notAfter: Instant;
  version: number;
  entitlements: Record<string, PassEntitlement>;
}

export interface PassEntitlement {
  state: "active" | "grace" | "hold" | "expired" | "never";
  reason: string;
  access: boolean;
  confidence: "confirmed" | "presumed" | "unknown";
  productId?: string;
  accessUntil?: Instant;
  graceUntil?: Instant;
  willRenew?: boolean;
  nextChange?: Instant;
  notAfter: Instant;
}

export interface PassKey {
  kty: "OKP";
  crv: "Ed25519";
  x: string;
  kid: string;
  use: "sig";
  alg: "EdDSA";
}

export interface PassKeys {
  keys: Array<PassKey>;
}

export interface PendingPurchase {
  productId: string;
  store: string;
  since: Instant;
  until?: Instant;
}

export interface PlannedMessage {
  id: HappeningID;
  about: MessageOccasion;
  channel: MessageChannel;
  at: Instant;
  until: Instant;
  entitlements: Array<string>;
  key: WordsKey;
  arguments: Arguments;
  experiment?: AssignedArm;
}

export interface PolicyVersion {
  fingerprint: string;
  effectiveAt: Instant | null;
}

export interface Price {
  milliunits: number;
  currency: string;
  period: string | null;
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail?: string;
}

export interface Prompt {
  kind: "none" | "soft" | "hard";
  entitlement?: string;
  key?: WordsKey;
  arguments?: Arguments;
  title?: string;
  message?: string;
  action?: {
    label: string;
    url: string;
  };
  alternatives?: Array<"openApp">;
  experiment?: AssignedArm;
}

export interface PromptReport {
  id: string;
  kind: "soft" | "hard" | "message" | "store";
  shownAt?: Instant;
  response?: "opened" | "dismissed";
}

export interface PurchaseMove {
  app: string;
  customer: string;
  environment: Environment;
  id: HappeningID;
  kind: string;
  at: Instant;
  lineage: Lineage;
  why: "transferred" | "moved";
  answer?: EventAnswer;
}

export interface PurchaseMovedEvent {
  id: EventID;
  kind: "purchase_moved";
  effectiveAt: Instant;
  customer: string;
  environment: Environment;
  customerVersion: CustomerVersion;
  data: PurchaseMove;
}

export interface Reconciled {
  app: string;
  customer: string;
  environment: "production" | "sandbox" | "simulated";
  asOf: Instant;
  customerVersion: number;
  entitlements: Record<string, Entitlement>;
  prompt: Prompt;
  plan?: Array<PlannedMessage>;
  pass?: string;
  items: Array<ReconciledItem>;
  drift: Array<Drift>;
}

export interface ReconciledItem {
  kind: "transaction" | "renewalInfo" | "purchase" | "receipt" | "receiptAnswer";
  index: number;
  verdict: "accepted" | "refused" | "unasked" | "failed";
  isKnown?: boolean;
  environment?: "production" | "sandbox" | "simulated";
  transactionId?: string | null;
  lineage?: string | null;
  ownership?: string;
  missing?: string;
  lineages?: Array<{
    lineage: string;
    ownership?: string;
    detail?: string;
  }>;
  reason?: string;
  detail?: string | null;
}

export interface Reminder {
  app: string;
  customer: string;
  environment: Environment;
  id: HappeningID;
  kind: string;
  at: Instant;
  lineage: Lineage;
  productId?: string;
  endsAt: Instant;
  willRenew?: boolean | null;
  answer?: EventAnswer;
}

export interface ReminderEvent {
  id: EventID;
  kind: "trial_ending" | "grace_ending";
  effectiveAt: Instant;
  customer: string;
  environment: Environment;
  customerVersion: CustomerVersion;
  data: Reminder;
}

export interface SetAsideFact {
  because: string;
  sentence: string;
  says: string;
  fact: Record<string, any>;
}

export interface ShownPrompt {
  id: string;
  kind: "soft" | "hard" | "message" | "store";
  shownAt: Instant;
  response?: "opened" | "dismissed";
}

export interface Snapshot {
  app: string;
  customer: string;
  environment: "production" | "sandbox" | "simulated";
  asOf: Instant;
  asKnownAt?: Instant;
  customerVersion: number;
  entitlements: Record<string, Entitlement>;
  prompt: Prompt;
  plan?: Array<PlannedMessage>;
  pass?: string;
}

export type State = "active" | "grace" | "hold" | "expired" | "never";

export interface TimelineSpan {
  from: Instant;
  until: Instant | null;
  state: State;
  reason: string;
  access: boolean;
  confidence: Confidence;
  rule: string;
  productId: string | null;
  store: string | null;
  lineage: string | null;
  willRenew: boolean | null;
}

export interface Transition {
  app: string;
  customer: string;
  environment: Environment;
  id: HappeningID;
  kind: string;
  at: Instant;
  learnedAt: Instant;
  lineage: Lineage;
  state: State;
  reason: string;
  confidence: Confidence;
  productId?: string;
  previousProductId?: string;
  entitlements: Array<string>;
  from?: "grace" | "hold";
  money?: Milliunits;
  durationMilliseconds?: number;
  keepArtifactsUntil?: Instant;
  recoveredBy?: Lineage;
  storefront?: string;
  familyShared: boolean;
  evidence: Array<string>;
  answer?: EventAnswer;
}

export interface TransitionEvent {
  id: EventID;
  kind: "started" | "resubscribed" | "trial_started" | "trial_converted" | "renewed" | "product_changed" | "cancelled" | "trial_cancelled" | "uncancelled" | "paused" | "resumed" | "billing_issue_entered" | "grace_ended" | "billing_issue_recovered" | "recovered_by_new_purchase" | "refunded" | "refund_reversed" | "revoked" | "reinstated" | "expired" | "trial_ended" | "cleanup_due";
  effectiveAt: Instant;
  customer: string;
  environment: Environment;
  customerVersion: CustomerVersion;
  data: Transition;
}

export interface Trial {
  startedAt: Instant;
  endsAt: Instant;
  cancelBy: Instant;
  daysLeft: number;
  urgent: boolean;
}

export interface TrialOffer {
  eligibility: "eligible" | "used" | "unknown";
  store: "appStore" | "googlePlay";
  productId: string;
  length: string;
  price: Price | null;
}

export interface UsedFact {
  as: Array<string>;
  says: string;
  fact: Record<string, any>;
}

export interface Words {
  key: WordsKey;
  arguments: Arguments;
  title: string;
  message: string;
  label: string | null;
}

export type WordsKey = string;
