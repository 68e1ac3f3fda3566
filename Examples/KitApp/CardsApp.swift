import StoreKit
import SwiftUI
import TideoverCore
import TideoverKit

// A complete app with three screens: the deck with its banner, the paywall, and the settings.
// Set the values of `Cards` to your own.

enum Cards {
    static let bundleId = "com.example.cards"
    static let monthly = "cards.pro.monthly"
    static let premium = "premium"
    /// A UUID, so that each purchase carries it as its account token.
    static let customer = CustomerID("3b0d7c1e-8f3a-4c57-9d0e-2a55a5b2f1aa")
    static let server = Tideover.Server(
        app: "cards",
        apiKey: "pk_replace_me",
        url: "https://billing.example.com"
    )
}

@main
struct CardsApp: App {
    // TideoverCore has a `State` too.
    @SwiftUI.State private var store = CardsApp.start()

    var body: some Scene {
        WindowGroup {
            if let store {
                TabView {
                    DeckScreen(store: store).tabItem {
                        Label("Cards", systemImage: "rectangle.stack")
                    }
                    SettingsScreen(store: store).tabItem { Label("Settings", systemImage: "gear") }
                }
            } else {
                Text("The app's file could not be created.")
            }
        }
    }

    private static func start() -> EntitlementStore? {
        guard let customer = Cards.customer else { return nil }
        return try? Tideover.start(
            Tideover.Configuration(
                bundleId: Cards.bundleId,
                customer: customer,
                products: [
                    SoldProduct(
                        Cards.monthly,
                        unlocks: [Cards.premium],
                        period: Period(months: 1)
                    )
                ],
                server: Cards.server
            )
        )
    }
}
