import TideoverJSON

/// A product, and its entitlements in the system under test.
struct ScenarioProduct {
    let sale: Sale
    let entitlements: [String]

    enum Sale {
        case subscription(AppStoreProduct)
        case oneTime(AppStoreOneTimeProduct)
    }

    var id: String {
        switch sale {
        case .subscription(let product): product.id
        case .oneTime(let product): product.id
        }
    }

    var subscription: AppStoreProduct? {
        if case .subscription(let product) = sale { product } else { nil }
    }

    var oneTime: AppStoreOneTimeProduct? {
        if case .oneTime(let product) = sale { product } else { nil }
    }
}

/// Reads the products on sale.
enum ProductReader {
    private static let periods = ["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"]
    private static let trials = ["P3D", "P1W", "P2W", "P1M", "P2M", "P3M", "P6M", "P1Y"]
    private static let autoRenewable = "autoRenewable"

    static func products(_ node: JSONNode) throws(ScenarioError) -> [ScenarioProduct] {
        try checkKind(node, .object, "products", .object)
        var products: [ScenarioProduct] = []
        for (id, member) in node.members { products.append(try product(id, member)) }
        guard !products.isEmpty else { throw fault(.none(of: "products"), node) }
        return products
    }

    private static func product(
        _ id: String,
        _ node: JSONNode
    ) throws(ScenarioError) -> ScenarioProduct {
        try checkKind(node, .object, "a product", .object)
        let kinds = [autoRenewable] + AppStoreOneTimeProduct.Kind.allCases.map(\.rawValue)
        let name =
            try node["kind"].map { (node) throws(ScenarioError) in
                try named(node, .productKind, kinds) { $0 }
            } ?? autoRenewable
        guard let kind = AppStoreOneTimeProduct.Kind(rawValue: name) else {
            return try subscription(id, node)
        }
        return try oneTimeProduct(id, kind, node)
    }

    private static func oneTimeProduct(
        _ id: String,
        _ kind: AppStoreOneTimeProduct.Kind,
        _ node: JSONNode
    ) throws(ScenarioError) -> ScenarioProduct {
        let keys = ["kind", "entitlements", "price", "familyShareable"]
        let reader = try ObjectReader(
            node,
            "a product that does not renew",
            keys: kind == .nonRenewing ? keys + ["period"] : keys
        )
        let product = AppStoreOneTimeProduct(
            id: id,
            kind: kind,
            price: try reader.required("price", readPrice),
            length: kind == .nonRenewing ? try reader.required("period", readSpan) : nil,
            isFamilyShareable: try reader.flag("familyShareable") ?? false
        )
        return ScenarioProduct(
            sale: .oneTime(product),
            entitlements: try reader.required("entitlements", readStrings)
        )
    }

    private static func subscription(
        _ id: String,
        _ node: JSONNode
    ) throws(ScenarioError) -> ScenarioProduct {
        let reader = try ObjectReader(
            node,
            "a product",
            keys: [
                "kind", "entitlements", "group", "level", "period", "trial", "introductory",
                "offers", "price", "grace", "graceScope", "familyShareable",
            ]
        )
        let period = try reader.required("period") { (node) throws(ScenarioError) in
            try self.period(node, periods)
        }
        let trial = try reader.optional("trial") { (node) throws(ScenarioError) in
            try self.period(node, trials)
        }
        if trial != nil, let both = reader.node["introductory"] {
            throw fault(.trialAndIntroductory, both)
        }
        let offers = OfferReader(period: period)
        let product = AppStoreProduct(
            id: id,
            group: try reader.required("group", readString),
            level: try reader.wholeNumber("level").map { Int($0) } ?? 1,
            period: period,
            trial: trial,
            introductory: try reader.optional("introductory", offers.introductory),
            offers: try reader.optional("offers", offers.offers) ?? [],
            price: try reader.required("price", readPrice),
            grace: try reader.optional("grace") { (node) throws(ScenarioError) in
                try named(node, .grace, BillingGrace.allCases) { $0.rawValue }
            } ?? .off,
            graceScope: try reader.optional("graceScope") { (node) throws(ScenarioError) in
                try named(node, .graceScope, BillingGraceScope.allCases) { $0.rawValue }
            } ?? .allRenewals,
            isFamilyShareable: try reader.flag("familyShareable") ?? false
        )
        return ScenarioProduct(
            sale: .subscription(product),
            entitlements: try reader.required("entitlements", readStrings)
        )
    }

    fileprivate static func period(
        _ node: JSONNode,
        _ allowed: [String] = trials
    ) throws(ScenarioError) -> StorePeriod {
        let text = try named(node, .period, allowed) { $0 }
        guard let period = StorePeriod(iso: text) else { throw fault(.notASpan(text), node) }
        return period
    }
}

/// Reads the offers of a product with this billing period.
private struct OfferReader {
    let period: StorePeriod

    func introductory(_ node: JSONNode) throws(ScenarioError) -> AppStoreOffer {
        let keys = ["mode", "period", "payments", "price"]
        let reader = try ObjectReader(node, "an introductory offer", keys: keys)
        return try offer(reader, .introductory, nil)
    }

    func offers(_ node: JSONNode) throws(ScenarioError) -> [AppStoreOffer] {
        try checkKind(node, .object, "offers", .object)
        var offers: [AppStoreOffer] = []
        for (name, member) in node.members {
            let reader = try ObjectReader(
                member,
                "an offer",
                keys: ["kind", "mode", "period", "payments", "price"]
            )
            let kind = try reader.required("kind") { (node) throws(ScenarioError) in
                let kinds = AppStoreOffer.Kind.allCases.filter { $0 != .introductory }
                return try named(node, .offerKind, kinds) { "\($0)" }
            }
            offers.append(try offer(reader, kind, name))
        }
        return offers
    }

    private func offer(
        _ reader: ObjectReader,
        _ kind: AppStoreOffer.Kind,
        _ name: String?
    ) throws(ScenarioError) -> AppStoreOffer {
        let mode = try reader.required("mode") { (node) throws(ScenarioError) in
            try named(node, .offerMode, AppStoreOffer.Mode.allCases) { "\($0)" }
        }
        let payments = try reader.wholeNumber("payments").map { Int($0) } ?? 1
        guard payments == 1 || (payments > 1 && mode == .payAsYouGo) else {
            throw fault(.paymentsOfOffer, reader.node)
        }
        // A pay-as-you-go offer is paid by the product's period.
        let length =
            mode == .payAsYouGo
            ? period
            : try reader.required("period") { (node) throws(ScenarioError) in
                try ProductReader.period(node)
            }
        return AppStoreOffer(
            kind,
            mode,
            identifier: name,
            period: length,
            payments: payments,
            price: try reader.required("price", readPrice)
        )
    }
}
