// Hold.tsx
import { RecoveryBanner, useSession } from "@tideover/react-native";
import { Button, Text, View } from "react-native";

/** The payment failed and access is over: the banner's button opens the store's page. */
export function Hold() {
  const session = useSession();
  return (
    <View>
      <RecoveryBanner />
      <Text>Your cards are kept. They return as soon as the payment succeeds.</Text>
      <Button title="I have paid" onPress={() => void session.refresh()} />
    </View>
  );
}
