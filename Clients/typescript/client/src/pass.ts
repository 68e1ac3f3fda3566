import type { Environment } from "./api.js";
import { instant } from "./instant.js";
import type { PassEntitlement } from "./types.js";

// What a device may believe offline, and when: the rules of TideoverCore/Pass, as the table
// Conformance/clients/passes.json states them. Pure functions; the signature is checked before
// (signature.ts).

/** The claims of a pass. Instants are milliseconds since 1970. */
export interface Pass {
  issuer: string;
  audience: string;
  customer: string;
  environment: Environment;
  issued: number;
  notAfter: number;
  version: number;
  entitlements: Map<string, PassEntitlement>;
}

/** The claims that a pass must have to be believed on a device. */
export interface PassExpectation {
  issuer: string;
  audience: string;
  customer: string;
  environment: Environment;
}

/** What a device knows of the time. */
export interface DeviceTime {
  clock: number;
  /** The newest date that something verified states, or that the device saw; undefined for none. */
  newest?: number | undefined;
}

export type PassRefusal =
  | "malformed" | "wrongIssuer" | "wrongAudience" | "wrongEnvironment" | "wrongCustomer"
  | "issuedInFuture" | "expired" | "older";

/** What a pass answers for one entitlement. `presumed`: what it stated has run its time. */
export type PassAnswer =
  | { kind: "stated" | "presumed"; entitlement: PassEntitlement }
  | { kind: "nothing" };

/** How far in the future a pass may have been issued: a device's clock can lag by that. */
const tolerance = 24 * 3_600_000;
/** The longest that any pass is good for. */
const life = 7 * 24 * 3_600_000;

/** The time to answer for: a clock that lags behind what was verified is wrong. */
export function now(time: DeviceTime): number {
  return Math.max(time.clock, time.newest ?? time.clock);
}

/** The pass of verified claims, or why it is not believed now. */
export function believe(
  claims: unknown, expected: PassExpectation, held: Pass | undefined, time: DeviceTime,
): Pass | PassRefusal {
  const pass = readPass(claims);
  if (!pass) return "malformed";
  if (pass.issuer !== expected.issuer) return "wrongIssuer";
  if (pass.audience !== expected.audience) return "wrongAudience";
  if (pass.environment !== expected.environment) return "wrongEnvironment";
  if (pass.customer !== customerID(expected.customer)) return "wrongCustomer";
  if (pass.issued > now(time) + tolerance) return "issuedInFuture";
  if (Math.max(now(time), pass.issued) >= pass.notAfter) return "expired";
  return held && isOlder(pass, held) ? "older" : pass;
}

/** What a pass answers at a device's time, which is never before the pass was issued. */
export function answerOf(pass: Pass, name: string, time: DeviceTime): PassAnswer {
  const at = Math.max(now(time), pass.issued);
  const entitlement = pass.entitlements.get(name);
  if (!entitlement) return { kind: "nothing" };
  const end = Math.min(pass.notAfter, instant(entitlement.notAfter) ?? pass.issued);
  if (at >= end) return { kind: "nothing" };
  const stated = instant(entitlement.access ? entitlement.accessUntil : entitlement.nextChange);
  return { kind: stated !== undefined && stated <= at ? "presumed" : "stated", entitlement };
}

/** When a device asks for a new pass; undefined where a new one would last no longer. */
export function renewAt(pass: Pass): number | undefined {
  return pass.notAfter === pass.issued + life ? pass.issued + life / 2 : undefined;
}

/** The instants after `at` from which a pass may answer otherwise. */
export function boundaries(pass: Pass, at: number): number[] {
  const texts = [...pass.entitlements.values()].flatMap(
    ({ accessUntil, nextChange, notAfter }) => [accessUntil, nextChange, notAfter]);
  return [pass.notAfter, ...texts.map(instant)].filter(
    (end): end is number => end !== undefined && end > at);
}

/** An id as the server compares it: UUIDs in lower case. */
export function customerID(id: string): string {
  const isUUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
  return isUUID ? id.toLowerCase() : id;
}

function isOlder(pass: Pass, held: Pass): boolean {
  const isOfTheSame = pass.customer === held.customer && pass.audience === held.audience
    && pass.environment === held.environment && pass.issuer === held.issuer;
  if (!isOfTheSame) return false;
  return pass.version < held.version || (pass.version === held.version && pass.issued < held.issued);
}

const states = ["active", "grace", "hold", "expired", "never"];
const confidences = ["confirmed", "presumed", "unknown"];
const environments = ["production", "sandbox", "simulated"];

/** Members that are not known are ignored; nothing that is needed may be missing. */
function readPass(claims: unknown): Pass | undefined {
  if (!isObject(claims) || !isObject(claims.entitlements)) return undefined;
  const { iss, aud, sub, environment, version } = claims;
  const issued = instant(claims.issued);
  const notAfter = instant(claims.notAfter);
  if (typeof iss !== "string" || typeof aud !== "string" || typeof sub !== "string" || sub === ""
    || !environments.includes(environment as string) || !Number.isInteger(version)
    || issued === undefined || notAfter === undefined) return undefined;
  const entitlements = new Map<string, PassEntitlement>();
  for (const [name, value] of Object.entries(claims.entitlements)) {
    const entitlement = readEntitlement(value);
    if (!entitlement) return undefined;
    entitlements.set(name, entitlement);
  }
  return {
    issuer: iss, audience: aud, customer: customerID(sub), environment: environment as Environment,
    issued, notAfter, version: version as number, entitlements,
  };
}

/** `access` follows from the state, whatever the member states. */
function readEntitlement(value: unknown): PassEntitlement | undefined {
  if (!isObject(value)) return undefined;
  const { state, reason, confidence } = value;
  const isInstant = (it: unknown) => it === undefined || it === null || instant(it) !== undefined;
  const isOptional = (it: unknown, type: string) => it === undefined || it === null || typeof it === type;
  const isRight = states.includes(state as string) && typeof reason === "string"
    && confidences.includes(confidence as string) && instant(value.notAfter) !== undefined
    && [value.accessUntil, value.graceUntil, value.nextChange].every(isInstant)
    && isOptional(value.productId, "string") && isOptional(value.willRenew, "boolean");
  if (!isRight) return undefined;
  const known = Object.entries(value).filter(([, member]) => member !== null);
  const access = state === "active" || state === "grace";
  return { ...Object.fromEntries(known), access } as PassEntitlement;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
