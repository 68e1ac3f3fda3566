import { RecoveryBanner, TideoverProvider, TrialBanner, useEntitlement, useTrial } from "@tideover/react-native";
import type { CustomerSession } from "@tideover/client";
import "./register.js";

declare const session: CustomerSession;

function Screen() {
  const premium = useEntitlement("premium");
  // @ts-expect-error an entitlement that is not registered
  useEntitlement("gold");
  // @ts-expect-error access cannot be read before the answer is known
  if (premium.access) return null;
  // @ts-expect-error before the first answer there is no trial
  useTrial("premium").running;
  return premium.status === "granted" ? <RecoveryBanner /> : <TrialBanner entitlement="themes" />;
}

const app = <TideoverProvider session={session}><Screen /></TideoverProvider>;
// @ts-expect-error a provider needs a session
const broken = <TideoverProvider><Screen /></TideoverProvider>;
// @ts-expect-error a trial is of an entitlement
const trial = <TrialBanner />;
