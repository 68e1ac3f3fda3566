// Cards.tsx
import {
  RecoveryBanner, TrialBanner, useEntitlement, usePrompt, useSession,
} from "@tideover/react-native";
import { Button, Text, View } from "react-native";
import { Hold } from "./Hold";
import { Offer } from "./Offer";

export function Cards() {
  const premium = useEntitlement("premium");
  const prompt = usePrompt();
  switch (premium.status) {
    case "unknown": return <Waiting because={premium.because} />;
    case "granted": return (
      <View>
        <RecoveryBanner />
        <TrialBanner entitlement="premium" />
        <Text>All your cards</Text>
      </View>
    );
    case "denied": return prompt.kind === "hard" ? <Hold /> : <Offer />;
  }
}

/** Neither the cards nor the offer: who has paid must not be asked to pay again. */
function Waiting({ because }: { because: string }) {
  const session = useSession();
  if (because === "loading") return null;
  return (
    <View>
      <Text>{because === "offline" ? "You are offline." : "We are checking with the store."}</Text>
      <Button title="Try again" onPress={() => void session.refresh()} />
    </View>
  );
}
