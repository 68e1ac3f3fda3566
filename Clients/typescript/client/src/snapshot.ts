import { instant } from "./instant.js";
import type { Entitlement, Prompt, Snapshot, Trial } from "./types.js";

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

/**
 * What a snapshot states of an entitlement, until that changes by itself. The days of a trial are
 * counted to the instant; the words are the server's.
 */
export function statedIn(dated: DatedSnapshot, name: string, at: number): Entitlement | undefined {
  const entitlement = dated.snapshot.entitlements[name];
  if (!entitlement || !isCurrent(dated, at)) return undefined;
  const change = instant(entitlement.nextChange);
  return change !== undefined && change <= at ? undefined : counted(entitlement, at);
}

/** When the days left of a trial change next; undefined after its end. */
export function nextTick(trial: Trial | null, at: number): number | undefined {
  const time = trial && timeLeft(trial, at);
  return time && time.left > 0 ? at + time.left - Math.floor((time.left - 1) / time.day) * time.day : undefined;
}

/** The last copy of each entitlement, so that what is read twice is the same object. */
const copies = new WeakMap<Entitlement, Entitlement>();

function counted(entitlement: Entitlement, at: number): Entitlement {
  const { trial } = entitlement;
  const time = trial && timeLeft(trial, at);
  if (!time) return entitlement;
  const daysLeft = Math.max(0, Math.ceil(time.left / time.day));
  const urgent = time.left <= time.day;
  for (const known of [entitlement, copies.get(entitlement)]) {
    if (known?.trial?.daysLeft === daysLeft && known.trial.urgent === urgent) return known;
  }
  const copy = { ...entitlement, trial: { ...trial, daysLeft, urgent } };
  copies.set(entitlement, copy);
  return copy;
}

/** The time to a trial's end, and the length of its days: a sandbox has shorter ones. */
function timeLeft({ endsAt, cancelBy }: Trial, at: number): { left: number; day: number } | undefined {
  const end = instant(endsAt);
  const last = instant(cancelBy);
  return end === undefined || last === undefined ? undefined : { left: end - at, day: Math.max(1, end - last) };
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
