// Offer.tsx
import { useSession, useTrial } from "@tideover/react-native";
import { Button, Text, View } from "react-native";
import { buy } from "./buy";

export function Offer() {
  const { customer } = useSession();
  const trial = useTrial("premium");
  const label = trial?.offer?.eligibility === "eligible" ? "Start free trial" : "Subscribe";
  return (
    <View>
      <Text>{trial?.words?.title ?? "Premium"}</Text>
      <Text>{trial?.words?.message ?? ""}</Text>
      <Button title={label} onPress={() => buy(customer).catch(console.warn)} />
    </View>
  );
}
