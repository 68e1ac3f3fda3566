package import TideoverCore
package import TideoverJSON

/// The root of trust for a signature. It determines the environment; the payload can only agree.
package enum Authority: Hashable, Sendable {
    /// Apple's built-in root: production or sandbox, as the payload claims.
    case appStore
    /// The root of a configured simulated store: always `simulated`, regardless of the payload.
    case simulated
    /// A root that is configured for one environment.
    case pinned(Environment)

    /// Returns the environment that this authority certifies for a payload's claim. Returns nil if
    /// it does not certify that claim.
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

/// The result of a signature check that passed completely.
package struct VerifiedPayload: Sendable {
    /// The signed content, parsed strictly.
    package let payload: JSONDocument
    package let authority: Authority

    package init(payload: JSONDocument, authority: Authority) {
        self.payload = payload
        self.authority = authority
    }
}

/// Verifies one JWS in compact serialization and reads its payload. It throws if the signature, the
/// certificates or the payload's JSON are invalid. Its errors are passed unchanged to the caller of
/// the reader.
package typealias SignatureCheck = (_ compactJWS: ArraySlice<UInt8>) throws -> VerifiedPayload
