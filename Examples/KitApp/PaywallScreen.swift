import StoreKit
import SwiftUI
import TideoverKit

/// Offers the subscription. `PurchaseAction` confirms in the right window on every platform.
struct PaywallScreen: View {
    let store: EntitlementStore
    @SwiftUI.Environment(\.purchase) private var purchase
    @State private var product: StoreKit.Product?
    @State private var note: String?

    var body: some View {
        VStack(spacing: 16) {
            Text("Every card, every day").font(.title)
            // The store does not report that a request was declined, and a second one is safe.
            if store[Cards.premium].isWaiting { Text("Your purchase waits for approval.") }
            if let product {
                Button("Subscribe for \(product.displayPrice)") { Task { await buy(product) } }
            } else {
                ProgressView()
            }
            Button("Restore purchases") { Task { await restore() } }
            if let note { Text(note).font(.footnote) }
        }
        .padding()
        .task { await load() }
    }

    /// The store may return no products, for example without a connection.
    private func load() async {
        let products = try? await StoreKit.Product.products(for: [Cards.monthly])
        product = products?.first
        if product == nil { note = "The App Store did not answer. Try again later." }
    }

    private func buy(_ product: StoreKit.Product) async {
        do {
            let options = store.purchaseOptions
            let outcome = try await store.purchase(product.id) {
                try await purchase(product, options: options)
            }
            note = outcome == .unverified ? "The purchase could not be verified here." : nil
        } catch {
            note = error.localizedDescription
        }
    }

    private func restore() async {
        switch await store.restore() {
        case .found: note = nil
        case .nothingFound: note = "There is no purchase to restore."
        case .notSynchronised, .notAnswered: note = "The store did not answer. Try again later."
        }
    }
}
