package import TideoverCore
import TideoverJSON

/// The server's response to one page of evidence.
package struct ServerReply: Hashable, Sendable {
    package var environment: TideoverCore.Environment
    package var asOf: Instant
    package var version: Int64
    package var entitlements: [Entitlement]
    package var prompt: RecoveryPrompt?
    /// The pass in compact serialization; nil if the server issues none.
    package var pass: String?
    /// The verdict on each presented document, by the document.
    package var verdicts: [String: Verdict]
    /// When each answer next changes by itself, by entitlement.
    private var changes: [String: Instant]

    package enum Verdict: Hashable, Sendable {
        /// The document is committed.
        case accepted
        /// The document will never be accepted in this form. Carries the server's code.
        case refused(code: String)
        /// The document was not examined, or could not be stored: present it again.
        case undecided
    }

    /// The reason why a response body is invalid.
    package struct Malformed: Error, Hashable {
        package var field: String
    }

    package init(_ body: [UInt8], to page: EvidencePage) throws(Malformed) {
        guard let root = try? JSONDocument(body, limits: .storeAnswer).root else {
            throw Malformed(field: "")
        }
        guard let word = root["environment"]?.string,
            let environment = TideoverCore.Environment(rawValue: word)
        else { throw Malformed(field: "environment") }
        guard let asOf = root["asOf"]?.date else { throw Malformed(field: "asOf") }
        guard let entitlements = root["entitlements"], entitlements.kind == .object else {
            throw Malformed(field: "entitlements")
        }
        self.environment = environment
        self.asOf = asOf
        version = root["customerVersion"]?.int64 ?? 0
        self.entitlements = []
        changes = [:]
        for (name, node) in entitlements.members {
            guard let entitlement = Entitlement(name: name, json: node) else {
                throw Malformed(field: name)
            }
            self.entitlements.append(entitlement)
            changes[name] = node["nextChange"]?.date
        }
        prompt = root["prompt"].flatMap(RecoveryPrompt.init(json:))
        pass = root["pass"]?.string
        verdicts = Self.verdicts(root.list("items"), of: page)
    }

    private static func verdicts(
        _ items: [JSONNode],
        of page: EvidencePage
    ) -> [String: Verdict] {
        var verdicts: [String: Verdict] = [:]
        for item in items {
            guard let index = item["index"]?.int64.flatMap({ Int(exactly: $0) }), index >= 0 else {
                continue
            }
            let documents =
                switch item["kind"]?.string {
                case "transaction": page.transactions.map(\.jws)
                case "renewalInfo": page.renewalInfos
                default: [String]()
                }
            guard index < documents.count else { continue }
            verdicts[documents[index]] = Verdict(
                item["verdict"]?.string,
                code: item["reason"]?.string
            )
        }
        return verdicts
    }

    var changeInstants: [Instant] { Array(changes.values) }

    package subscript(_ name: String) -> Entitlement? {
        entitlements.first { $0.name == name }
    }

    /// Returns the response as a pass of this process, which expires by the same rules as a signed
    /// one.
    package func belief(of customer: CustomerID, policy: Policy) -> Pass {
        let life = asOf + Pass.life
        return Pass(
            issuer: "",
            audience: "",
            customer: customer,
            environment: environment,
            issued: asOf,
            notAfter: life,
            version: version,
            entitlements: entitlements.map { entitlement in
                Pass.Entitlement(
                    name: entitlement.name,
                    state: entitlement.state ?? (entitlement.access == .granted ? .active : .never),
                    reason: entitlement.reason,
                    confidence: entitlement.confidence,
                    productId: entitlement.productId,
                    accessUntil: entitlement.until,
                    graceUntil: entitlement.graceUntil,
                    willRenew: entitlement.willRenew,
                    nextChange: changes[entitlement.name],
                    notAfter: entitlement.beliefEnd(within: life, policy)
                )
            }
        )
    }
}

extension ServerReply.Verdict {
    fileprivate init(_ word: String?, code: String?) {
        switch word {
        case "accepted": self = .accepted
        case "refused": self = .refused(code: code ?? "")
        default: self = .undecided
        }
    }
}

extension Entitlement {
    /// Returns when the answer expires. A renewing entitlement is presumed for as long as policy
    /// keeps access while no server can be reached.
    fileprivate func beliefEnd(within life: Instant, _ policy: Policy) -> Instant {
        guard access == .granted, let until else { return life }
        return min(life, willRenew == true ? until + policy.unreachable : until)
    }

    /// Fails if `access` is missing. An unknown state changes nothing else.
    fileprivate init?(name: String, json: JSONNode) {
        guard let access = json["access"]?.bool else { return nil }
        self.init(
            name: name,
            access: access ? .granted : .denied,
            state: json["state"]?.string.flatMap(TideoverCore.State.init),
            reason: json["reason"]?.string ?? Reason.unknown.rawValue,
            confidence: json["confidence"]?.string.flatMap(Confidence.init) ?? .unknown,
            productId: json["productId"]?.string,
            until: json["accessUntil"]?.date,
            graceUntil: json["graceUntil"]?.date,
            willRenew: json["willRenew"]?.bool,
            trial: json["trial"].flatMap(RunningTrial.init(json:)),
            words: json["words"].flatMap(ScreenWords.init(json:))
        )
        offer = json["trialOffer"].flatMap(OfferedTrial.init(json:))
        isWaiting = !json.list("pending").isEmpty
    }
}

extension OfferedTrial {
    /// Fails for no offer, and for an unknown eligibility.
    fileprivate init?(json: JSONNode) {
        guard let productId = json["productId"]?.string, let length = json["length"]?.period,
            let eligibility = json["eligibility"]?.string.flatMap(IntroductoryEligibility.init)
        else { return nil }
        self.init(
            productId: productId,
            length: length,
            eligibility: eligibility,
            price: json["price"].flatMap(Price.init(json:))
        )
    }
}

extension Price {
    fileprivate init?(json: JSONNode) {
        guard let milliunits = json["milliunits"]?.int64, let currency = json["currency"]?.string
        else { return nil }
        self.init(
            amount: Money(milliunits: milliunits, currency: currency),
            period: json["period"]?.period
        )
    }
}

extension MessageText.Argument {
    /// Returns the value of this argument; nil if it has another type.
    fileprivate func value(in json: JSONNode) -> MessageText.Value? {
        switch type {
        case .instant: json.date.map { .instant($0) }
        case .number: json.int64.map { .number($0) }
        case .length: json.period.map { .length($0) }
        case .price: Price(json: json).map { .price($0) }
        }
    }
}

extension RunningTrial {
    fileprivate init?(json: JSONNode) {
        guard let startedAt = json["startedAt"]?.date, let endsAt = json["endsAt"]?.date,
            let cancelBy = json["cancelBy"]?.date
        else { return nil }
        self.init(startedAt: startedAt, endsAt: endsAt, cancelBy: cancelBy)
    }
}

extension ScreenWords {
    fileprivate init?(json: JSONNode) {
        guard let key = json["key"]?.string, let title = json["title"]?.string,
            let message = json["message"]?.string
        else { return nil }
        let names = MessageText.Argument.allCases
        let values = names.compactMap { name in
            json["arguments"]?[name.rawValue].flatMap(name.value(in:)).map { (name.rawValue, $0) }
        }
        self.init(
            key: key,
            title: title,
            message: message,
            label: json["label"]?.string,
            arguments: Dictionary(uniqueKeysWithValues: values)
        )
    }
}

extension RecoveryPrompt {
    /// Fails for no prompt, and for an unknown kind.
    fileprivate init?(json: JSONNode) {
        guard let kind = json["kind"]?.string.flatMap(Prompt.Kind.init),
            let entitlement = json["entitlement"]?.string,
            var words = ScreenWords(json: json), let url = json["action"]?["url"]?.string
        else { return nil }
        words.label = json["action"]?["label"]?.string
        self.init(
            kind: kind,
            entitlement: entitlement,
            words: words,
            url: url,
            until: json["arguments"]?["until"]?.date
        )
    }
}

extension JSONNode {
    fileprivate var date: Instant? { string.flatMap { Instant(rfc3339: $0) } }
    fileprivate var period: Period? { string.flatMap { Period(iso8601: $0) } }

    fileprivate func list(_ name: String) -> [JSONNode] {
        self[name].map { Array($0.elements) } ?? []
    }
}
