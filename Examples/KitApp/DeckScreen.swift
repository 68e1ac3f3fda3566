import SwiftUI
import TideoverKit

/// The content. The banner appears above it in grace. Without access the paywall appears, or on hold
/// the prompt, which the gate shows by itself.
struct DeckScreen: View {
    let store: EntitlementStore

    var body: some View {
        EntitlementGate(store, Cards.premium) {
            VStack {
                RecoveryBanner(store)
                TrialCountdown(store, Cards.premium)
                List(1..<53) { number in Text("Card \(number)") }
            }
        } paywall: {
            PaywallScreen(store: store)
        }
    }
}
