// index.ts
import { TideoverAPI } from "@tideover/client";
import { EntitlementCache, withEntitlement } from "@tideover/node";

const api = new TideoverAPI({
  url: Deno.env.get("TIDEOVER_URL") ?? "", app: "cards", key: Deno.env.get("TIDEOVER_KEY") ?? "",
});

Deno.serve(withEntitlement("premium", {
  entitlements: new EntitlementCache(api),
  unknown: "deny",
  // Supabase has verified the token before the function runs.
  customer: (request: Request) => {
    const [, claims] = request.headers.get("Authorization")?.split(".") ?? [];
    return claims && JSON.parse(atob(claims.replace(/-/g, "+").replace(/_/g, "/"))).sub;
  },
}, () => new Response("Here you are.")));
