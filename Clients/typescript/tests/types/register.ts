import type {} from "@tideover/client";

declare module "@tideover/client" {
  interface Register {
    entitlement: "premium" | "themes";
  }
}
