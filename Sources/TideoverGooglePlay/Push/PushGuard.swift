package import TideoverCore
package import TideoverHTTP
package import TideoverJSON

/// Verifies one compact JWT with a JSON Web Key, by RS256 only, and returns its payload. It throws
/// if the key or the signature is invalid.
package typealias PushSignatureCheck =
    @Sendable (_ compact: [UInt8], _ key: JSONObject) throws -> [UInt8]

/// Authenticates pushes of Pub/Sub; anyone can send requests to the same address.
package struct PushGuard: Sendable {
    package let expectation: PushExpectation
    private let keys: PushKeys
    private let check: PushSignatureCheck

    package init(
        expectation: PushExpectation,
        keys: PushKeys,
        check: @escaping PushSignatureCheck
    ) {
        self.expectation = expectation
        self.keys = keys
        self.check = check
    }

    /// Returns the verified token of a push.
    ///
    /// - Throws: ``PushRefusal`` for an invalid token; ``PushKeysFailure`` if the keys are
    ///   unavailable now.
    package func admit(_ request: Request, at now: Instant) async throws -> PushToken {
        let compact = try Self.bearer(of: request)
        let unverified = try UnverifiedToken(compact)
        let key = try await keys.key(unverified.keyId)
        guard let payload = try? check(compact, key) else { throw PushRefusal.badSignature }
        return try expectation.token(claiming: payload, at: now)
    }

    /// Returns the claims in the token of a rejected push if Google signed it; otherwise nil. The
    /// claims do not authenticate the sender: anyone can obtain a token from Google.
    package func claims(of request: Request) async -> PushClaims? {
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
