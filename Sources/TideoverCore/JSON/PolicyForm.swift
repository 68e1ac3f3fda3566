public import TideoverJSON

// The form of the operator's configuration: catalogue, policy, and their versions.

extension Catalogue {
    /// Writes the catalogue with its products in alphabetical order. Equal catalogues give equal
    /// texts.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            for (id, product) in products.sorted(by: { $0.key < $1.key }) {
                writer.key(id)
                product.write(to: &writer)
            }
        }
    }

    /// Reads the output of `write`.
    public init(json node: JSONNode) throws(FormError) {
        guard node.kind == .object else { throw .wrongType(field: "catalogue") }
        self.init()
        for (id, product) in node.members { products[id] = try Product(json: product) }
    }
}

extension Product {
    /// Writes the product as a JSON object, without unset members.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("entitlements", .array(entitlements.map(JSONValue.string)))
            writer.field("kind", kind.rawValue)
            writer.said("group", group)
            writer.said("period", period?.iso8601)
            writer.said("trial", trial?.iso8601)
            writer.said("price", price?.text)
            writer.said("grace", grace?.iso8601)
            writer.said("store", store?.rawValue)
        }
    }

    /// Reads the output of `write`.
    public init(json node: JSONNode) throws(FormError) {
        self.init(
            entitlements: try node.optional("entitlements", Field.texts) ?? [],
            kind: try node.optional("kind", Field.word) ?? .autoRenewable,
            group: try node.optional("group", Field.text),
            period: try node.optional("period", Field.period),
            trial: try node.optional("trial", Field.period),
            price: try node.optional("price", Field.price),
            grace: try node.optional("grace", Field.period),
            store: try node.optional("store", Field.word)
        )
    }
}

extension Policy {
    /// Writes the policy with every choice.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("billingRetry", billingRetry.text)
            writer.field("renewalLeeway", renewalLeeway.text)
            writer.field("unreachable", unreachable.text)
            writer.field("sandbox", sandbox.rawValue)
            if !testers.isEmpty {
                writer.field("testers", .array(testers.map { .string($0.text) }))
            }
            writer.field("transfer", transfer.text)
            writer.field("reminders", object: reminders.writeMembers)
            writer.field("prompts", object: prompts.writeMembers)
            if !plan.channels.isEmpty { writer.field("plan", object: plan.writeMembers) }
            if !experiments.isEmpty {
                writer.field(
                    "experiments",
                    array: { for experiment in experiments { experiment.write(to: &$0) } }
                )
            }
            unknownProduct.write(to: &writer)
        }
    }

    /// Reads the output of `write`; a missing choice takes its default.
    public init(json node: JSONNode) throws(FormError) {
        guard node.kind == .object else { throw .wrongType(field: "policy") }
        let standard = Policy()
        self.init(
            billingRetry: try node.optional("billingRetry", Field.billingRetry)
                ?? standard.billingRetry,
            renewalLeeway: try node.optional("renewalLeeway", Field.length)
                ?? standard.renewalLeeway,
            unreachable: try node.optional("unreachable", Field.length) ?? standard.unreachable,
            sandbox: try node.optional("sandbox", Field.word) ?? standard.sandbox,
            testers: try node.optional("testers", Field.customers) ?? standard.testers,
            transfer: try node.optional("transfer", Field.transfer) ?? standard.transfer,
            reminders: try node.optional("reminders", Reminders.read) ?? standard.reminders,
            prompts: try node.optional("prompts", Prompts.read) ?? standard.prompts,
            plan: try node.optional("plan", Plan.read) ?? standard.plan,
            experiments: try node.optional("experiments", Experiment.readAll)
                ?? standard.experiments,
            unknownProduct: try node.optional("unknownProduct", UnknownProduct.read)
                ?? standard.unknownProduct
        )
    }
}

extension Policy.UnknownProduct {
    fileprivate func write(to writer: inout JSONWriter) {
        switch self {
        case .deny: writer.field("unknownProduct", "deny")
        case .allowAll: writer.field("unknownProduct", "allow-all")
        case .allow(let names):
            writer.field("unknownProduct", .array(names.map(JSONValue.string)))
        }
    }

    fileprivate static func read(
        _ node: JSONNode,
        _ field: String
    ) throws(FormError) -> Policy.UnknownProduct {
        guard let word = node.string else {
            return .allow(try Field.texts(node, field))
        }
        guard ["deny", "allow-all"].contains(word) else {
            throw .unknownWord(field: field, value: word)
        }
        return Policy.UnknownProduct(words: [word])
    }
}

extension Policy.Reminders {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.field("trialEnding", trialEnding.text)
        writer.field("graceEnding", graceEnding.text)
    }

    fileprivate static func read(
        _ node: JSONNode,
        _ field: String
    ) throws(FormError) -> Policy.Reminders {
        guard node.kind == .object else { throw .wrongType(field: field) }
        let standard = Policy.Reminders()
        return Policy.Reminders(
            trialEnding: try node.optional("trialEnding", Field.length) ?? standard.trialEnding,
            graceEnding: try node.optional("graceEnding", Field.length) ?? standard.graceEnding
        )
    }
}

extension Policy.Prompts {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.field("quiet", quiet.text)
        writer.field("interval", interval.text)
        writer.said("perDay", perDay)
    }

    fileprivate static func read(
        _ node: JSONNode,
        _ field: String
    ) throws(FormError) -> Policy.Prompts {
        guard node.kind == .object else { throw .wrongType(field: field) }
        let standard = Policy.Prompts()
        let perDay = try node.optional("perDay", Field.integer)
        if let perDay, perDay < 1 { throw .unknownWord(field: "perDay", value: "\(perDay)") }
        return Policy.Prompts(
            quiet: try node.optional("quiet", Field.length) ?? standard.quiet,
            interval: try node.optional("interval", Field.length) ?? standard.interval,
            perDay: perDay
        )
    }
}

// MARK: - Versions

extension Versioned {
    /// Writes the versions as an array, ordered by when they take effect. A version that was always
    /// in effect, or always known, has no date.
    func write(
        to writer: inout JSONWriter,
        value: (Value, inout JSONWriter) -> Void
    ) {
        writer.array { writer in
            for version in versions {
                writer.object { writer in
                    writer.said("effectiveAt", version.effectiveAt.unlessAlways)
                    writer.said("learnedAt", version.learnedAt.unlessAlways)
                    writer.key("value")
                    value(version.value, &writer)
                }
            }
        }
    }

    init(
        json node: JSONNode,
        value: (JSONNode) throws(FormError) -> Value
    ) throws(FormError) {
        guard node.kind == .array else { throw .wrongType(field: "versions") }
        var versions: [Version] = []
        for element in node.elements {
            guard let written = element["value"] else { throw .missing(field: "value") }
            versions.append(
                Version(
                    try value(written),
                    effectiveAt: try element.optional("effectiveAt", Field.instant) ?? .distantPast,
                    learnedAt: try element.optional("learnedAt", Field.instant) ?? .distantPast
                )
            )
        }
        guard let read = Self(versions: versions) else { throw .missing(field: "versions") }
        self = read
    }
}

extension Versioned where Value == Policy {
    public func write(to writer: inout JSONWriter) {
        write(to: &writer) { $0.write(to: &$1) }
    }

    /// Reads the output of `write`.
    public init(json node: JSONNode) throws(FormError) {
        try self.init(json: node) { value throws(FormError) in try Policy(json: value) }
    }
}

extension Versioned where Value == Catalogue {
    public func write(to writer: inout JSONWriter) {
        write(to: &writer) { $0.write(to: &$1) }
    }

    /// Reads the output of `write`.
    public init(json node: JSONNode) throws(FormError) {
        try self.init(json: node) { value throws(FormError) in try Catalogue(json: value) }
    }
}

extension Instant {
    fileprivate var unlessAlways: Instant? { self == .distantPast ? nil : self }
}
