import TideoverCore
import TideoverJSON
import TideoverStorage

/// A summary of a stored answer.
struct AnswerGist: Hashable, Sendable {
    /// Whether it grants access to anything.
    let givesAccess: Bool
    /// Whether anything was ever bought or granted.
    let isKnown: Bool

    /// Reads a stored answer; other bytes count as an empty answer.
    init(_ answer: [UInt8]) {
        let root = try? JSONDocument(answer, limits: .local).root
        let entitlements = root?["entitlements"]?.members.map(\.value) ?? []
        givesAccess = entitlements.contains { $0["access"]?.bool == true }
        isKnown = entitlements.contains { $0["state"]?.string != State.never.rawValue }
    }

    init(_ snapshot: Snapshot) {
        givesAccess = snapshot.entitlements.contains(where: \.standing.access)
        isKnown = snapshot.entitlements.contains { $0.standing.state != .never }
    }
}

extension App {
    /// Returns the customer's key in the sandbox, if the sandbox may answer for production; nil if
    /// policy allows that for none of these ids.
    func sandboxKey(for production: CustomerKey, _ ids: [CustomerID]) -> CustomerKey? {
        guard servesSandboxBeside(production.environment) else { return nil }
        switch policy.sandbox {
        case .deny: return nil
        case .testers: guard ids.contains(where: policy.testers.contains) else { return nil }
        case .review: break
        }
        return CustomerKey(app: id, environment: .sandbox, customer: production.customer)
    }

    /// Returns whether an environment is production and the app also serves the sandbox.
    func servesSandboxBeside(_ environment: Environment) -> Bool {
        environment == .production && environments.contains(.sandbox)
    }
}

extension SandboxRuling {
    /// Rules on the answers of production and sandbox.
    init(_ policy: Policy, for ids: [CustomerID], production: AnswerGist, sandbox: AnswerGist) {
        self.init(
            policy,
            for: ids,
            Reading(
                productionGivesAccess: production.givesAccess,
                isKnownInProduction: production.isKnown,
                sandboxGivesAccess: sandbox.givesAccess
            )
        )
    }
}
