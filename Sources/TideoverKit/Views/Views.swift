#if canImport(SwiftUI)
public import SwiftUI

// Views of the models beside them. They make no decisions, and have not been compiled on Apple
// platforms yet.

/// Asks a customer with a failed payment to update it; empty if there is no prompt.
@MainActor
public struct RecoveryBanner: View {
    private let store: EntitlementStore
    private let delaysSoftPrompts: Bool
    @SwiftUI.Environment(\.openURL) private var openURL

    public init(_ store: EntitlementStore, delaysSoftPrompts: Bool = false) {
        self.store = store
        self.delaysSoftPrompts = delaysSoftPrompts
    }

    public var body: some View {
        if let model = RecoveryBannerModel(store.prompt, delaysSoftPrompts: delaysSoftPrompts) {
            RecoveryNotice(model: model) {
                store.reportPrompt(.opened)
                if let url = URL(string: model.url) { openURL(url) }
            }
            .onAppear { store.reportPrompt() }
        }
    }
}

/// The text of a prompt and its button.
@MainActor
struct RecoveryNotice: View {
    let model: RecoveryBannerModel
    let act: @MainActor () -> Void

    var body: some View {
        VStack(alignment: .leading, spacing: 8) {
            VStack(alignment: .leading) {
                Text(verbatim: model.title).font(.headline)
                Text(verbatim: model.message).font(.subheadline)
            }
            .accessibilityElement(children: .ignore)
            .accessibilityLabel(Text(verbatim: model.accessibilityLabel))
            if let label = model.label { Button(action: act) { Text(verbatim: label) } }
        }
        .padding()
    }
}

/// Counts the days of a free trial; empty if none is running.
@MainActor
public struct TrialCountdown: View {
    private let store: EntitlementStore
    private let name: String

    public init(_ store: EntitlementStore, _ name: String) {
        self.store = store
        self.name = name
    }

    public var body: some View {
        if let model = TrialCountdownModel(store[name], at: store.now) {
            Text(verbatim: model.text).fontWeight(model.isUrgent ? .bold : .regular)
        }
    }
}

/// Shows content to a customer with access, the recovery notice in a recoverable state, and
/// otherwise a paywall.
@MainActor
public struct EntitlementGate<Content: View, Paywall: View>: View {
    private let store: EntitlementStore
    private let name: String
    private let content: Content
    private let paywall: Paywall
    @SwiftUI.Environment(\.openURL) private var openURL
    @SwiftUI.Environment(\.scenePhase) private var scenePhase

    public init(
        _ store: EntitlementStore,
        _ name: String,
        @ViewBuilder content: () -> Content,
        @ViewBuilder paywall: () -> Paywall
    ) {
        self.store = store
        self.name = name
        self.content = content()
        self.paywall = paywall()
    }

    public var body: some View {
        Group {
            switch EntitlementGateModel(store[name], prompt: store.prompt) {
            case .waiting: ProgressView()
            case .content: content
            case .recovery(let model):
                RecoveryNotice(model: model) {
                    if let url = URL(string: model.url) { openURL(url) }
                }
            case .paywall: paywall
            }
        }
        .onChange(of: scenePhase) { _, phase in
            if phase == .active { store.enteredForeground() }
        }
    }
}
#endif
