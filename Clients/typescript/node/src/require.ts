import type { Answer, EntitlementName } from "@tideover/client";
import type { EntitlementCache } from "./entitlements.js";

export interface RequireOptions<Request> {
  entitlements: EntitlementCache;
  /** Returns the id of the signed-in customer; undefined or empty if there is none. */
  customer: (request: Request) => string | undefined | Promise<string | undefined>;
  /** What happens while it is not known whether the customer may: nothing is assumed for you. */
  unknown: "allow" | "deny";
}

/** A refusal as problem+json (RFC 9457). */
export interface Refusal {
  status: 401 | 403 | 503;
  headers: Record<string, string>;
  body: string;
}

/**
 * Undefined if the customer of a request may use the entitlement, or the response to send instead.
 */
export async function refusal<Request>(
  name: EntitlementName, request: Request, options: RequireOptions<Request>,
): Promise<Refusal | undefined> {
  const customer = await options.customer(request);
  if (!customer) return problem(401, "signed-out", "Sign in first.");
  const answer = await options.entitlements.answer(customer, name);
  switch (answer.status) {
    case "granted": return undefined;
    case "denied": return problem(403, "not-entitled", `This needs ${name}.`);
    case "unknown": return options.unknown === "allow" ? undefined : unknown(name, answer.because);
  }
}

function unknown(name: string, because: (Answer & { status: "unknown" })["because"]): Refusal {
  if (because !== "offline") return problem(403, because, `It is not confirmed that you have ${name}.`);
  const refused = problem(503, because, `It cannot be found out now whether you have ${name}.`);
  return { ...refused, headers: { ...refused.headers, "Retry-After": "30" } };
}

function problem(status: Refusal["status"], code: string, title: string): Refusal {
  return {
    status,
    headers: { "Content-Type": "application/problem+json", "Cache-Control": "no-store" },
    body: JSON.stringify({ type: `urn:tideover:client:${code}`, title, status }),
  };
}
