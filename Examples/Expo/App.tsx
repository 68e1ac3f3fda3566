// App.tsx
import { useEffect, useState } from "react";
import { PurchaseSync } from "@tideover/client";
import { TideoverProvider } from "@tideover/react-native";
import * as iap from "react-native-iap";
import { Cards } from "./Cards";
import { openSession } from "./tideover";

export default function App({ customer }: { customer: string }) {
  const [session] = useState(() => openSession(customer));
  useEffect(() => {
    const sync = new PurchaseSync(session, iap, { onError: (error) => console.warn(error) });
    void iap.initConnection().then(() => sync.start());
    return () => {
      sync.stop();
      void iap.endConnection();
    };
  }, [session]);
  return <TideoverProvider session={session}><Cards /></TideoverProvider>;
}
