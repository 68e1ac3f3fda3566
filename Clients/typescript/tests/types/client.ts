// The compiler fails if a line below a `@ts-expect-error` compiles.
import { CustomerSession, PurchaseSync, TideoverAPI } from "@tideover/client";
import type { Answer, PurchaseLibrary } from "@tideover/client";
import "./register.js";

declare const session: CustomerSession;

session.answer("premium");
// @ts-expect-error an entitlement that is not registered
session.answer("premum");

// `unknown` cannot be overlooked.
const answer: Answer = session.answer("premium");
// @ts-expect-error there is no access before it is asked whether it is known
answer.access;

function text(it: Answer): string {
  switch (it.status) {
    case "granted": return it.entitlement.reason;
    case "denied": return "locked";
    case "unknown": return it.because;
  }
}

// @ts-expect-error a case is missing
function textWithoutUnknown(it: Answer): string {
  switch (it.status) {
    case "granted": return "open";
    case "denied": return "locked";
  }
}

if (answer.status === "granted") {
  const open: true = answer.access;
}

// @ts-expect-error a session is of a customer
new CustomerSession({ url: "https://billing.example.com", app: "cards", key: "pk" });
// @ts-expect-error an environment that there is not
new TideoverAPI({ url: "https://billing.example.com", app: "cards", key: "pk", environment: "staging" });
// The platform's own fetch and storage fit.
new CustomerSession({
  url: "https://billing.example.com", app: "cards", key: "pk", customer: "anna", fetch, storage: localStorage,
});

// A store library whose purchases are an interface of its own, as react-native-iap's are.
interface Purchase {
  id: string;
  productId: string;
  purchaseToken?: string | null;
  purchaseState: "pending" | "purchased" | "unknown";
}
declare const library: PurchaseLibrary<Purchase>;
declare const purchases: Purchase[];
new PurchaseSync(session, library, { isConsumable: ({ productId }) => productId === "coins" });
void session.reconcile(purchases);
// @ts-expect-error a library that cannot finish
new PurchaseSync(session, { getAvailablePurchases: library.getAvailablePurchases });

// Explanations and timelines have types down to their sentences.
declare const api: TideoverAPI;
void api.explain("anna").then(({ entitlements }): string[] | undefined => entitlements.premium?.why);
void api.timeline("anna").then(({ entitlements }) => entitlements.premium?.spans[0]?.access);
// @ts-expect-error a member that a span lacks
void api.timeline("anna").then(({ entitlements }) => entitlements.premium?.spans[0]?.acces);
