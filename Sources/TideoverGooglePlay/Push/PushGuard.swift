public import TideoverCore
public import TideoverHTTP
public import TideoverJSON

/// Verifies one JWT in compact form by a key given as a JSON Web Key, with RS256 and nothing else, and
/// gives back its payload. It throws if anything about key or signature does not hold.
public typealias PushSignatureCheck =
    @Sendable (_ compact: [UInt8], _ key: JSONObject) throws -> [UInt8]

/// Tells pushes of Pub/Sub from those of everybody else who can reach the same address.
public struct PushGuard: Sendable {
    public let expectation: PushExpectation
    private let keys: PushKeys
    private let check: PushSignatureCheck

    public init(
        expectation: PushExpectation,
        keys: PushKeys,
        check: @escaping PushSignatureCheck
    ) {
        self.expectation = expectation
        self.keys = keys
        self.check = check
    }

    /// The token of a push that is to be believed at an instant.
    ///
    /// - Throws: ``PushRefusal``; ``PushKeysFailure`` where it cannot be judged now.
    public func admit(_ request: Request, at now: Instant) async throws -> PushToken {
        let compact = try Self.bearer(of: request)
        let unverified = try UnverifiedToken(compact)
        let key = try await keys.key(unverified.keyId)
        guard let payload = try? check(compact, key) else { throw PushRefusal.badSignature }
        return try expectation.token(claiming: payload, at: now)
    }

    /// What the token of a refused push says, if Google signed it; nil for any other. It proves nothing
    /// about its sender: everybody can have a token made.
    public func claims(of request: Request) async -> PushClaims? {
        guard let compact = try? Self.bearer(of: request),
            let unverified = try? UnverifiedToken(compact),
            let key = try? await keys.key(unverified.keyId),
            let payload = try? check(compact, key)
        else { return nil }
        return PushClaims(payload)
    }

    private static func bearer(of request: Request) throws(PushRefusal) -> [UInt8] {
        let lines = request.headers.all("Authorization")
        guard lines.count == 1, let line = lines.first else { throw .noToken }
        let parts = line.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw .noToken }
        return Array(parts[1].utf8)
    }
}
