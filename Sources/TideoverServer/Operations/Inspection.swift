package import TideoverAppStore
package import TideoverCore
package import TideoverJSON
package import TideoverRevenueCat
import TideoverSignatures

/// An inspection of data that the App Store signed: its type, whether it is valid, and what it
/// would change. Nothing is stored.
package struct Inspection: Sendable {
    /// The apparent type of the input, valid or not.
    package let input: InspectedInput
    package let verdict: Verdict
    /// The instant of the standings.
    package let instant: Instant

    package enum Verdict: Sendable {
        /// Valid data: its content, its facts, and the standing of each lineage from these facts
        /// alone.
        case accepted(AppStoreReading, facts: [Fact], standings: [LineageStanding])
        /// Unsigned data of RevenueCat: its content, the facts after an import, and the standing of
        /// each lineage from these facts alone.
        case unsigned(RevenueCatSubscriberReading, facts: [Fact], standings: [LineageStanding])
        /// Rejected data, with a stable code and one sentence.
        case refused(code: String, sentence: String)
    }

    /// The standing of one lineage, derived from a set of facts.
    package struct LineageStanding: Sendable {
        package let lineage: Lineage
        package let standing: Standing
    }

    /// Inspects raw bytes: a notification's body, a bare JWS, a receipt or a response of
    /// verifyReceipt.
    package init(
        _ bytes: [UInt8],
        trust: AppStoreTrust,
        catalogue: Catalogue,
        policy: Policy,
        at instant: Instant
    ) {
        self.instant = instant
        input = InspectedInput(bytes)
        guard input.isReadable else {
            let sentence = ["This is \(input.words).", input.advice].compactMap(\.self)
            verdict = .refused(code: "unreadable-input", sentence: sentence.joined(separator: " "))
            return
        }
        do {
            verdict =
                input.isOfRevenueCat
                ? try Self.unsigned(bytes, trust, catalogue, policy, at: instant)
                : try Self.accepted(bytes, trust, catalogue, policy, at: instant)
        } catch let refusal as any Refusal {
            verdict = .refused(code: refusal.code, sentence: refusal.sentence)
        } catch {
            verdict = .refused(code: "unreadable-input", sentence: "This cannot be read: \(error).")
        }
    }

    /// The warning for unsigned data, which must not be mistaken for the store's.
    package static let unsignedSentence =
        "It is unsigned, so it is not accepted from a device. Import it with `tideover import "
        + "revenuecat`, one response on each line."

    private static func unsigned(
        _ bytes: [UInt8],
        _ trust: AppStoreTrust,
        _ catalogue: Catalogue,
        _ policy: Policy,
        at instant: Instant
    ) throws -> Verdict {
        let environments = Environment.allCases.filter(trust.identity.environments.contains)
        let reader = RevenueCatReader(environments: environments, catalogue: catalogue)
        let reading = reader.reading(of: try RevenueCatSubscriber(answer: bytes))
        let facts = reading.facts(
            learnedAt: instant,
            source: .imported,
            evidence: EvidenceID(hex: Hexadecimal.text(SHA256.hash(bytes)))
        )
        return .unsigned(
            reading,
            facts: facts,
            standings: standings(of: facts, catalogue, policy, at: instant)
        )
    }

    private static func standings(
        of facts: [Fact],
        _ catalogue: Catalogue,
        _ policy: Policy,
        at instant: Instant
    ) -> [LineageStanding] {
        LineageHistory.all(of: facts, catalogue: catalogue).map { history in
            LineageStanding(
                lineage: history.lineage,
                standing: history.standing(at: instant, policy: policy)
            )
        }
    }

    private static func accepted(
        _ bytes: [UInt8],
        _ trust: AppStoreTrust,
        _ catalogue: Catalogue,
        _ policy: Policy,
        at instant: Instant
    ) throws -> Verdict {
        let reading = try trust.read(bytes, at: instant)
        let facts = reading.facts(
            learnedAt: instant,
            source: reading.kind == .receipt ? .appReceipt : .appStoreNotification,
            evidence: EvidenceID(hex: Hexadecimal.text(SHA256.hash(bytes)))
        )
        return .accepted(
            reading,
            facts: facts,
            standings: standings(of: facts, catalogue, policy, at: instant)
        )
    }

    /// Whether it could be read, and is valid if it is signed.
    package var isAccepted: Bool {
        if case .refused = verdict { false } else { true }
    }

    /// Writes the inspection as one JSON object.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("input", input.words)
            switch verdict {
            case .refused(let code, let sentence):
                writer.field("verdict", "refused")
                writer.field("reason", code)
                writer.field("detail", sentence)
            case .unsigned(let reading, let facts, let standings):
                writer.field("verdict", "unsigned")
                writer.field("detail", Self.unsignedSentence)
                writer.field("customer", reading.customer?.text)
                writer.field("requestedAt", reading.subscriber.requestDate.rfc3339)
                writer.field("notes", .array(reading.notes.map { .string($0.sentence) }))
                write(facts, standings, to: &writer)
            case .accepted(let reading, let facts, let standings):
                writer.field("verdict", "accepted")
                writer.field("kind", reading.kind.rawValue)
                writer.field("notificationType", reading.notificationType)
                writer.field("subtype", reading.subtype)
                writer.field("environment", reading.environment.rawValue)
                writer.field("claimedEnvironment", reading.claimedEnvironment)
                writer.field("signedAt", reading.signedAt.rfc3339)
                writer.field("notes", .array(reading.notes.map { .string($0.sentence) }))
                write(facts, standings, to: &writer)
            }
        }
    }

    private func write(
        _ facts: [Fact],
        _ standings: [LineageStanding],
        to writer: inout JSONWriter
    ) {
        writer.field("facts", array: { writer in for fact in facts { fact.write(to: &writer) } })
        writer.field("asOf", instant.rfc3339)
        writer.field("standings", each: standings) { $0.write(to: &$1) }
    }
}

extension Inspection.LineageStanding {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("lineage")
            lineage.write(to: &writer)
            writer.field("state", standing.state.rawValue)
            writer.field("reason", standing.reason.rawValue)
            writer.field("access", standing.access)
            writer.field("confidence", standing.confidence.rawValue)
            writer.field("rule", standing.rule.rawValue)
            writer.field("why", standing.rule.sentence)
            writer.field("productId", standing.productId)
            writer.field("accessUntil", standing.accessUntil?.rfc3339)
            writer.field("graceUntil", standing.graceUntil?.rfc3339)
            writer.field("willRenew", standing.willRenew)
        }
    }
}

/// The apparent type of some bytes before verification.
package enum InspectedInput: Hashable, Sendable {
    case empty
    case notification
    case signedDocument
    case appReceipt
    case receiptAnswer
    case transactionReceipt
    case revenueCatResponse
    /// A response of RevenueCat's REST API v1.
    case subscriber
    /// `CustomerInfo` of a RevenueCat SDK.
    case customerInfo
    case something

    init(_ bytes: [UInt8]) {
        let text = bytes.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        switch AppStoreInput(bytes) {
        case .receipt: self = .appReceipt
        case .receiptAnswer: self = .receiptAnswer
        case .transactionReceipt: self = .transactionReceipt
        case .object: self = Self.ofRevenueCat(bytes) ?? .notification
        case .other where text.isEmpty: self = .empty
        case .other where text.starts(with: "eyJ".utf8): self = .signedDocument
        case .other: self = .something
        }
    }

    private static func ofRevenueCat(_ bytes: [UInt8]) -> InspectedInput? {
        guard let root = try? JSONDocument(bytes, limits: .storeAnswer).root else { return nil }
        if RevenueCatSubscriber.isAPIv2Response(root) { return .revenueCatResponse }
        if RevenueCatSubscriber.isCustomerInfo(root) { return .customerInfo }
        return root["subscriber"]?.kind == .object ? .subscriber : nil
    }

    /// Whether it is read as data of RevenueCat.
    var isOfRevenueCat: Bool { self == .subscriber || self == .customerInfo }

    /// Whether this version can read the type.
    var isReadable: Bool {
        switch self {
        case .notification, .signedDocument, .appReceipt, .receiptAnswer, .subscriber,
            .customerInfo:
            true
        case .empty, .transactionReceipt, .revenueCatResponse, .something: false
        }
    }

    /// What to inspect or do instead; nil if there is no better choice.
    var advice: String? {
        switch self {
        case .transactionReceipt:
            "Inspect the app receipt or the signed transaction (JWS) of StoreKit 2."
        case .revenueCatResponse:
            "Export with API v1 (GET /v1/subscribers/{app_user_id}) and use "
                + "`tideover import revenuecat`."
        case .empty, .notification, .signedDocument, .appReceipt, .receiptAnswer, .subscriber,
            .customerInfo, .something:
            nil
        }
    }

    package var words: String {
        switch self {
        case .empty: "nothing: the input is empty"
        case .notification: "an App Store Server Notification body"
        case .signedDocument: "a signed document (JWS)"
        case .appReceipt: "an app receipt (PKCS#7)"
        case .receiptAnswer: "a verifyReceipt response"
        case .transactionReceipt:
            "a StoreKit 1 transaction receipt"
        case .revenueCatResponse: "a RevenueCat API v2 response"
        case .subscriber: "a RevenueCat API v1 response"
        case .customerInfo: "CustomerInfo of a RevenueCat SDK"
        case .something:
            "neither a notification body nor a signed document (JWS) nor an app receipt"
        }
    }
}
