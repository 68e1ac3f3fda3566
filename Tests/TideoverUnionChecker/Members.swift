import TideoverCore
import TideoverJSON

/// An object of a body, with its place for messages.
struct Members {
    let node: JSONNode
    let place: String

    init(_ node: JSONNode, _ place: String) {
        self.node = node
        self.place = place
    }

    /// Reads a whole body, which is an object.
    init(body: [UInt8]) throws {
        let root: JSONNode
        do { root = try JSONDocument(body, limits: .storeAnswer).root } catch {
            throw UnionChecker.Refusal("body", "\(error)")
        }
        guard root.kind == .object else { throw UnionChecker.Refusal("body", "not an object") }
        self.init(root, "")
    }

    private func path(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

    func fault(_ name: String, _ text: String) -> UnionChecker.Refusal {
        UnionChecker.Refusal(path(name), text)
    }

    func object(_ name: String) throws -> Members {
        guard let member = node[name], member.kind == .object else {
            throw fault(name, "not an object")
        }
        return Members(member, path(name))
    }

    /// The objects of an object, with places that begin with its name; none if it is absent or null.
    func entries(_ name: String) throws -> [(key: String, value: Members)] {
        try optionalObject(name).map { key, node in
            let place = "\(name).\(key)"
            guard node.kind == .object else { throw UnionChecker.Refusal(place, "not an object") }
            return (key, Members(node, place))
        }
    }

    /// The objects of a list.
    func objects(_ name: String) throws -> [Members] {
        guard let list = node[name], list.kind == .array else { throw fault(name, "not a list") }
        return try list.elements.enumerated().map { number, element in
            let place = "\(path(name))[\(number)]"
            guard element.kind == .object else {
                throw UnionChecker.Refusal(place, "not an object")
            }
            return Members(element, place)
        }
    }

    /// The members of an object; none if it is absent or null.
    func optionalObject(_ name: String) throws -> [(key: String, value: JSONNode)] {
        guard let member = node[name], !member.isNull else { return [] }
        return try object(name).node.members.map { ($0.key, $0.value) }
    }

    func needed<Value>(_ name: String, _ read: (JSONNode) -> Value?) throws -> Value {
        guard let member = node[name] else { throw fault(name, "absent") }
        guard let value = read(member) else { throw fault(name, "of another type") }
        return value
    }

    func optional<Value>(_ name: String, _ read: (JSONNode) -> Value?) throws -> Value? {
        guard let member = node[name], !member.isNull else { return nil }
        guard let value = read(member) else { throw fault(name, "of another type") }
        return value
    }

    func text(_ name: String) throws -> String { try needed(name, \.string) }

    /// A text that Android reads as "null" if it is null.
    func textOrAbsent(_ name: String) throws -> String? {
        guard node[name] != nil else { return nil }
        return try text(name)
    }

    func word(_ name: String, _ known: [String]) throws -> String {
        let word = try text(name)
        guard known.contains(word) else { throw fault(name, "the word \(word)") }
        return word
    }

    func date(_ name: String) throws -> Instant { try needed(name, Self.date) }

    func optionalDate(_ name: String) throws -> Instant? { try optional(name, Self.date) }

    /// Reads the forms that both decoders accept: of RFC 3339, those with upper-case letters and at
    /// most six digits of a fraction.
    private static func date(_ node: JSONNode) -> Instant? {
        guard let text = node.string, !text.contains(where: \.isLowercase) else { return nil }
        let fraction = text.drop { $0 != "." }.dropFirst().prefix(while: \.isNumber)
        return fraction.count <= 6 ? Instant(rfc3339: text) : nil
    }

    func requireOriginalDate(isNamed: Bool) throws {
        guard isNamed || node["original_purchase_date"] != nil else { return }
        _ = try date("original_purchase_date")
    }

    func requirePrice() throws {
        guard let price = node["price"], !price.isNull else { return }
        guard price["amount"]?.kind == .number else { throw fault("price", "not an amount") }
        let currency = price["currency"]?.string ?? ""
        guard Self.currencies.contains(currency) else { throw fault("price", "of \(currency)") }
    }

    /// The codes of ISO 4217 that Java knows.
    private static let currencies = Set(
        """
        AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN
        BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD
        FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY
        KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP
        MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR
        RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SOS SRD SSP SVC SYP SZL THB TJS TMT TND TOP
        TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW
        """.split { $0 == " " || $0 == "\n" }.map(String.init)
    )
}
