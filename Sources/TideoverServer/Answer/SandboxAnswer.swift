import TideoverCore
import TideoverJSON
import TideoverStorage

/// What a stored answer says in short.
struct AnswerGist: Hashable, Sendable {
    /// Whether it gives access to anything.
    let givesAccess: Bool
    /// Whether anything was ever bought or granted.
    let isKnown: Bool

    /// Reads an answer as it is stored; of anything else it says nothing.
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
    /// The customer's key in the sandbox, where that might answer for production: nil where policy lets
    /// it serve none of these ids.
    func sandboxKey(for production: CustomerKey, _ ids: [CustomerID]) -> CustomerKey? {
        guard servesSandboxBeside(production.environment) else { return nil }
        switch policy.sandbox {
        case .deny: return nil
        case .testers: guard ids.contains(where: policy.testers.contains) else { return nil }
        case .review: break
        }
        return CustomerKey(app: id, environment: .sandbox, customer: production.customer)
    }

    /// Whether an environment is production, and the sandbox is served beside it.
    func servesSandboxBeside(_ environment: Environment) -> Bool {
        environment == .production && environments.contains(.sandbox)
    }
}

extension SandboxRuling {
    /// Rules by what the answers of production and sandbox say.
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
