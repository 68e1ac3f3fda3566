export type { BannerContent } from "./banner.js";
export { RecoveryBanner, subscriptionsPage, TrialBanner } from "./banners.js";
export type { BannerOptions, TrialBannerOptions } from "./banners.js";
export { TideoverProvider } from "./provider.js";
export { dark, light } from "./theme.js";
export type { Theme } from "./theme.js";
export { useEntitlement, usePrompt, useSession, useSnapshot, useTrial } from "@tideover/react";
