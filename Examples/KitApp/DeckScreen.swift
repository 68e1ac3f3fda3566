import SwiftUI
import TideoverKit

/// The content. The banner appears while a payment fails; without access the paywall appears.
struct DeckScreen: View {
    let store: EntitlementStore

    var body: some View {
        VStack {
            RecoveryBanner(store)
            TrialCountdown(store, Cards.premium)
            EntitlementGate(store, Cards.premium) {
                List(1..<53) { number in Text("Card \(number)") }
            } paywall: {
                PaywallScreen(store: store)
            }
        }
    }
}
