import Testing
import TideoverCore
import TideoverJSON
import TideoverStorage

extension StorageLaw {
    static let retentionLaws: [StorageLaw] = [
        StorageLaw("evidence without new facts is deleted by age, and proof stays", idleGoes),
        StorageLaw("evidence that later gives a fact stays", readLaterStays),
        StorageLaw("ended drift is deleted by age, and open drift stays", endedDriftGoes),
        StorageLaw("shown prompts are counted once and deleted by age", oldPromptsGo),
        StorageLaw(
            "old events are deleted from the oldest on, and none is sent again",
            oldEventsGo
        ),
        StorageLaw("old audit lines are deleted, and the latest stays", oldAuditGoes),
        StorageLaw("customers without data are deleted by age", unknownGo),
        StorageLaw("log-ins without purchases are deleted by age", oldLogInsGo),
        StorageLaw("an erasure deletes all of one customer and nothing of another", eraseIsWhole),
        StorageLaw(
            "a purchase with another owner stays, and so does their history",
            sharedStays
        ),
        StorageLaw("an erasure deletes messages and bookmarks that name the customer", namesGo),
        StorageLaw("an erasure fails if new facts arrive during it", staleErasure),
        StorageLaw("an erasure deletes events that were stored during it", laterEventsGo),
        StorageLaw("most of many failed claims to one purchase are only counted", claimsAreCounted),
    ]

    private static func prune(
        _ kind: PruneOrder.Kind,
        before: Instant,
        limit: Int = 100,
        in storage: any Storage
    ) async throws -> Int {
        var count = 0
        var place: String? = ""
        while let from = place {
            let pruned = try await storage.prune(
                PruneOrder(
                    kind,
                    app: Sample.app,
                    environment: .production,
                    before: before,
                    place: from,
                    limit: limit
                )
            )
            count += pruned.count
            place = pruned.next
        }
        return count
    }

    private static func kept(_ storage: any Storage) throws -> [String] {
        try storage.evidence(in: AppScope(Sample.app, .production), after: nil, limit: 99)
            .map(\.dedupeKey).sorted()
    }

    // MARK: By age

    private static func oldLogInsGo(_ storage: any Storage) async throws {
        func key(_ name: String) -> BookmarkKey {
            BookmarkKey(app: Sample.app, environment: .production, name: name)
        }
        let prefix = "revenueCat:logIn:"
        for day in 1...4 {
            let form = #"{"at":"\#(Sample.day(Int64(day)).rfc3339)","value":"anna"}"#
            try await storage.keep(Array(form.utf8), as: key("\(prefix)\(day)"))
        }
        let old = Array(#"{"at":"\#(Sample.day(1).rfc3339)","value":"anna"}"#.utf8)
        try await storage.keep(old, as: key("revenueCat:transfer:1"))
        #expect(try await prune(.logIns, before: Sample.day(3), limit: 1, in: storage) == 2)
        #expect(try await prune(.logIns, before: Sample.day(3), in: storage) == 0)
        let scope = AppScope(Sample.app, .production)
        let kept = try storage.bookmarks(in: scope, prefix: prefix)
        #expect(kept.keys.sorted() == ["\(prefix)3", "\(prefix)4"])
        #expect(try storage.bookmark(key("revenueCat:transfer:1")) == old)
    }

    private static func idleGoes(_ storage: any Storage) async throws {
        let fact = Sample.term(0, token: "anna", evidence: Sample.evidence("proof").id)
        for (name, facts, day) in [
            ("proof", [fact], 1), ("again", [fact], 2), ("ping", [], 3), ("late", [fact], 9),
        ] as [(String, [Fact], Int64)] {
            let commitRequest = Sample.commitRequest(name, facts: facts, now: Sample.day(day))
            _ = try await storage.commit(commitRequest, derive: Sample.derive)
        }
        #expect(try await prune(.evidence, before: Sample.day(2), in: storage) == 0)
        #expect(try await prune(.evidence, before: Sample.day(9), limit: 1, in: storage) == 2)
        #expect(try kept(storage) == ["late", "proof"])
        // A repeated delivery after the removal is stored as a new message.
        let again = Sample.commitRequest("again", facts: [fact], now: Sample.day(10))
        let outcome = try await storage.commit(again, derive: Sample.derive)
        #expect(outcome == .committed(newFacts: 0, customers: []))
    }

    private static func oldPromptsGo(_ storage: any Storage) async throws {
        let anna = Sample.key("anna")
        for (id, day, response) in [
            ("a", 1, nil), ("b", 3, nil), ("a", 5, .dismissed), ("a", 6, .opened),
        ] as [(String, Int64, PromptExposure.Response?)] {
            let shown = PromptExposure(
                id: id,
                kind: .soft,
                shownAt: Sample.day(day),
                response: response
            )
            let commitRequest = CommitRequest(
                app: Sample.app,
                environment: .production,
                prompts: [ShownPrompt(customer: anna, exposure: shown)],
                now: Sample.day(day)
            )
            _ = try await storage.commit(commitRequest, derive: Sample.derive)
        }
        func shown() throws -> [String] {
            try storage.lineages(of: anna, now: Sample.day(9))?.prompts.map {
                "\($0.id) \($0.shownAt == Sample.day(1)) \($0.response?.rawValue ?? "")"
            } ?? []
        }
        #expect(try shown() == ["b false ", "a true dismissed"])
        #expect(try await prune(.prompts, before: Sample.day(2), in: storage) == 1)
        #expect(try shown() == ["b false "])
    }

    private static func readLaterStays(_ storage: any Storage) async throws {
        let message = Sample.commitRequest("early", now: Sample.day(1))
        _ = try await storage.commit(message, derive: Sample.derive)
        let fact = Sample.term(0, token: "anna", evidence: Sample.evidence("early").id)
        let read = Sample.commitRequest(facts: [fact], now: Sample.day(2))
        _ = try await storage.commit(read, derive: Sample.derive)
        #expect(try await prune(.evidence, before: Sample.day(9), in: storage) == 0)
        #expect(try kept(storage) == ["early"])
    }

    private static func endedDriftGoes(_ storage: any Storage) async throws {
        let key = Sample.key("u_1")
        var ended = Sample.drift("u_1", openedAt: Sample.day(1))
        ended.healing = Drift.Healing(at: Sample.day(2), by: .notification, access: true)
        let open = Sample.drift("u_1", "extra", openedAt: Sample.day(1))
        try await store([ended, open], for: key, in: storage)
        #expect(try await prune(.drift, before: Sample.day(2), in: storage) == 0)
        #expect(try await prune(.drift, before: Sample.day(3), in: storage) == 1)
        #expect(try storage.drift(of: key, limit: 9) == [open])
    }

    private static func tell(
        _ name: String,
        _ customer: String,
        at now: Instant,
        in storage: any Storage
    ) async throws {
        let commitRequest = Sample.commitRequest(customers: [Sample.key(customer)], now: now)
        _ = try await storage.commit(commitRequest) { lineages in
            let event = Event(name: name, kind: "told", at: lineages.now, body: [0x7B, 0x7D])
            return Derivation(
                answer: [0x7B, 0x7D],
                validUntil: nil,
                fingerprint: "p1",
                events: [event]
            )
        }
    }

    private static func oldEventsGo(_ storage: any Storage) async throws {
        for day in 1...4 as ClosedRange<Int64> {
            try await tell("e\(day)", "anna", at: Sample.day(day), in: storage)
        }
        let ids = try storage.outbox(app: Sample.app, after: nil, limit: 9).map(\.id.description)
        let newest = RemovedEvents.key(of: Sample.app)
        #expect(try await prune(.told, before: Sample.day(1), in: storage) == 0)
        #expect(try storage.bookmark(newest) == nil)
        #expect(try await prune(.told, before: Sample.day(3), limit: 1, in: storage) == 2)
        #expect(try storage.bookmark(newest) == RemovedEvents.form(ids[1]))
        func days() throws -> [Instant] {
            try storage.outbox(app: Sample.app, after: nil, limit: 9).map(\.event.at)
        }
        #expect(try days() == [Sample.day(3), Sample.day(4)])
        try await tell("e1", "anna", at: Sample.day(5), in: storage)
        #expect(try days().count == 2)
        // Later ids are derived from the latest one, so it remains.
        #expect(try await prune(.told, before: Sample.day(900), in: storage) == 1)
        #expect(try days() == [Sample.day(4)])
    }

    private static func oldAuditGoes(_ storage: any Storage) async throws {
        for day in 1...3 {
            let alias = CustomerAlias(
                alias: Sample.customer("phone-\(day)"),
                customer: Sample.customer("anna"),
                from: Sample.day(Int64(day)),
                by: "k"
            )
            let commitRequest = CommitRequest(
                app: Sample.app,
                environment: .production,
                alias: alias,
                now: Sample.day(Int64(day))
            )
            _ = try await storage.commit(commitRequest, derive: Sample.derive)
        }
        func days() throws -> [Instant] {
            try storage.audit(app: Sample.app, customer: nil, after: nil, limit: 9).map(\.entry.at)
        }
        #expect(try await prune(.audit, before: Sample.day(2), in: storage) == 1)
        #expect(try days() == [Sample.day(2), Sample.day(3)])
        #expect(try await prune(.audit, before: Sample.day(900), in: storage) == 1)
        #expect(try days() == [Sample.day(3)])
    }

    private static func unknownGo(_ storage: any Storage) async throws {
        let bought = Sample.commitRequest(
            facts: [Sample.term(0, token: "anna")],
            now: Sample.day(1)
        )
        _ = try await storage.commit(bought, derive: Sample.derive)
        let asked = ["a", "b", "c", "z"].map { Sample.key($0) }
        for (key, day) in zip(asked, [1, 1, 5, 1] as [Int64]) {
            let commitRequest = Sample.commitRequest(customers: [key], now: Sample.day(day))
            _ = try await storage.commit(commitRequest, derive: Sample.derive)
        }
        let drift = Sample.drift("z", openedAt: Sample.day(1))
        try await store([drift], for: Sample.key("z"), in: storage)
        #expect(try await prune(.customers, before: Sample.day(4), limit: 1, in: storage) == 2)
        for key in asked.prefix(2) { #expect(try storage.row(of: key) == nil) }
        for key in asked.dropFirst(2) + [Sample.key("anna")] {
            #expect(try storage.row(of: key) != nil)
        }
    }

    // MARK: By customer

    private static func erasure(
        of customer: String,
        known: [Evidence],
        in storage: any Storage
    ) throws -> Erasure {
        let ids = Set(try storage.identity(of: Sample.key(customer)).all)
        let all = try storage.outbox(app: Sample.app, after: nil, limit: 99)
        let events = all.filter { ids.contains($0.customer.customer) }
        let pieces = Set(known.map(\.id))
        return Erasure(
            Sample.key(customer),
            known: pieces,
            exclusive: pieces,
            events: events.map(\.id),
            lastEvent: all.last?.id,
            pseudonym: Sample.customer("erased-1")
        )
    }

    /// Stores a purchase each of Anna, who has an alias, and Ben, and a second message of each
    /// without a new fact.
    private static func live(_ storage: any Storage) async throws {
        for (customer, id) in [("anna", "1"), ("phone", "2"), ("ben", "3")] {
            let fact = Sample.term(
                0,
                of: Sample.lineage(id),
                token: customer,
                evidence: Sample.evidence("proof-\(id)").id
            )
            for name in ["proof-\(id)", "again-\(id)"] {
                let commitRequest = Sample.commitRequest(name, facts: [fact])
                _ = try await storage.commit(commitRequest, derive: Sample.derive)
            }
            let drift = Sample.drift(customer, openedAt: Sample.day(1))
            try await store([drift], for: Sample.key(customer), in: storage)
        }
        let alias = CustomerAlias(
            alias: Sample.customer("phone"),
            customer: Sample.customer("anna"),
            from: Sample.day(2),
            by: "k"
        )
        let commitRequest = CommitRequest(
            app: Sample.app,
            environment: .production,
            alias: alias,
            now: Sample.day(2)
        )
        _ = try await storage.commit(commitRequest, derive: Sample.derive)
    }

    private static func eraseIsWhole(_ storage: any Storage) async throws {
        try await live(storage)
        let ben = try storage.lineages(of: Sample.key("ben"), now: Sample.day(3))
        let known = [Sample.evidence("proof-1"), Sample.evidence("proof-2")]
        let order = try erasure(of: "phone", known: known, in: storage)
        let erased = try #require(try await storage.erase(order))
        #expect(erased.purchases == 2)
        #expect(erased.shared == 0)
        #expect(erased.facts == 2)
        #expect(erased.evidence == 4)
        #expect(erased.events == 3)
        #expect(erased.audit == 1)
        for customer in ["anna", "phone"] {
            let key = Sample.key(customer)
            #expect(try storage.lineages(of: key, now: Sample.day(3)) == nil)
            #expect(try storage.identity(of: key).aliases == [])
            #expect(try storage.drift(of: key, limit: 9) == [])
        }
        #expect(try kept(storage) == ["again-3", "proof-3"])
        for id in ["1", "2"] {
            #expect(try storage.lineageRecord(Sample.lineage(id), app: Sample.app).facts == [])
        }
        // The latest event and the latest audit entry remain, under the pseudonym. The event is
        // empty, and no page contains it.
        let left = try storage.outbox(app: Sample.app, after: nil, limit: 99)
        #expect(left.map(\.customer) == [Sample.key("ben")])
        #expect(try storage.latestEvents(app: Sample.app, limit: 9) == left)
        let scope = AppScope(Sample.app, .production)
        let records = try storage.records(in: scope, from: RecordPlace(.event), limit: 2).records
        guard case .event(let place) = try #require(records.last) else {
            Issue.record("the last event is exported")
            return
        }
        #expect(place.customer == Sample.key("erased-1"))
        #expect(place.event.kind == "erased")
        let members = try JSONDocument(place.event.body).root.members.map(\.key)
        #expect(members == ["app", "customer", "environment"])
        let audit = try storage.audit(app: Sample.app, customer: nil, after: nil, limit: 9)
        #expect(audit.map(\.entry.customer) == [Sample.customer("erased-1")])
        #expect(audit.map(\.entry.other) == [nil])
        #expect(try storage.lineages(of: Sample.key("ben"), now: Sample.day(3)) == ben)
        // An unknown customer is erased in the same way.
        let again = try erasure(of: "anna", known: [], in: storage)
        #expect(try await storage.erase(again) == Erased())
        // A later fact stores the customer again.
        let fact = Sample.term(0, of: Sample.lineage("1"), token: "anna")
        let back = try await storage.commit(
            Sample.commitRequest(facts: [fact]),
            derive: Sample.derive
        )
        #expect(back.rows.map(\.key) == [Sample.key("anna")])
    }

    private static func sharedStays(_ storage: any Storage) async throws {
        let lineage = Sample.lineage("1")
        for (n, customer) in ["anna", "ben"].enumerated() {
            let fact = Sample.term(
                Int64(n),
                of: lineage,
                token: customer,
                evidence: Sample.evidence("n-\(n)").id
            )
            let commitRequest = Sample.commitRequest(
                "n-\(n)",
                facts: [fact],
                now: Sample.day(30 * Int64(n) + 1)
            )
            _ = try await storage.commit(commitRequest, derive: Sample.derive)
        }
        let lineageRecord = try storage.lineageRecord(lineage, app: Sample.app)
        let read = try erasure(of: "anna", known: [], in: storage)
        // A response that can no longer be read seems to be about anna alone.
        let order = Erasure(
            read.customer,
            known: [],
            exclusive: [],
            answers: [Sample.evidence("n-0").id],
            events: read.events,
            lastEvent: read.lastEvent,
            pseudonym: read.pseudonym
        )
        let erased = try #require(try await storage.erase(order))
        #expect(erased.purchases == 0)
        #expect(erased.shared == 1)
        #expect(erased.audit == 0)
        #expect(try storage.row(of: Sample.key("anna")) == nil)
        #expect(try storage.lineageRecord(lineage, app: Sample.app) == lineageRecord)
        #expect(try kept(storage) == ["n-0", "n-1"])
        let audit = try storage.audit(app: Sample.app, customer: nil, after: nil, limit: 9)
        #expect(audit.map(\.entry.kind) == [.transferred])
    }

    private static func namesGo(_ storage: any Storage) async throws {
        let proof = Sample.term(
            0,
            of: Sample.lineage("3"),
            token: "ben",
            evidence: Sample.evidence("proof").id
        )
        for (name, customers, facts) in [
            ("own", ["anna"], []), ("both", ["ben", "anna"], []), ("other", ["ann"], []),
            ("answer", [], []), ("proof", ["anna"], [proof]), ("again", ["anna"], [proof]),
        ] as [(String, [String], [Fact])] {
            let commitRequest = CommitRequest(
                app: Sample.app,
                environment: .production,
                evidence: Sample.evidence(name),
                facts: facts,
                evidenceNames: customers.map { Sample.customer($0) },
                now: Sample.day(1)
            )
            _ = try await storage.commit(commitRequest, derive: Sample.derive)
        }
        func bookmark(_ name: String) -> BookmarkKey {
            BookmarkKey(app: Sample.app, environment: .production, name: name)
        }
        let alias = CommitRequest(
            app: Sample.app,
            environment: .production,
            alias: CustomerAlias(
                alias: Sample.customer(#"an"a"#),
                customer: Sample.customer("anna"),
                from: Sample.day(1),
                by: "k"
            ),
            now: Sample.day(1)
        )
        _ = try await storage.commit(alias, derive: Sample.derive)
        let values = [
            "to:anna": "zoe", "to:ben": "anna", "to:zoe": "ben", "to:eve": #"an\"a"#, "tp": "anna",
        ]
        for (name, value) in values {
            try await storage.keep(Array(#"{"value":"\#(value)"}"#.utf8), as: bookmark(name))
        }
        // No customer has an id with a NUL, but a relay may name one.
        try await storage.keep(Array(#"{"value":"anna\u0000"}"#.utf8), as: bookmark("to:nul"))
        let order = Erasure(
            Sample.key("anna"),
            known: [],
            exclusive: [],
            answers: [Sample.evidence("answer").id],
            events: [],
            bookmarks: ["to:anna"],
            bookmarkPrefixes: ["to:"],
            pseudonym: Sample.customer("erased-1")
        )
        let erased = try #require(try await storage.erase(order))
        #expect(erased.evidence == 3)
        #expect(try kept(storage) == ["again", "other", "proof"])
        let left = try ["to:anna", "to:ben", "to:eve", "to:nul", "to:zoe", "tp"].filter {
            try storage.bookmark(bookmark($0)) != nil
        }
        #expect(left == ["to:nul", "to:zoe", "tp"])
    }

    private static func staleErasure(_ storage: any Storage) async throws {
        try await live(storage)
        let before = try storage.lineages(of: Sample.key("anna"), now: Sample.day(3))
        let order = try erasure(of: "anna", known: [Sample.evidence("proof-1")], in: storage)
        #expect(try await storage.erase(order) == nil)
        #expect(try storage.lineages(of: Sample.key("anna"), now: Sample.day(3)) == before)
    }

    private static func laterEventsGo(_ storage: any Storage) async throws {
        try await live(storage)
        let known = [Sample.evidence("proof-1"), Sample.evidence("proof-2")]
        let order = try erasure(of: "anna", known: known, in: storage)
        for (customer, day) in [("anna", 5), ("ben", 6)] as [(String, Int64)] {
            try await tell("late", customer, at: Sample.day(day), in: storage)
        }
        let erased = try #require(try await storage.erase(order))
        #expect(erased.events == order.events.count + 1)
        let left = try storage.outbox(app: Sample.app, after: nil, limit: 99)
        #expect(Set(left.map(\.customer)) == [Sample.key("ben")])
    }

    private static func claimsAreCounted(_ storage: any Storage) async throws {
        let lineage = Sample.lineage("1")
        let fact = Sample.term(0, of: lineage, token: "anna")
        _ = try await storage.commit(Sample.commitRequest(facts: [fact]), derive: Sample.derive)
        for number in [1, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11, 1] {
            let claim = OwnershipClaim(
                lineage: lineage,
                customer: Sample.customer("u_\(number)"),
                at: Sample.day(2)
            )
            let commitRequest = CommitRequest(
                app: Sample.app,
                environment: .production,
                ownership: OwnershipClaims([claim]) { _, _, _ in .refused(.heldByAnother) },
                now: Sample.day(2)
            )
            _ = try await storage.commit(commitRequest, derive: Sample.derive)
        }
        let lines = try storage.audit(app: Sample.app, customer: nil, after: nil, limit: 99)
        #expect(lines.map(\.entry.customer?.text) == (1...9).map { "u_\($0)" })
        #expect(lines.map(\.entry.count) == [1, 1, 1, 1, 1, 1, 1, 1, 3])
    }
}
