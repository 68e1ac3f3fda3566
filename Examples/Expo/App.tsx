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
    const sync = new PurchaseSync(session, iap, { onError: (error) => console.warn(error) });
    let isShown = true;
    void iap.initConnection().then(async () => { if (isShown) await sync.start(); });
    return () => {
      isShown = false;
      sync.stop();
      void iap.endConnection();
    };
  }, [session]);
  return <TideoverProvider session={session}><Cards /></TideoverProvider>;
}
