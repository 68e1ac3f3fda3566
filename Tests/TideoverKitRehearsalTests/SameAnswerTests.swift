import StoreKitFaking
import Testing
import TideoverCore
import TideoverKit
import TideoverSandbox

/// A device that decides from StoreKit alone gives the same answers as the server.
@Suite @MainActor struct SameAnswerTests {
    @Test(arguments: [
        "app-store-retry-entered", "app-store-grace-then-retry", "app-store-recovered-in-grace",
        "app-store-recovered-in-retry", "app-store-recovered-without-grace",
        "app-store-cancelled-in-grace", "app-store-cancelled-in-retry", "app-store-sixty-days",
        "app-store-failed-purchase", "app-store-bought-outside", "app-store-win-back",
        "app-store-interrupted-purchase", "app-store-ask-to-buy", "app-store-lifetime",
        "app-store-refund-granted", "app-store-refund-reversed", "app-store-trial-converted",
        "app-store-trial-cancelled", "app-store-family-revoked", "app-store-twelve-renewals",
        "app-store-resubscribed", "app-store-weekly-grace",
    ])
    func `device and server give the same answer at each step`(name: String) async throws {
        let scenario = try Scenario.named(name)
        for customer in scenario.customers {
            let rehearsal = try await KitRehearsal(scenario, customer: customer.name)
            let found = try await rehearsal.device.fakeStore().serve {
                try await differences(in: rehearsal)
            }
            #expect(found == [], "\(customer.name)")
            try await rehearsal.close()
        }
    }

    private func differences(in rehearsal: KitRehearsal) async throws -> [String] {
        var differences: [String] = []
        let alone = await rehearsal.launch(withServer: false)
        let served = await rehearsal.launch(withServer: true)
        for step in rehearsal.scenario.steps {
            try await rehearsal.pass(until: step.at)
            if case .store(let action) = step.action, let customer = step.customer {
                _ = try? await rehearsal.store.perform(action, by: customer)
            }
            try await rehearsal.deliver()
            alone.enteredForeground()
            await alone.settled()
            let before = try await rehearsal.served()
            served.enteredForeground()
            await served.settled()
            let after = try await rehearsal.served()
            // A purchase without an account token has no owner on the server until a device
            // presents it.
            let known = before.entitlements.filter { $0.state != .never }
            for entitlement in known + after.entitlements {
                let own = alone[entitlement.name]
                if own.gist != entitlement.gist {
                    differences.append("line \(step.line): \(own.gist) / \(entitlement.gist)")
                }
            }
            for entitlement in after.entitlements {
                let shown = served[entitlement.name].gist
                if shown != entitlement.gist {
                    differences.append("line \(step.line), shown: \(shown) / \(entitlement.gist)")
                }
            }
        }
        return differences
    }
}

extension Entitlement {
    /// The fields that both answers must share. A past end of access is not compared: StoreKit has
    /// no history of a grace period that a cancellation cut short.
    fileprivate var gist: String {
        let end = until.map(\.rfc3339) ?? "-"
        let renewal = willRenew.map { "\($0)" } ?? "-"
        let state = state?.rawValue ?? "-"
        return access == .granted
            ? "\(state) \(reason) until \(end) renews \(renewal)"
            : "\(state) \(reason) \(access) renews \(renewal)"
    }
}
