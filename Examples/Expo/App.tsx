// App.tsx
import { useEffect, useMemo } from "react";
import { PurchaseSync } from "@tideover/client";
import { TideoverProvider } from "@tideover/react-native";
import * as iap from "react-native-iap";
import { Cards } from "./Cards";
import { openSession } from "./tideover";

export default function App({ customer }: { customer: string }) {
  const session = useMemo(() => openSession(customer), [customer]);
  useEffect(() => {
    const onError = (error: unknown) => console.warn(error);
    const sync = new PurchaseSync(session, iap, { onError });
    let isShown = true;
    iap.initConnection().then(async () => { if (isShown) await sync.start(); }).catch(onError);
    return () => {
      isShown = false;
      sync.stop();
      iap.endConnection().catch(onError);
    };
  }, [session]);
  return <TideoverProvider session={session}><Cards /></TideoverProvider>;
}
