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
