export type { AppStateLike } from "./foreground.js";
export { useEntitlement, usePrompt, useSnapshot, useTrial } from "./hooks.js";
export type { TrialState } from "./hooks.js";
export { TideoverProvider, useSession } from "./provider.js";
export type { TideoverProviderProps } from "./provider.js";
