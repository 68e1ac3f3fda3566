export { EntitlementCache } from "./entitlements.js";
export type { EntitlementCacheOptions } from "./entitlements.js";
export * from "./frameworks.js";
export { refusal } from "./require.js";
export type { Refusal, RequireOptions } from "./require.js";
export { nodeVerifier } from "./verifier.js";
export { verifyWebhook, WebhookRefusal } from "./webhook.js";
export type { Webhook, WebhookHeaders, WebhookOptions } from "./webhook.js";
