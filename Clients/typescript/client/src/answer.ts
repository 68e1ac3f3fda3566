import { answerOf } from "./pass.js";
import type { DeviceTime, Pass } from "./pass.js";
import type { Entitlement, PassEntitlement } from "./types.js";

/**
 * Names the entitlements of your app, so that a mistyped one does not compile:
 *
 *     declare module "@tideover/client" {
 *       interface Register { entitlement: "premium" | "themes" }
 *     }
 */
export interface Register {}

/** The registered names, or any text where none are registered. */
export type EntitlementName = Register extends { entitlement: infer Name extends string } ? Name : string;

/**
 * Whether a customer may use something. It has three cases on purpose: `unknown` is neither a
 * reason to lock a paying customer out nor to sell again.
 */
export type Answer = Granted | Denied | Unknown;

export interface Granted {
  readonly status: "granted";
  readonly access: true;
  /** Assumed within a bound that the server stated, for example while a renewal is awaited. */
  readonly isPresumed: boolean;
  readonly source: "server" | "pass";
  readonly entitlement: Entitlement | PassEntitlement;
}

export interface Denied {
  readonly status: "denied";
  readonly access: false;
  readonly isPresumed: boolean;
  readonly source: "server" | "pass";
  readonly entitlement: Entitlement | PassEntitlement;
}

export interface Unknown {
  readonly status: "unknown";
  /**
   * `loading`: no answer yet, show neither. `unconfirmed`: the server could not find out, or knows
   * no purchase yet; reconcile, and do not sell. `offline`: no answer that still counts. `unnamed`:
   * the server's catalogue has no such entitlement.
   */
  readonly because: "loading" | "unconfirmed" | "offline" | "unnamed";
  /** What the server or the pass states; only with `unconfirmed`. */
  readonly entitlement?: Entitlement | PassEntitlement;
}

/** The answer that an entitlement states. */
export function answerFrom(
  entitlement: Entitlement | PassEntitlement, source: "server" | "pass", isPresumed = false,
): Answer {
  const presumed = isPresumed || entitlement.confidence !== "confirmed";
  if (entitlement.access) {
    return { status: "granted", access: true, isPresumed: presumed, source, entitlement };
  }
  if (entitlement.confidence === "unknown") {
    return { status: "unknown", because: "unconfirmed", entitlement };
  }
  return { status: "denied", access: false, isPresumed: presumed, source, entitlement };
}

/** The answer that a pass gives offline. */
export function answerFromPass(pass: Pass, name: string, time: DeviceTime): Answer {
  const answer = answerOf(pass, name, time);
  if (answer.kind === "nothing") return { status: "unknown", because: "offline" };
  return answerFrom(answer.entitlement, "pass", answer.kind === "presumed");
}
