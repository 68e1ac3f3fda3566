// tideover.ts
import { CustomerSession } from "@tideover/client";
import AsyncStorage from "@react-native-async-storage/async-storage";
import { ed25519 } from "@noble/curves/ed25519";
import { Platform } from "react-native";

declare module "@tideover/client" {
  interface Register { entitlement: "premium" }
}

export function openSession(customer: string): CustomerSession {
  return new CustomerSession({
    url: "https://billing.example.com",
    app: "cards",
    key: "pk_from_tideover_keys_add",
    customer,
    store: Platform.OS === "ios" ? "appStore" : "googlePlay", // the trials of this store are offered
    storage: AsyncStorage,
    verifier: (publicKey, signature, message) => ed25519.verify(signature, message, publicKey),
  });
}
