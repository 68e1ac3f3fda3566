import { instant } from "./instant.js";
import type { Entitlement, Prompt, Snapshot } from "./types.js";

// How long a snapshot answers while the server cannot be reached, as the table
// Conformance/clients/prompts.json states it. Pure functions; instants are milliseconds since 1970,
// on the server's clock.

/** How long a snapshot answers by itself: a day. */
const life = 24 * 3_600_000;

/** A snapshot and the server's time at which it last held. */
export interface DatedSnapshot {
  snapshot: Snapshot;
  asOf: number;
}

/** Whether a snapshot still answers at an instant. */
export function isCurrent({ asOf }: DatedSnapshot, at: number): boolean {
  return at - asOf < life;
}

/** What a snapshot states of an entitlement, until that changes by itself. */
export function statedIn(dated: DatedSnapshot, name: string, at: number): Entitlement | undefined {
  const entitlement = dated.snapshot.entitlements[name];
  if (!entitlement || !isCurrent(dated, at)) return undefined;
  const change = instant(entitlement.nextChange);
  return change !== undefined && change <= at ? undefined : entitlement;
}

/**
 * The prompt of a snapshot, until its time is over or what it is about changes; undefined after
 * that.
 */
export function promptIn(dated: DatedSnapshot, at: number): Prompt | undefined {
  const { prompt } = dated.snapshot;
  if (!isCurrent(dated, at)) return undefined;
  if (prompt.entitlement === undefined) return prompt;
  const until = instant(prompt.arguments?.until);
  const isOver = until !== undefined && until <= at;
  return isOver || !statedIn(dated, prompt.entitlement, at) ? undefined : prompt;
}
