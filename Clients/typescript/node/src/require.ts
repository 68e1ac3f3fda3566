import { TideoverError } from "@tideover/client";
import type { Answer, EntitlementName } from "@tideover/client";
import type { EntitlementCache } from "./entitlements.js";

export interface RequireOptions<Request> {
  entitlements: EntitlementCache;
  /** Returns the id of the signed-in customer; undefined or empty if there is none. */
  customer: (request: Request) => string | undefined | Promise<string | undefined>;
  /**
   * What happens while it is not known whether the customer may: nothing is assumed for you. `allow`
   * also admits customers of whom the server knows no purchase yet.
   */
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
  const answer = await answered(customer, name, options.entitlements);
  switch (answer.status) {
    case "granted": return undefined;
    case "denied": return problem(403, "not-entitled", `This needs ${name}.`);
    case "unknown": return options.unknown === "allow" ? undefined : unknown(name, answer.because);
  }
}

/** The cache's answer. Frameworks would answer the customer with the status of an error of the server. */
async function answered(customer: string, name: EntitlementName, entitlements: EntitlementCache): Promise<Answer> {
  try {
    return await entitlements.answer(customer, name);
  } catch (error) {
    if (!(error instanceof TideoverError) || error.code === "bad-customer") throw error;
    const message = `The Tideover server refuses the request of this back end: ${error.message}`;
    throw Object.assign(new Error(message), { cause: error });
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
