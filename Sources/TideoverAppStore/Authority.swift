public import TideoverCore
public import TideoverJSON

/// Who vouches for a signature. It decides the environment; the payload can only agree.
public enum Authority: Hashable, Sendable {
    /// Apple's built-in root: production and sandbox, whichever of them the payload claims.
    case appStore
    /// The root of a configured simulated store: `simulated`, whatever the payload claims.
    case simulated
    /// A root that somebody named for one environment.
    case pinned(Environment)

    /// The environment that this authority vouches for, given what the payload claims. Nil when it
    /// does not vouch for that claim.
    func environment(claiming claim: StoreEnvironment?) -> Environment? {
        switch self {
        case .appStore:
            switch claim {
            case .production: .production
            case .sandbox: .sandbox
            case .xcode, .localTesting, nil: nil
            }
        case .simulated, .pinned(.simulated): .simulated
        case .pinned(let environment): claim?.environment == environment ? environment : nil
        }
    }
}

/// What a signature check gives back once everything about the signature holds.
public struct VerifiedPayload: Sendable {
    /// The signed content, read strictly.
    public let payload: JSONDocument
    public let authority: Authority

    public init(payload: JSONDocument, authority: Authority) {
        self.payload = payload
        self.authority = authority
    }
}

/// Verifies one JWS in compact serialization and reads its payload. It throws if anything about
/// the signature, the certificates or the payload's JSON does not hold; what it throws reaches
/// whoever asked for the reading unchanged.
public typealias SignatureCheck = (_ compactJWS: ArraySlice<UInt8>) throws -> VerifiedPayload
