import TideoverJSON

extension Scenario {
    /// Reads a scenario file that names no other files.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - salt: Mixed into its seed. Another salt gives other ids for the same story, for a back
    ///     end that already stores the ids of an earlier run.
    /// - Throws: the first error found, with its line and column.
    public init(reading bytes: [UInt8], salt: UInt64 = 0) throws(ScenarioError) {
        try self.init(reading: bytes, salt: salt) { _ in throw NoFilesBeside() }
    }

    /// Reads a scenario file (JSON5: comments, bare keys and trailing commas are allowed).
    /// `readFile` returns the bytes of a file that it names.
    ///
    /// - Throws: the first error found, with its line and column.
    public init(
        reading bytes: [UInt8],
        salt: UInt64 = 0,
        readFile: ScenarioFileReader
    ) throws(ScenarioError) {
        self = try ScenarioReader(Scenario.root(of: bytes), salt: salt).scenario(readFile)
    }

    /// Reads only the head of a file, for a store that receives its steps later; steps may be
    /// missing.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - salt: Mixed into its seed, as for a scenario that is played.
    ///   - readFile: Reads the files that it names.
    /// - Throws: the first error found, with its line and column.
    public init(
        stage bytes: [UInt8],
        salt: UInt64 = 0,
        readFile: ScenarioFileReader
    ) throws(ScenarioError) {
        let root = try Scenario.root(of: bytes)
        self = try ScenarioReader(root, salt: salt).scenario(readFile, isStage: true)
    }

    /// Parses a text in the relaxed syntax.
    static func root(of bytes: [UInt8]) throws(ScenarioError) -> JSONNode {
        do {
            return try JSONDocument(bytes, syntax: .relaxed, limits: .local).root
        } catch {
            throw ScenarioError(
                reason: .syntax(error.reason),
                line: error.line,
                column: error.column
            )
        }
    }
}

/// Reads the parts of a scenario in the order in which later ones refer to earlier ones.
private struct ScenarioReader {
    private let top: ObjectReader
    private let salt: UInt64

    init(_ root: JSONNode, salt: UInt64) throws(ScenarioError) {
        self.salt = salt
        top = try ObjectReader(
            root,
            "a scenario",
            keys: [
                "scenario", "source", "app", "products", "catalogue", "entitlements", "googlePlay",
                "revenueCat", "customers", "prompts", "customersConsent", "start", "seed",
                "delivery", "steps",
            ]
        )
    }

    func scenario(
        _ readFile: ScenarioFileReader,
        isStage: Bool = false
    ) throws(ScenarioError) -> Scenario {
        // An app that is sold only in Google Play needs no products here.
        let isElsewhere =
            top.node["products"] == nil && top.node["catalogue"] == nil
            && top.node["googlePlay"] != nil
        let products = isElsewhere ? [] : try products(readFile)
        let app = try app(products)
        let seed = UInt64(try top.wholeNumber("seed") ?? 1) ^ salt
        let customers = try CustomerReader(seed: seed).customers(top.member("customers"))
        let start = try top.required("start", readInstant)
        let play = try PlayHeadReader(top: top.node, customers: customers, lag: lag()).read()
        let relay = try RelayHeadReader(
            top: top.node,
            entitlements: app.entitlements.merging(play?.entitlements ?? [:]) { $1 }
        ).read()
        let reader = StepReader(
            app: app,
            customers: customers,
            products: products,
            play: play,
            revenueCat: relay
        )
        let steps = isStage ? [] : try reader.steps(top.member("steps"), from: start)
        return Scenario(
            name: try top.required("scenario", readString),
            source: try top.required("source", readString),
            app: app,
            googlePlay: play,
            revenueCat: relay,
            prompts: try top.optional("prompts", ScenarioPrompts.read),
            customersConsent: try top.flag("customersConsent") ?? false,
            start: start,
            seed: seed,
            lag: try lag(),
            customers: customers,
            notes: try notes(),
            steps: steps
        )
    }

    /// Reads the author's `note` for each customer who has one.
    private func notes() throws(ScenarioError) -> [String: String] {
        var notes: [String: String] = [:]
        for (name, member) in try top.member("customers").members {
            if let note = member["note"] { notes[name] = try readString(note) }
        }
        return notes
    }

    /// Reads the products of `products` and `catalogue`.
    private func products(
        _ readFile: ScenarioFileReader
    ) throws(ScenarioError) -> [ScenarioProduct] {
        guard let catalogue = top.node["catalogue"] else {
            return try top.required("products", ProductReader.products)
        }
        let listed = try top.optional("products", ProductReader.products) ?? []
        return try listed
            + ScenarioCatalogue.products(
                catalogue,
                unlocking: top.node["entitlements"],
                beside: listed,
                readFile
            )
    }

    private func app(_ products: [ScenarioProduct]) throws(ScenarioError) -> ScenarioApp {
        let node = try top.member("app")
        let reader = try ObjectReader(
            node,
            "app",
            keys: ["id", "bundleId", "appAppleId", "environment", "renewalRate"]
        )
        let environment = try reader.optional("environment") { (node) throws(ScenarioError) in
            try named(node, .environment, AppStoreEnvironment.allCases) { $0.rawValue }
        }
        let store = AppStoreApp(
            bundleId: try bundleId(reader),
            appAppleId: try reader.wholeNumber("appAppleId") ?? 1_234_567_890,
            environment: environment ?? .production,
            renewalRate: try renewalRate(reader, environment ?? .production),
            products: products.compactMap(\.subscription),
            oneTimeProducts: products.compactMap(\.oneTime)
        )
        var entitlements: [String: [String]] = [:]
        for product in products { entitlements[product.id] = product.entitlements }
        return ScenarioApp(
            id: try reader.required("id", readString),
            store: store,
            entitlements: entitlements
        )
    }

    /// An app that is sold in Google Play has the same name there unless it specifies another.
    private func bundleId(_ reader: ObjectReader) throws(ScenarioError) -> String {
        if reader.node["bundleId"] == nil, let name = top.node["googlePlay"]?["packageName"] {
            return try readString(name)
        }
        return try reader.required("bundleId", readString)
    }

    private func renewalRate(
        _ reader: ObjectReader,
        _ environment: AppStoreEnvironment
    ) throws(ScenarioError) -> RenewalRate {
        guard let node = reader.node["renewalRate"] else { return .realTime }
        let rate = try named(node, .renewalRate, RenewalRate.allCases) { $0.rawValue }
        guard environment == .sandbox || rate == .realTime else {
            throw fault(.rateOutsideSandbox, node)
        }
        return rate
    }

    private func lag() throws(ScenarioError) -> Int64 {
        guard let node = top.node["delivery"] else { return 1000 }
        let reader = try ObjectReader(node, "delivery", keys: ["lag"])
        return try reader.optional("lag", readSpan)?.end(of: 1, from: 0) ?? 1000
    }
}

private struct CustomerReader {
    let seed: UInt64

    func customers(_ node: JSONNode) throws(ScenarioError) -> [StoreCustomer] {
        try checkKind(node, .object, "customers", .object)
        // A separate random stream, so that the customers do not change the numbers that the store
        // generates.
        var random = SeededRandom(seed: seed ^ 0x6375_7374_6F6D_6572)
        var customers: [StoreCustomer] = []
        for (name, member) in node.members {
            let drawn = random.uuid()
            let customer = try customer(name, member, drawn: drawn)
            if let token = customer.appAccountToken,
                customers.contains(where: { other in
                    other.appAccountToken == token && !isElsewhere(member, node[other.name])
                })
            {
                throw fault(.duplicateToken(name), member)
            }
            customers.append(customer)
        }
        guard !customers.isEmpty else { throw fault(.none(of: "customers"), node) }
        return customers
    }

    /// Whether two customers buy in different stores, so that they can be one person.
    private func isElsewhere(_ one: JSONNode, _ other: JSONNode?) -> Bool {
        guard let one = one["store"]?.string, let other = other?["store"]?.string else {
            return false
        }
        return one != other
    }

    private func customer(
        _ name: String,
        _ node: JSONNode,
        drawn: String
    ) throws(ScenarioError) -> StoreCustomer {
        let reader = try ObjectReader(
            node,
            "a customer",
            keys: [
                "appAccountToken", "storefront", "store", "region", "licenceTester", "note",
            ]
        )
        let storefront = try reader.optional("storefront") { (node) throws(ScenarioError) in
            try named(node, .storefront, Storefront.known) { $0.country }
        }
        return StoreCustomer(
            name: name,
            appAccountToken: try token(reader, drawn),
            storefront: storefront ?? .unitedStates
        )
    }

    /// Returns the token from the file, or the one drawn from the seed; an explicit null means no
    /// token.
    private func token(_ reader: ObjectReader, _ drawn: String) throws(ScenarioError) -> String? {
        guard let node = reader.node["appAccountToken"] else { return drawn }
        return node.isNull ? nil : try readString(node)
    }
}
