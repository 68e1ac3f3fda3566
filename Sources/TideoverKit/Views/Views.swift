#if canImport(SwiftUI)
public import SwiftUI
import TideoverCore

// Views of the models beside them. They make no decisions, and have not been compiled on Apple
// platforms yet. Text styles follow the customer's text size.

/// Asks a customer with a failed payment to update it; empty if there is no prompt.
@MainActor
public struct RecoveryBanner: View {
    private let store: EntitlementStore
    private let delaysSoftPrompts: Bool
    private let translation: ScreenTranslation

    public init(
        _ store: EntitlementStore,
        delaysSoftPrompts: Bool = false,
        translation: @escaping ScreenTranslation = { $0.translated() }
    ) {
        self.store = store
        self.delaysSoftPrompts = delaysSoftPrompts
        self.translation = translation
    }

    public var body: some View {
        if let model = RecoveryBannerModel(
            store.prompt,
            delaysSoftPrompts: delaysSoftPrompts,
            translation: translation
        ) {
            RecoveryNotice(store: store, model: model)
        }
    }
}

/// The text of a prompt and its button. It reports that the prompt was shown and opened.
@MainActor
struct RecoveryNotice: View {
    let store: EntitlementStore
    let model: RecoveryBannerModel
    @SwiftUI.Environment(\.openURL) private var openURL
    /// The address of a page that the system could not open: an Apple TV has no browser.
    @SwiftUI.State private var address: String?

    var body: some View {
        VStack(alignment: .leading, spacing: 8) {
            WordsOnScreen(title: model.title, message: model.message)
                .accessibilityLabel(Text(verbatim: model.accessibilityLabel))
            if let label = model.label {
                Button(action: open) { Text(verbatim: label) }
            }
            // The customer opens it on another device.
            if let address { Text(verbatim: address).font(.subheadline) }
        }
        .padding()
        // A soft prompt can become a hard one on the screen, and one about another entitlement can
        // have the same words.
        .onChange(of: store.prompt, initial: true) { store.reportPrompt() }
    }

    private func open() {
        store.reportPrompt(.opened)
        if let url = URL(string: model.url) { openURL(url) { address = model.address(unless: $0) } }
    }
}

/// A title and a message, as one element for VoiceOver.
@MainActor
struct WordsOnScreen: View {
    let title: String
    let message: String

    var body: some View {
        VStack(alignment: .leading) {
            Text(verbatim: title).font(.headline)
            Text(verbatim: message).font(.subheadline)
        }
        .accessibilityElement(children: .ignore)
    }
}

/// Shows how long a free trial lasts and what follows; empty if none is running.
@MainActor
public struct TrialCountdown: View {
    private let store: EntitlementStore
    private let name: String
    private let translation: ScreenTranslation

    public init(
        _ store: EntitlementStore,
        _ name: String,
        translation: @escaping ScreenTranslation = { $0.translated() }
    ) {
        self.store = store
        self.name = name
        self.translation = translation
    }

    public var body: some View {
        if let model = TrialCountdownModel(store[name], at: store.now, translation: translation) {
            VStack(alignment: .leading) {
                WordsOnScreen(title: model.title, message: model.message)
                    .accessibilityLabel(Text(verbatim: model.accessibilityLabel))
                Text(verbatim: Period(days: model.daysLeft).formatted(for: .current))
                    .bold(model.isUrgent)
            }
        }
    }
}

/// Shows content to a customer with access, the recovery notice in a recoverable state, and
/// otherwise a paywall.
@MainActor
public struct EntitlementGate<Content: View, Paywall: View>: View {
    private let store: EntitlementStore
    private let name: String
    private let translation: ScreenTranslation
    private let content: Content
    private let paywall: Paywall
    @SwiftUI.Environment(\.scenePhase) private var scenePhase

    public init(
        _ store: EntitlementStore,
        _ name: String,
        translation: @escaping ScreenTranslation = { $0.translated() },
        @ViewBuilder content: () -> Content,
        @ViewBuilder paywall: () -> Paywall
    ) {
        self.store = store
        self.name = name
        self.translation = translation
        self.content = content()
        self.paywall = paywall()
    }

    public var body: some View {
        Group {
            switch EntitlementGateModel(store[name], translation: translation) {
            case .waiting: ProgressView()
            case .content: content
            case .recovery(let model): RecoveryNotice(store: store, model: model)
            case .paywall: paywall
            }
        }
        .onChange(of: scenePhase) { _, phase in
            if phase == .active { store.enteredForeground() }
        }
    }
}
#endif
