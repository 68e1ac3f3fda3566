import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let attributeLaws: [StorageLaw] = [
        StorageLaw("the latest statement of an attribute counts, also one that deletes", latest),
        StorageLaw("attributes belong to one id in one app and environment", separate),
        StorageLaw("a customer has at most as many attributes as allowed", limited),
        StorageLaw("attributes survive reopening", reopening: attributesKept),
        StorageLaw("old attributes of unknown ids are deleted", unknownAttributesGo),
        StorageLaw("an erasure deletes the attributes of all ids of a customer", attributesErased),
        StorageLaw("an email address finds the ids that state it, in order", emailFinds),
        StorageLaw("a changed, deleted or erased email address finds no id", emailGoes),
    ]

    private static func attribute(
        _ name: String,
        _ value: String?,
        _ day: Int64
    ) -> CustomerAttribute {
        CustomerAttribute(name: name, value: value, updatedAt: Sample.day(day))
    }

    @discardableResult
    private static func keep(
        _ attributes: [CustomerAttribute],
        of customer: CustomerKey = Sample.key("anna"),
        on day: Int64 = 9,
        limit: Int = 10,
        in storage: any Storage
    ) async throws -> [String] {
        try await storage.keep(
            AttributeOrder(attributes, of: customer, now: Sample.day(day), limit: limit)
        )
    }

    private static func latest(_ storage: any Storage) async throws {
        let anna = Sample.key("anna")
        for stated in [
            attribute("mail", "b", 2), attribute("mail", "a", 1), attribute("mail", "c", 2),
            attribute("age", "24", 3), attribute("age", nil, 4), attribute("age", "25", 3),
        ] {
            try await keep([stated], in: storage)
        }
        let found = try storage.attributes(of: anna)
        #expect(found == [attribute("age", nil, 4), attribute("mail", "b", 2)])
        #expect(CustomerAttribute.joined(found).map(\.name) == ["mail"])
    }

    private static func separate(_ storage: any Storage) async throws {
        let keys = [
            Sample.key("anna"), Sample.key("ben"), Sample.key("anna", .sandbox),
            Sample.key("anna", app: "other"),
        ]
        for (index, key) in keys.enumerated() {
            try await keep([attribute("n", "\(index)", 1)], of: key, in: storage)
        }
        for (index, key) in keys.enumerated() {
            #expect(try storage.attributes(of: key) == [attribute("n", "\(index)", 1)])
        }
    }

    private static func limited(_ storage: any Storage) async throws {
        let stated = ["a", "b", "c"].map { attribute($0, "1", 1) }
        #expect(try await keep(stated, limit: 2, in: storage) == ["c"])
        let later = ["b", "d"].map { attribute($0, "2", 2) }
        #expect(try await keep(later, limit: 2, in: storage) == ["d"])
        let found = try storage.attributes(of: Sample.key("anna"))
        #expect(found == [attribute("a", "1", 1), attribute("b", "2", 2)])
    }

    private static func attributesKept(at site: any StorageSite) async throws {
        try await site.withStorage { try await keep([attribute("a", "ü\u{0}😀", 1)], in: $0) }
        try await site.withStorage { storage in
            let found = try storage.attributes(of: Sample.key("anna"))
            #expect(found == [attribute("a", "ü\u{0}😀", 1)])
        }
    }

    private static func unknownAttributesGo(_ storage: any Storage) async throws {
        let bought = Sample.commitRequest(facts: [Sample.term(0, token: "anna")])
        _ = try await storage.commit(bought, derive: Sample.derive)
        try await declare("phone", in: storage)
        for customer in ["anna", "phone", "old", "recent", "returned"] {
            let day: Int64 = customer == "recent" ? 5 : 1
            try await keep(
                [attribute("a", "1", 1)],
                of: Sample.key(customer),
                on: day,
                in: storage
            )
        }
        try await keep([attribute("b", "1", 1)], of: Sample.key("returned"), on: 5, in: storage)
        var place: String? = ""
        var count = 0
        while let here = place {
            let pruned = try await storage.prune(
                PruneOrder(
                    .attributes,
                    app: Sample.app,
                    environment: .production,
                    before: Sample.day(4),
                    place: here,
                    limit: 1
                )
            )
            count += pruned.count
            place = pruned.next
        }
        #expect(count == 1)
        #expect(try storage.attributes(of: Sample.key("old")) == [])
        for customer in ["anna", "phone", "recent", "returned"] {
            #expect(try storage.attributes(of: Sample.key(customer)) != [], "\(customer)")
        }
    }

    private static func attributesErased(_ storage: any Storage) async throws {
        try await declare("phone", in: storage)
        for customer in ["anna", "phone", "ben"] {
            try await keep([attribute("a", "1", 1)], of: Sample.key(customer), in: storage)
        }
        let erasure = Erasure(
            Sample.key("phone"),
            known: [],
            exclusive: [],
            events: [],
            pseudonym: Sample.customer("erased-1")
        )
        #expect(try await storage.erase(erasure)?.attributes == 2)
        for customer in ["anna", "phone"] {
            #expect(try storage.attributes(of: Sample.key(customer)) == [])
        }
        #expect(try storage.attributes(of: Sample.key("ben")) != [])
    }

    private static func ids(
        with email: String,
        after: String? = nil,
        limit: Int = 10,
        environment: Environment = .production,
        in storage: any Storage
    ) throws -> [String] {
        let listed = try storage.customers(
            in: AppScope(Sample.app, environment),
            email: try #require(EmailAddress(email)),
            after: after,
            limit: limit
        )
        return listed.map { listed in
            let (id, customer) = (listed.id.text, listed.customer.text)
            return id == customer ? id : "\(id) of \(customer)"
        }
    }

    private static func emailFinds(_ storage: any Storage) async throws {
        let bought = Sample.commitRequest(facts: [Sample.term(0, token: "anna")])
        _ = try await storage.commit(bought, derive: Sample.derive)
        try await declare("phone", in: storage)
        let longest = String(repeating: "é", count: 248) + "@a.org"
        for (key, name, value) in [
            (Sample.key("phone"), "$email", "Anna@Example.org"),
            (Sample.key("anna"), "$email", "anna@example.ORG"),
            (Sample.key("ben"), "$email", "anna@example.org"),
            (Sample.key("chloe"), "$email", "an_a@example.org"),
            (Sample.key("dan"), "email", "anna@example.org"),
            (Sample.key("ella", .sandbox), "$email", "anna@example.org"),
            (Sample.key("finn", app: "other"), "$email", "anna@example.org"),
            (Sample.key("gina"), "$email", longest), (Sample.key("hugo"), "$email", "x" + longest),
        ] {
            try await keep([attribute(name, value, 1)], of: key, in: storage)
        }
        let all = ["anna", "ben", "phone of anna"]
        for text in ["anna@example.org", "ANNA@example.org"] {
            #expect(try ids(with: text, in: storage) == all)
        }
        #expect(try ids(with: "anna@example.org", limit: 2, in: storage) == ["anna", "ben"])
        #expect(try ids(with: "anna@example.org", after: "anna", in: storage) == ["ben", all[2]])
        let sandbox = try ids(with: "anna@example.org", environment: .sandbox, in: storage)
        #expect(sandbox == ["ella"])
        for text in ["nna@example.org", "anna@example.or", "%@example.org"] {
            #expect(try ids(with: text, in: storage) == [])
        }
        #expect(try ids(with: longest, in: storage) == ["gina"])
        #expect(EmailAddress("x" + longest) == nil && EmailAddress("anna") == nil)
        let listed = try storage.customers(
            in: AppScope(Sample.app, .production),
            email: try #require(EmailAddress("anna@example.org")),
            after: nil,
            limit: 10
        )
        #expect(listed.map { $0.derivedAt != nil } == [true, false, false])
    }

    private static func emailGoes(_ storage: any Storage) async throws {
        for customer in ["anna", "ben", "chloe"] {
            let stated = attribute("$email", "a@example.org", 1)
            try await keep([stated], of: Sample.key(customer), in: storage)
        }
        #expect(try ids(with: "a@example.org", in: storage) == ["anna", "ben", "chloe"])
        let changed = attribute("$email", "new@example.org", 2)
        try await keep([changed], of: Sample.key("anna"), in: storage)
        try await keep([attribute("$email", nil, 2)], of: Sample.key("ben"), in: storage)
        let erasure = Erasure(
            Sample.key("chloe"),
            known: [],
            exclusive: [],
            events: [],
            pseudonym: Sample.customer("erased-1")
        )
        #expect(try await storage.erase(erasure)?.attributes == 1)
        #expect(try ids(with: "a@example.org", in: storage) == [])
        #expect(try ids(with: "new@example.org", in: storage) == ["anna"])
    }

    /// Makes an id one of Anna's.
    private static func declare(_ alias: String, in storage: any Storage) async throws {
        let request = CommitRequest(
            app: Sample.app,
            environment: .production,
            alias: CustomerAlias(
                alias: Sample.customer(alias),
                customer: Sample.customer("anna"),
                from: Sample.day(1),
                why: "one person",
                by: "k"
            ),
            now: Sample.day(1)
        )
        _ = try await storage.commit(request, derive: Sample.derive)
    }
}
