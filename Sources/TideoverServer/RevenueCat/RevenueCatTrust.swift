package import TideoverConfiguration
package import TideoverCore
package import TideoverRevenueCat
import TideoverSignatures
import TideoverStorage

/// The trust of one app in RevenueCat: how its webhooks are verified, and how it is queried.
package struct RevenueCatTrust: Sendable {
    let check: WebhookCheck
    /// Nil if no API key is configured, so that RevenueCat is not queried.
    let api: RevenueCatAPI?
    let reader: RevenueCatReader

    /// - Parameters:
    ///   - environments: The app's environments. RevenueCat reports only production and sandbox,
    ///     unless the app has only the simulated one.
    ///   - catalogue: The app's catalogue.
    ///   - authorization: The required `Authorization` value of webhooks; nil if none is set.
    ///   - signatureSecret: The secret that signs webhooks; nil if they are unsigned.
    ///   - api: The client that queries RevenueCat about customers.
    package init(
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
        // An app with only simulated stores has a simulated RevenueCat, whatever environment it
        // claims.
        let isSimulated = environments == [.simulated]
        reader = RevenueCatReader(
            environments: isSimulated
                ? environments : environments.filter { $0 == .production || $0 == .sandbox },
            catalogue: catalogue
        )
    }

    /// Creates the trust for a configured app; nil if it has no RevenueCat project.
    package init?(
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

    /// Compares digests in constant time.
    private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        KeyDigest(SHA256.hash(one)).isSame(as: KeyDigest(SHA256.hash(other)))
    }

    private static func mac(under secret: [UInt8]) -> @Sendable ([UInt8]) -> [UInt8] {
        { message in HMACSHA256.code(of: message, under: secret) }
    }

    // MARK: Stored evidence

    /// Returns the facts of a stored webhook or response, with RevenueCat's names of the purchases;
    /// nil for evidence of other sources.
    ///
    /// - Throws: `RevenueCatRefusal` if this version cannot read it.
    func facts(in piece: Evidence) throws(RevenueCatRefusal) -> [Fact]? {
        if piece.source == .revenueCatWebhook {
            return try reader.event(body: piece.bytes)
                .facts(learnedAt: piece.receivedAt, evidence: piece.id)
        }
        guard RelayedAnswer.isName(piece.dedupeKey) else { return nil }
        return try reader.answer(line: piece.bytes)
            .facts(learnedAt: piece.receivedAt, source: piece.source, evidence: piece.id)
    }

    /// Returns the ids of the customer of a stored webhook or response; none of a transfer, which
    /// names two customers, of evidence of other sources, or if this version cannot read it.
    func customers(in piece: Evidence) -> [CustomerID] {
        if piece.source == .revenueCatWebhook {
            return (try? reader.event(body: piece.bytes).ids) ?? []
        }
        guard RelayedAnswer.isName(piece.dedupeKey) else { return [] }
        return (try? reader.answer(line: piece.bytes).ids) ?? []
    }
}
