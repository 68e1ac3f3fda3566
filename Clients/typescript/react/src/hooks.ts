import type { Answer, EntitlementName, Prompt, Snapshot, Trial, TrialOffer, Words } from "@tideover/client";
import { useCallback, useSyncExternalStore } from "react";
import { useSession } from "./provider.js";

/**
 * Whether the customer may use something. `unknown` before the first answer: show neither the
 * feature nor the paywall then, so that no lock flashes.
 */
export function useEntitlement(name: EntitlementName): Answer {
  const session = useSession();
  return useValue(useCallback(() => session.answer(name), [session, name]));
}

/** The message for a customer with a failed payment; `kind` is `none` if there is none. */
export function usePrompt(): Prompt {
  const session = useSession();
  return useValue(useCallback(() => session.prompt, [session])) ?? noPrompt;
}

export interface TrialState {
  /** The running trial; null while none runs. */
  running: Trial | null;
  /** The trial that can be offered; null if there is none. Offer it only where it is `eligible`. */
  offer: TrialOffer | null;
  /** The text for a screen about it. */
  words: Words | null;
}

/** The trial of an entitlement; undefined before the first answer and offline. */
export function useTrial(name: EntitlementName): TrialState | undefined {
  const session = useSession();
  const entitlement = useValue(useCallback(() => session.stated(name), [session, name]));
  if (!entitlement) return undefined;
  const { trial: running, trialOffer: offer, words } = entitlement;
  return { running, offer, words };
}

/** The server's last answer in full; undefined before the first answer and offline. */
export function useSnapshot(): Snapshot | undefined {
  const session = useSession();
  return useValue(useCallback(() => session.snapshot, [session]));
}

const noPrompt: Prompt = { kind: "none" };

function useValue<Value>(read: () => Value): Value {
  const session = useSession();
  const subscribe = useCallback((listener: () => void) => session.subscribe(listener), [session]);
  return useSyncExternalStore(subscribe, read, read);
}
