import type { Arguments, EntitlementName } from "@tideover/client";
import { usePrompt, useSession, useSnapshot, useTrial } from "@tideover/react";
import { createElement, useEffect } from "react";
import type { ReactElement } from "react";
import { Linking, Platform } from "react-native";
import { Banner } from "./banner.js";
import type { BannerContent } from "./banner.js";
import { light } from "./theme.js";
import type { Theme } from "./theme.js";

export interface BannerOptions {
  theme?: Theme;
  /** Your own text for a key of docs/words.md; the server's English where it returns undefined. */
  translate?: (key: string, values: Arguments) => BannerContent | undefined;
  /** Instead of opening the store's page. */
  onPress?: (url: string) => void;
  /** Receives why the store's page could not be opened. */
  onError?: (error: unknown) => void;
}

/**
 * Asks a customer with a failed payment to update it; renders nothing without a prompt. It reports to
 * the server that the prompt was shown, and that its button was pressed.
 */
export function RecoveryBanner(options: BannerOptions): ReactElement | null {
  const session = useSession();
  const prompt = usePrompt();
  const isShown = prompt.kind !== "none" && prompt.key !== undefined;
  // A soft prompt can become a hard one on the screen.
  useEffect(() => {
    if (isShown) void session.reportShownPrompt();
  }, [session, prompt, isShown]);
  if (prompt.kind === "none" || prompt.key === undefined) return null;
  const { key, title = "", message = "", action } = prompt;
  const content = options.translate?.(key, prompt.arguments ?? {})
    ?? { title, message, label: action?.label ?? null };
  const opened = () => void session.reportShownPrompt("opened");
  return banner(content, action?.url, "tideover-recovery", options, opened);
}

export interface TrialBannerOptions extends BannerOptions {
  entitlement: EntitlementName;
}

/** Shows how long a free trial lasts and what follows; renders nothing while none runs. */
export function TrialBanner({ entitlement, ...options }: TrialBannerOptions): ReactElement | null {
  const snapshot = useSnapshot();
  const trial = useTrial(entitlement);
  if (!trial?.running || !trial.words) return null;
  const { key, title, message, label } = trial.words;
  const content = options.translate?.(key, trial.words.arguments) ?? { title, message, label };
  return banner(content, snapshot?.entitlements[entitlement]?.advice?.url, "tideover-trial", options);
}

function banner(
  content: BannerContent, url: string | null | undefined, testID: string, options: BannerOptions,
  pressed = () => {},
): ReactElement {
  const { theme = light, onPress, onError } = options;
  const target = url ?? subscriptionsPage(Platform.OS);
  const open = () => {
    pressed();
    if (onPress) return onPress(target);
    Linking.openURL(target).catch((error: unknown) => onError?.(error));
  };
  return createElement(Banner, { ...content, theme, testID, onPress: open });
}

/**
 * Where a store lets its customers manage subscriptions, by the platform's name in React Native.
 */
export function subscriptionsPage(platform: string): string {
  return platform === "android"
    ? "https://play.google.com/store/account/subscriptions"
    : "https://apps.apple.com/account/subscriptions";
}
