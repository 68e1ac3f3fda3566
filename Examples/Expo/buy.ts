// buy.ts
import { requestPurchase } from "react-native-iap";

export async function buy(customer: string): Promise<void> {
  await requestPurchase({
    request: {
      ios: { sku: "cards.pro.monthly", appAccountToken: customer },
      android: { skus: ["cards.pro"], obfuscatedAccountIdAndroid: customer },
    },
    type: "subs",
  });
}
