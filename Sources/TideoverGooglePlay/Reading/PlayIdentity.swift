public import TideoverCore

/// Which app is read for, which environments it takes part in, and who answers for it.
public struct PlayIdentity: Hashable, Sendable {
    public let packageName: String
    public let environments: Set<Environment>
    /// Whether a simulated store answers: whatever it says is simulated.
    public let isSimulated: Bool

    public init(packageName: String, environments: Set<Environment>, isSimulated: Bool = false) {
        self.packageName = packageName
        self.environments = environments
        self.isSimulated = isSimulated
    }

    func require(packageName found: String?) throws(PlayRefusal) {
        guard found == packageName else {
            throw .wrongPackage(expected: packageName, found: found)
        }
    }

    /// Where a purchase belongs: what a licence tester buys is no production's. Refused where the app
    /// takes no part in it.
    func environment(ofTest isTest: Bool) throws(PlayRefusal) -> Environment {
        try require(isSimulated ? .simulated : isTest ? .sandbox : .production)
    }

    /// Where a purchase is taken to belong of which nobody says whether a tester bought it.
    package var usualEnvironment: Environment {
        if isSimulated { return .simulated }
        return environments.contains(.production) ? .production : .sandbox
    }

    private func require(_ environment: Environment) throws(PlayRefusal) -> Environment {
        guard environments.contains(environment) else {
            let accepted = Environment.allCases.filter(environments.contains)
            throw .wrongEnvironment(accepted: accepted, found: environment)
        }
        return environment
    }
}

/// Makes the name that facts carry instead of a purchase token, which is a secret: a digest of it.
public typealias PlayTokenNaming = @Sendable (_ purchaseToken: String) -> PlayToken

/// The lineages that purchase tokens are known to belong to.
public struct PlayChains: Sendable {
    let tokens: [PlayToken: Lineage]

    public init(_ tokens: [PlayToken: Lineage] = [:]) {
        self.tokens = tokens
    }

    /// Where a token is already known to belong.
    public subscript(_ token: PlayToken) -> Lineage? { tokens[token] }

    /// The lineage of a token: where it is known to belong, else that of the token that it replaces,
    /// else one of its own, named like the first token that is known of it.
    func lineage(
        of token: PlayToken,
        replacing replaced: PlayToken?,
        in environment: Environment
    ) -> Lineage {
        for member in [token, replaced].compactMap(\.self) {
            if let lineage = tokens[member], lineage.environment == environment { return lineage }
        }
        let first = replaced ?? token
        return Lineage(store: .googlePlay, environment: environment, id: first.id)
    }
}
