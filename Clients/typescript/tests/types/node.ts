import { TideoverAPI } from "@tideover/client";
import { EntitlementCache, requireEntitlement, verifyWebhook, withEntitlement } from "@tideover/node";
import "./register.js";

const entitlements = new EntitlementCache(
  new TideoverAPI({ url: "https://billing.example.com", app: "cards", key: "sk" }));
const customer = () => "anna";

requireEntitlement("premium", { entitlements, customer, unknown: "deny" });
// @ts-expect-error `unknown` is required
requireEntitlement("premium", { entitlements, customer });
// @ts-expect-error an entitlement that is not registered
requireEntitlement("gold", { entitlements, customer, unknown: "deny" });

// The handlers that Next.js takes.
const GET: (request: Request, context: { params: { id: string } }) => Promise<Response> =
  withEntitlement("premium", { entitlements, customer, unknown: "deny" }, (_, context: { params: { id: string } }) =>
    new Response(context.params.id));

// @ts-expect-error a webhook cannot be verified without a key
void verifyWebhook(new Headers(), "{}", {});
