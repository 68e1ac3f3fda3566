public import TideoverCore
public import TideoverRevenueCat
import TideoverSignatures
import TideoverStorage

/// Whom one app believes about RevenueCat: by what its webhooks are known, and how it is asked.
public struct RevenueCatTrust: Sendable {
    let check: WebhookCheck
    /// Nil where no key is configured: then nobody asks.
    let api: RevenueCatAPI?
    let reader: RevenueCatReader

    /// - Parameters:
    ///   - environments: those of the app; RevenueCat speaks of production and the sandbox alone, unless
    ///     the app has none but the simulated one.
    ///   - catalogue: the app's.
    ///   - authorization: the value of the header that webhooks bear; nil if none is set.
    ///   - signatureSecret: what webhooks are signed with; nil if they are not signed.
    ///   - api: how RevenueCat is asked about customers.
    public init(
        environments: [Environment],
        catalogue: Catalogue,
        authorization: String? = nil,
        signatureSecret: [UInt8]? = nil,
        api: RevenueCatAPI? = nil
    ) {
        check = WebhookCheck(
            authorization: authorization,
            mac: signatureSecret.map(Self.mac),
            isSame: Self.isSame
        )
        self.api = api
        // Beside simulated stores alone stands a simulated RevenueCat, whatever environment it claims.
        let isSimulated = environments == [.simulated]
        reader = RevenueCatReader(
            environments: isSimulated
                ? environments : environments.filter { $0 == .production || $0 == .sandbox },
            catalogue: catalogue
        )
    }

    /// The same for an app as configured; nil for one of which RevenueCat knows nothing.
    public init?(
        _ configured: Configuration.App,
        authorization: String? = nil,
        signatureSecret: [UInt8]? = nil,
        api: RevenueCatAPI? = nil
    ) {
        guard configured.revenueCat != nil else { return nil }
        self.init(
            environments: configured.environments,
            catalogue: configured.catalogue,
            authorization: authorization,
            signatureSecret: signatureSecret,
            api: api
        )
    }

    /// Digests are compared, and in a time that does not depend on where they differ.
    private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        KeyDigest(SHA256.hash(one)).isSame(as: KeyDigest(SHA256.hash(other)))
    }

    private static func mac(under secret: [UInt8]) -> @Sendable ([UInt8]) -> [UInt8] {
        { message in HMACSHA256.code(of: message, under: secret) }
    }

    // MARK: What was kept

    /// What a kept piece of RevenueCat's states in its environment, as RevenueCat names the purchases;
    /// nil for a piece of somebody else's.
    ///
    /// - Throws: `RevenueCatRefusal` for one that this version does not read any more.
    func facts(in piece: Evidence) throws(RevenueCatRefusal) -> [Fact]? {
        if piece.source == .revenueCatWebhook {
            return try reader.event(body: piece.bytes)
                .facts(learnedAt: piece.receivedAt, evidence: piece.id)
        }
        guard RelayedAnswer.isName(piece.dedupeKey) else { return nil }
        return try reader.answer(line: piece.bytes)
            .facts(learnedAt: piece.receivedAt, source: piece.source, evidence: piece.id)
    }
}
