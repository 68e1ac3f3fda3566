package import TideoverCore

/// The app to read for, its accepted environments, and whether its store is simulated.
package struct PlayIdentity: Hashable, Sendable {
    package let packageName: String
    package let environments: Set<Environment>
    /// Whether the store is simulated: all its content then belongs to the simulated environment.
    package let isSimulated: Bool

    package init(packageName: String, environments: Set<Environment>, isSimulated: Bool = false) {
        self.packageName = packageName
        self.environments = environments
        self.isSimulated = isSimulated
    }

    func require(packageName found: String?) throws(PlayRefusal) {
        guard found == packageName else {
            throw .wrongPackage(expected: packageName, found: found)
        }
    }

    /// Returns the environment of a purchase; purchases of licence testers are not production.
    /// Throws if the app does not accept that environment.
    func environment(ofTest isTest: Bool) throws(PlayRefusal) -> Environment {
        try require(isSimulated ? .simulated : isTest ? .sandbox : .production)
    }

    /// The environment of a purchase if it is unknown whether a licence tester made it.
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

/// Returns a digest of a purchase token. Facts contain the digest, because the token is a secret.
package typealias PlayTokenNaming = @Sendable (_ purchaseToken: String) -> PlayToken

/// The known lineages of purchase tokens.
package struct PlayChains: Sendable {
    let tokens: [PlayToken: Lineage]

    package init(_ tokens: [PlayToken: Lineage] = [:]) {
        self.tokens = tokens
    }

    /// Returns the known lineage of a token.
    package subscript(_ token: PlayToken) -> Lineage? { tokens[token] }

    /// Returns the lineage of a token: its known one, or that of the token it replaces. Otherwise
    /// returns a new lineage, named after the first known token.
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
