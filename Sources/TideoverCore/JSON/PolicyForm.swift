public import TideoverJSON

// The form of the operator's configuration: catalogue, policy, and their versions.

extension Catalogue: FormValue {
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
        try self.init(form: node, "catalogue")
    }

    package init(form node: JSONNode, _ field: String) throws(FormError) {
        guard node.kind == .object else { throw .wrongType(field: field) }
        self.init()
        for (id, product) in node.members { products[id] = try Product(form: product, id) }
    }
}

extension Product: FormObject {
    /// Writes the product as a JSON object, without unset members.
    public func write(to writer: inout JSONWriter) {
        writer.object { writeFields(to: &$0) }
    }

    /// Reads the output of `write`.
    public init(json node: JSONNode) throws(FormError) {
        try self.init(form: node, "product")
    }

    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ product: Product?
    ) throws(Fields.Failure) -> Product {
        Product(
            entitlements: try fields.optional("entitlements", product?.entitlements) ?? [],
            kind: try fields.optional("kind", product?.kind) ?? .autoRenewable,
            group: try fields.optional("group", product?.group),
            period: try fields.optional("period", product?.period),
            trial: try fields.optional("trial", product?.trial),
            price: try fields.optional("price", (product?.price).map(PriceText.init))?.money,
            grace: try fields.optional("grace", product?.grace),
            store: try fields.optional("store", product?.store)
        )
    }

    /// A price as operators write it.
    private struct PriceText: FormText {
        let money: Money

        init(_ money: Money) {
            self.money = money
        }

        package init?(formText: String) {
            guard let money = Money(text: formText) else { return nil }
            self.money = money
        }

        package var formText: String { money.text }
    }
}

extension Product.Kind: FormWord {}

extension Policy: FormObject {
    /// Writes the policy with every choice.
    public func write(to writer: inout JSONWriter) {
        writer.object { writeFields(to: &$0) }
    }

    /// Reads the output of `write`; a missing choice takes its default.
    public init(json node: JSONNode) throws(FormError) {
        try self.init(form: node, "policy")
    }

    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ policy: Policy?
    ) throws(Fields.Failure) -> Policy {
        let usual = Policy()
        return Policy(
            billingRetry: try fields.optional("billingRetry", policy?.billingRetry)
                ?? usual.billingRetry,
            renewalLeeway: try fields.optional("renewalLeeway", policy?.renewalLeeway)
                ?? usual.renewalLeeway,
            unreachable: try fields.optional("unreachable", policy?.unreachable)
                ?? usual.unreachable,
            sandbox: try fields.optional("sandbox", policy?.sandbox) ?? usual.sandbox,
            testers: try fields.optional("testers", policy?.testers, else: []),
            transfer: try fields.optional("transfer", policy?.transfer) ?? usual.transfer,
            reminders: try fields.optional("reminders", policy?.reminders) ?? usual.reminders,
            prompts: try fields.optional("prompts", policy?.prompts) ?? usual.prompts,
            plan: try fields.optional("plan", policy?.plan, else: Plan()),
            experiments: try fields.optional("experiments", policy?.experiments, else: []),
            unknownProduct: try fields.optional("unknownProduct", policy?.unknownProduct)
                ?? usual.unknownProduct
        )
    }
}

extension Policy.Sandbox: FormWord {}

extension Policy.BillingRetry: FormText {
    package init?(formText: String) { self.init(text: formText) }

    package var formText: String { text }
}

extension Policy.Transfer: FormText {
    package init?(formText: String) { self.init(text: formText) }

    package var formText: String { text }
}

extension Policy.UnknownProduct: FormValue {
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        guard let word = node.string else {
            self = .allow(try [String](form: node, field))
            return
        }
        guard ["deny", "allow-all"].contains(word) else {
            throw .unknownWord(field: field, value: word)
        }
        self.init(words: [word])
    }

    package func write(to writer: inout JSONWriter) {
        switch self {
        case .deny: writer.value("deny")
        case .allowAll: writer.value("allow-all")
        case .allow(let names): names.write(to: &writer)
        }
    }
}

extension Policy.Reminders: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ reminders: Self?
    ) throws(Fields.Failure) -> Self {
        let usual = Self()
        return Self(
            trialEnding: try fields.optional("trialEnding", reminders?.trialEnding)
                ?? usual.trialEnding,
            graceEnding: try fields.optional("graceEnding", reminders?.graceEnding)
                ?? usual.graceEnding
        )
    }
}

extension Policy.Prompts: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ prompts: Self?
    ) throws(Fields.Failure) -> Self {
        let usual = Self()
        return Self(
            quiet: try fields.optional("quiet", prompts?.quiet) ?? usual.quiet,
            interval: try fields.optional("interval", prompts?.interval) ?? usual.interval,
            perDay: try fields.optional("perDay", (prompts?.perDay).map(PositiveNumber.init))?
                .number
        )
    }

    private struct PositiveNumber: FormValue {
        let number: Int64

        init(_ number: Int64) {
            self.number = number
        }

        package init(form node: JSONNode, _ field: String) throws(FormError) {
            number = try Int64(form: node, field)
            if number < 1 { throw .unknownWord(field: field, value: "\(number)") }
        }

        package func write(to writer: inout JSONWriter) { writer.value(number) }
    }
}

// MARK: - Versions

/// A version that was always in effect, or always known, has no date.
extension Versioned.Version: FormValue, FormObject where Value: FormValue {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ version: Self?
    ) throws(Fields.Failure) -> Self {
        let effectiveAt = try fields.optional(
            "effectiveAt",
            version?.effectiveAt,
            else: .distantPast
        )
        let learnedAt = try fields.optional("learnedAt", version?.learnedAt, else: .distantPast)
        return Self(
            try fields.required("value", version?.value),
            effectiveAt: effectiveAt,
            learnedAt: learnedAt
        )
    }
}

extension Versioned: FormValue where Value: FormValue {
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        guard let read = Self(versions: try [Version](form: node, field)) else {
            throw .missing(field: field)
        }
        self = read
    }

    /// Writes the versions as an array, ordered by when they take effect.
    package func write(to writer: inout JSONWriter) { versions.write(to: &writer) }
}

extension Versioned where Value == Policy {
    public func write(to writer: inout JSONWriter) { versions.write(to: &writer) }

    /// Reads the output of `write`.
    public init(json node: JSONNode) throws(FormError) {
        try self.init(form: node, "versions")
    }
}

extension Versioned where Value == Catalogue {
    public func write(to writer: inout JSONWriter) { versions.write(to: &writer) }

    /// Reads the output of `write`.
    public init(json node: JSONNode) throws(FormError) {
        try self.init(form: node, "versions")
    }
}
