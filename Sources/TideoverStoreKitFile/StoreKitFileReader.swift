import TideoverJSON

/// Parses the objects of the file, with one function each.
enum StoreKitFileReader {
    private static let versions: ClosedRange<Int64> = 1...5

    static func file(_ root: FileNode) throws(StoreKitFileError) -> StoreKitFile {
        guard root.node.kind == .object, root.node["version"] != nil,
            root.node["subscriptionGroups"] != nil || root.node["products"] != nil
        else { throw root.error(.notStoreKit) }
        let version = try root["version"].required()["major"].required()
        let number = try version.number()
        guard versions.contains(Int64(number)) else { throw version.error(.version(Int64(number))) }
        let settings = root["settings"].value
        let file = StoreKitFile(
            version: number,
            hasBillingGrace: try settings?["_billingGracePeriodEnabled"].value?.flag(),
            storefront: try settings?["_storefront"].value?.text(),
            groups: try root["subscriptionGroups"].list(group),
            purchases: try root["products"].list(product)
                + root["nonRenewingSubscriptions"].list(product)
        )
        var ids: Set<String> = []
        for product in file.products where !ids.insert(product.id).inserted {
            throw root.error(.repeated(product.id))
        }
        return file
    }

    private static func group(_ node: FileNode) throws(StoreKitFileError) -> StoreKitFile.Group {
        StoreKitFile.Group(
            id: try node["id"].required().text(),
            name: try node["name"].required().text(),
            subscriptions: try node["subscriptions"].list(subscription)
        )
    }

    private static func product(_ node: FileNode) throws(StoreKitFileError) -> StoreKitFile.Product
    {
        StoreKitFile.Product(
            id: try node["productID"].required().name(),
            kind: try node["type"].required().word(),
            referenceName: try node["referenceName"].value?.text(),
            milliunits: try node["displayPrice"].required().price(),
            isFamilyShareable: try node["familyShareable"].value?.flag() ?? false,
            localizations: try node["localizations"].list(localization)
        )
    }

    private static func localization(
        _ node: FileNode
    ) throws(StoreKitFileError) -> StoreKitFile.Localization {
        StoreKitFile.Localization(
            locale: try node["locale"].required().text(),
            name: try node["displayName"].value?.text() ?? "",
            description: try node["description"].value?.text() ?? ""
        )
    }

    private static func subscription(
        _ node: FileNode
    ) throws(StoreKitFileError) -> StoreKitFile.Subscription {
        let product = try product(node)
        guard product.kind == .recurring else {
            let type = try node["type"].required()
            throw type.error(.mismatch(.oneOf([StoreKitFile.Kind.recurring.rawValue])))
        }
        return StoreKitFile.Subscription(
            product: product,
            level: try node["groupNumber"].value?.number() ?? 1,
            period: try node["recurringSubscriptionPeriod"].required().period(),
            introductory: try introductory(node),
            promotional: try node["adHocOffers"].list(offer),
            winBack: try node["winbackOffers"].list(offer),
            codes: try node["codeOffers"].list(codeOffer)
        )
    }

    /// Returns the introductory offer of a subscription. Version 5 of the format lists one for each
    /// billing plan; the price of the subscription is that of payment up front.
    private static func introductory(
        _ node: FileNode
    ) throws(StoreKitFileError) -> StoreKitFile.Offer? {
        if let only = try node["introductoryOffer"].value.map(offer) { return only }
        let offers = try node["introductoryOffers"].list { (node) throws(StoreKitFileError) in
            let plan = try node["billingPlanType"].value?.text() ?? "BILLED_UPFRONT"
            return plan == "BILLED_UPFRONT" ? try offer(node) : nil
        }
        return offers.lazy.compactMap(\.self).first
    }

    /// Returns an offer of codes. Xcode gives it a name, but no ID.
    private static func codeOffer(
        _ node: FileNode
    ) throws(StoreKitFileError) -> StoreKitFile.Offer {
        try offer(node, namedBy: node["offerID"].value == nil ? "referenceName" : "offerID")
    }

    private static func offer(_ node: FileNode) throws(StoreKitFileError) -> StoreKitFile.Offer {
        try offer(node, namedBy: "offerID")
    }

    private static func offer(
        _ node: FileNode,
        namedBy key: String
    ) throws(StoreKitFileError) -> StoreKitFile.Offer {
        let mode: StoreKitFile.Mode = try node["paymentMode"].required().word()
        let price = try node["displayPrice"].value?.price()
        if mode != .free { _ = try node["displayPrice"].required() }
        let offer = StoreKitFile.Offer(
            id: try node[key].value?.text(),
            mode: mode,
            milliunits: mode == .free ? nil : price,
            period: try node["subscriptionPeriod"].required().period(),
            count: try node["numberOfPeriods"].value?.number() ?? 1
        )
        guard ISOPeriod(offer.length.text) != nil else {
            throw try node["numberOfPeriods"].required().error(.mismatch(.fewPeriods))
        }
        return offer
    }
}

/// A value of the file, with its path.
struct FileNode {
    let node: JSONNode
    let path: String

    init(_ node: JSONNode, path: String) {
        self.node = node
        self.path = path
    }

    /// Returns a member, present or not.
    subscript(_ key: String) -> FileMember {
        let value = node[key].flatMap { $0.isNull ? nil : $0 }
        return FileMember(
            value: value.map { FileNode($0, path: path.isEmpty ? key : "\(path).\(key)") },
            parent: self,
            key: key
        )
    }

    func error(_ reason: StoreKitFileError.Reason) -> StoreKitFileError {
        let position = node.position
        return StoreKitFileError(
            path: path,
            line: position.line,
            column: position.column,
            reason: reason
        )
    }

    func text() throws(StoreKitFileError) -> String {
        guard let text = node.string else { throw error(.mismatch(.text)) }
        return text
    }

    /// Returns a string that is not empty.
    func name() throws(StoreKitFileError) -> String {
        let text = try text()
        guard !text.isEmpty else { throw error(.missing) }
        return text
    }

    func flag() throws(StoreKitFileError) -> Bool {
        guard let flag = node.bool else { throw error(.mismatch(.flag)) }
        return flag
    }

    func number() throws(StoreKitFileError) -> Int {
        guard let number = node.int64, (1...1_000_000).contains(number) else {
            throw error(.mismatch(.number))
        }
        return Int(number)
    }

    func period() throws(StoreKitFileError) -> ISOPeriod {
        guard let period = ISOPeriod(try text()) else { throw error(.mismatch(.period)) }
        return period
    }

    func word<Word: RawRepresentable<String> & CaseIterable>()
        throws(StoreKitFileError) -> Word
    {
        guard let word = Word(rawValue: try text()) else {
            throw error(.mismatch(.oneOf(Word.allCases.map(\.rawValue))))
        }
        return word
    }

    /// Returns an amount with at most three decimals, in thousandths. Nil for an empty string,
    /// which Xcode writes before a price is set.
    func price() throws(StoreKitFileError) -> Int64? {
        let text = try text()
        guard !text.isEmpty else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), (1...9).contains(parts[0].utf8.count),
            parts.count == 1 || (1...3).contains(parts[1].utf8.count),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { throw error(.mismatch(.price)) }
        let decimals = parts.count == 1 ? "" : String(parts[1])
        let padded = decimals + String(repeating: "0", count: 3 - decimals.utf8.count)
        guard let milliunits = Int64(parts[0] + padded) else {
            throw error(.mismatch(.price))
        }
        return milliunits
    }
}

/// A member of an object of the file, which may be missing or null.
struct FileMember {
    let value: FileNode?
    let parent: FileNode
    let key: String

    func required() throws(StoreKitFileError) -> FileNode {
        guard let value else {
            throw FileNode(
                parent.node,
                path: parent.path.isEmpty ? key : "\(parent.path).\(key)"
            ).error(.missing)
        }
        return value
    }

    /// Applies `read` to each element; returns an empty list if the member is absent.
    func list<Value>(
        _ read: (FileNode) throws(StoreKitFileError) -> Value
    ) throws(StoreKitFileError) -> [Value] {
        guard let value else { return [] }
        guard value.node.kind == .array else { throw value.error(.mismatch(.list)) }
        var values: [Value] = []
        for (index, element) in value.node.elements.enumerated() {
            let node = FileNode(element, path: "\(value.path)[\(index)]")
            guard element.kind == .object else { throw node.error(.mismatch(.object)) }
            values.append(try read(node))
        }
        return values
    }
}
