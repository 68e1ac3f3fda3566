import SwiftUI
import TideoverKit

/// Explains the answer, and opens the store's sheet for subscriptions.
struct SettingsScreen: View {
    let store: EntitlementStore
    @SwiftUI.Environment(\.openURL) private var openURL

    var body: some View {
        let premium = store[Cards.premium]
        Form {
            Section("Why?") {
                LabeledContent("Reason", value: premium.reason)
                LabeledContent("Answer is", value: premium.confidence.rawValue)
                if let until = premium.until {
                    LabeledContent("Until", value: until.date.formatted())
                }
                if let renews = premium.willRenew {
                    LabeledContent("Renews", value: renews ? "Yes" : "No")
                }
                if store.state.isClockSetBack { Text("The clock of this device is wrong.") }
            }
            Section {
                Button("Manage subscription") { manage() }
            }
        }
    }

    private func manage() {
        #if os(iOS) || os(visionOS)
        let scenes = UIApplication.shared.connectedScenes.compactMap { $0 as? UIWindowScene }
        guard let scene = scenes.first else { return }
        Task { try? await store.manageSubscriptions(in: scene) }
        #else
        if let url = URL(string: "https://apps.apple.com/account/subscriptions") { openURL(url) }
        #endif
    }
}
