import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let recordLaws: [StorageLaw] = [
        StorageLaw("all data is read in pages and can be restored elsewhere", movesAll),
        StorageLaw("restored data stays as it is and is restored once", restoresOnce),
        StorageLaw("the mark of evidence without new facts moves", movesMarks),
        StorageLaw("the version of an answer never goes back", raisesVersions),
        StorageLaw("two different answers never have one version", separatesVersions),
        StorageLaw("a stored bookmark stays as it is", keepsBookmarks),
        StorageLaw("an imported newest removed event only rises", raisesRemovedEvents),
        StorageLaw("a restored prompt is added once, and its response later", addsResponses),
        StorageLaw("data restored to a known customer causes a derivation", outdates),
        StorageLaw("the records of a kind are read in the order of their keys", ordered),
        StorageLaw("each record can be removed alone, and restored", removesEach),
        StorageLaw("an owner is removed with the later ones of its lineage", removesOwners),
        StorageLaw("what is derived from removed facts and owners is gone", removesDerived),
        StorageLaw("data removed from a known customer causes a derivation", removalOutdates),
    ]

    /// Stores facts, owners of two kinds, an alias, drift, events and the audit of three customers.
    private static func live(in storage: any Storage) async throws {
        for (number, token) in ["anna", "phone", nil].enumerated() {
            let lineage = Sample.lineage("\(number)")
            for term in 0...2 {
                let fact = Sample.term(Int64(term), of: lineage, token: token)
                let commitRequest = Sample.commitRequest("n\(number)\(term)", facts: [fact])
                _ = try await storage.commit(commitRequest) { lineages in
                    named(Sample.derive(lineages))
                }
            }
        }
        for version in [Sample.policy("a", 1), Sample.policy("b", 2)] {
            _ = try await storage.record(version, in: AppScope(Sample.app, .production))
        }
        let alias = CustomerAlias(
            alias: Sample.customer("phone"),
            customer: Sample.customer("anna"),
            from: Sample.day(3),
            why: "one person",
            by: "k"
        )
        let attribute = CustomerAttribute(
            name: "$email",
            value: "anna@example.com",
            updatedAt: Sample.day(3)
        )
        let order = AttributeOrder(
            [attribute],
            of: Sample.key("anna"),
            now: Sample.day(3),
            limit: 9
        )
        _ = try await storage.keep(order)
        for name in bookmarks + ["silence", "replay", "storeAction:"] {
            let key = BookmarkKey(app: Sample.app, environment: .production, name: name)
            try await storage.keep(Array(#"{"value":"\#(name)"}"#.utf8), as: key)
        }
        let claim = OwnershipClaim(
            lineage: Sample.lineage("0"),
            customer: Sample.customer("mallory"),
            at: Sample.day(4)
        )
        let refusing = OwnershipClaims([claim]) { claim, lineageRecord, _ in
            claim.ruling(facts: lineageRecord.facts, owners: lineageRecord.owners, policy: .claim) {
                true
            }
        }
        for commitRequest in [
            CommitRequest(
                app: Sample.app,
                environment: .production,
                alias: alias,
                now: Sample.day(3)
            ),
            CommitRequest(
                app: Sample.app,
                environment: .production,
                customers: [Sample.key("mallory")],
                reconciled: [Sample.key("mallory")],
                presentedIn: .googlePlay,
                accountOffers: Array(presented.accountOffers.keys),
                ownership: refusing,
                prompts: [
                    ShownPrompt(
                        customer: Sample.key("mallory"),
                        exposure: PromptExposure(id: "p1", kind: .soft, shownAt: Sample.day(4))
                    )
                ],
                now: Sample.day(4)
            ),
        ] {
            _ = try await storage.commit(commitRequest) { lineages in
                let told = named(Sample.derive(lineages))
                guard lineages.key.customer == Sample.customer("mallory") else { return told }
                return Derivation(
                    answer: told.answer,
                    validUntil: told.validUntil,
                    fingerprint: told.fingerprint,
                    events: told.events,
                    drift: [Sample.drift("mallory", openedAt: Sample.day(4))]
                )
            }
        }
    }

    private static let presented = PresentedStores(
        [.googlePlay: Sample.day(4)],
        accountOffers: [
            AccountOffer(store: .appStore, productId: "cards pro", isUsed: true): Sample.day(4),
            AccountOffer(store: .googlePlay, productId: "pro:year", isUsed: false): Sample.day(4),
        ]
    )

    /// The names of bookmarks that are records; each range has one or several.
    private static let bookmarks = [
        "consumption:0", "consumption:1", "removed-events", "revenueCat:appOrigin:0a",
        "revenueCat:logIn:anna", "revenueCat:transfer:anna", "revenueCat:transfer:ben",
        "revenueCat:transfer:cleo", "storeAction:01",
    ]

    /// Returns the derivation with names for its events.
    private static func named(_ derivation: Derivation) -> Derivation {
        Derivation(
            answer: derivation.answer,
            validUntil: derivation.validUntil,
            fingerprint: derivation.fingerprint,
            events: derivation.events.map {
                Event(name: "changed:\($0.body.count)", kind: $0.kind, at: $0.at, body: $0.body)
            }
        )
    }

    private static func all(
        _ storage: any Storage,
        app: String = Sample.app,
        limit: Int = 2
    ) throws -> [StoredRecord] {
        var found: [StoredRecord] = []
        var place: RecordPlace? = .start
        while let here = place {
            let page = try storage.records(
                in: AppScope(app, .production),
                from: here,
                limit: limit
            )
            #expect(page.records.count <= limit)
            #expect(Set(page.records.map(\.kind)).count <= 1)
            found += page.records
            place = page.next
        }
        return found
    }

    /// Returns the records as those of another app.
    private static func moved(_ records: [StoredRecord], to app: String) -> [StoredRecord] {
        records.map { record in
            switch record {
            case .event(let event):
                let key = event.customer.customer.text
                return .event(
                    OutboxEvent(
                        id: event.id,
                        customer: Sample.key(key, app: app),
                        version: event.version,
                        event: event.event
                    )
                )
            case .customer(let row):
                return .customer(
                    CustomerRow(
                        key: Sample.key(row.key.customer.text, app: app),
                        version: row.version,
                        answer: row.answer,
                        validUntil: row.validUntil,
                        fingerprint: row.fingerprint,
                        derivedAt: row.derivedAt,
                        reconciledAt: row.reconciledAt,
                        presented: row.presented
                    )
                )
            default: return record
            }
        }
    }

    private static func restore(
        _ records: [StoredRecord],
        to app: String,
        in storage: any Storage
    ) async throws -> [Restored] {
        try await storage.restore(
            records,
            in: AppScope(app, .production),
            now: Sample.day(9)
        )
    }

    private static func movesAll(_ storage: any Storage) async throws {
        try await live(in: storage)
        let records = try all(storage)
        #expect(records == (try all(storage, limit: 1_000)))
        #expect(Set(records.map(\.kind)) == Set(StoredRecord.Kind.allCases))
        let kinds = records.map { StoredRecord.Kind.allCases.firstIndex(of: $0.kind) ?? 0 }
        #expect(kinds == kinds.sorted())
        let outcomes = try await restore(moved(records, to: "chess"), to: "chess", in: storage)
        #expect(Set(outcomes) == [.added])
        #expect(try all(storage, app: "chess") == moved(records, to: "chess"))
        for customer in ["anna", "phone", "mallory"] {
            let there = try storage.lineages(of: Sample.key(customer), now: Sample.day(9))
            let here = try storage.lineages(
                of: Sample.key(customer, app: "chess"),
                now: Sample.day(9)
            )
            #expect(here?.lineageRecords == there?.lineageRecords)
            #expect(here?.deliveredEvents == there?.deliveredEvents)
            #expect(here?.identity == there?.identity)
            #expect(here?.openDrift == there?.openDrift)
            #expect(here?.reconciledAt == there?.reconciledAt)
            #expect(here?.presented == there?.presented)
            #expect(here?.prompts == there?.prompts)
            #expect(here?.version == there?.version)
        }
        let unclaimed = try storage.unclaimed(
            in: AppScope("chess", .production),
            after: nil,
            limit: 9
        )
        #expect(unclaimed.map(\.lineage.id) == ["2"])
        let mallory = try storage.lineages(
            of: Sample.key("mallory", app: "chess"),
            now: Sample.day(9)
        )
        #expect(mallory?.presented == Self.presented)
        #expect(mallory?.prompts.map(\.id) == ["p1"])
        let kept = records.compactMap { record -> String? in
            if case .bookmark(let bookmark) = record { bookmark.name } else { nil }
        }
        #expect(kept == bookmarks)
    }

    private static func keepsBookmarks(_ storage: any Storage) async throws {
        let record = BookmarkRecord(name: "storeAction:01", form: Array(#"{"value":"a"}"#.utf8))
        #expect(try await restore([.bookmark(record)], to: Sample.app, in: storage) == [.added])
        let other = BookmarkRecord(name: record.name, form: Array(#"{"value":"b"}"#.utf8))
        let outcomes = try await restore(
            [.bookmark(record), .bookmark(other)],
            to: Sample.app,
            in: storage
        )
        #expect(outcomes == [.known, .known])
        let key = BookmarkKey(app: Sample.app, environment: .production, name: record.name)
        #expect(try storage.bookmark(key) == record.form)
    }

    private static func raisesRemovedEvents(_ storage: any Storage) async throws {
        let ids = [Sample.day(2), Sample.day(3), Sample.day(1)].map { EventID.earliest(at: $0) }
        let records = ids.map { id in
            let form = RemovedEvents.form(id.description)
            return StoredRecord.bookmark(BookmarkRecord(name: RemovedEvents.name, form: form))
        }
        let outcomes = try await restore(records, to: Sample.app, in: storage)
        #expect(outcomes == [.added, .added, .known])
        let form = RemovedEvents.form(ids[1].description)
        #expect(try storage.bookmark(RemovedEvents.key(of: Sample.app)) == form)
    }

    private static func addsResponses(_ storage: any Storage) async throws {
        let fact = Sample.term(0, token: "anna")
        _ = try await storage.commit(Sample.commitRequest(facts: [fact]), derive: Sample.derive)
        func shown(_ response: PromptExposure.Response?) -> StoredRecord {
            let exposure = PromptExposure(
                id: "p1",
                kind: .soft,
                shownAt: Sample.day(1),
                response: response
            )
            return .prompt(PromptRecord(customer: Sample.customer("anna"), exposure: exposure))
        }
        let news = [shown(nil), shown(nil), shown(.dismissed), shown(.opened)]
        let outcomes = try await restore(news, to: Sample.app, in: storage)
        #expect(outcomes == [.added, .known, .added, .known])
        let lineages = try storage.lineages(of: Sample.key("anna"), now: Sample.day(9))
        #expect(lineages?.prompts.map(\.response) == [.dismissed])
        #expect(try storage.row(of: Sample.key("anna"))?.fingerprint.isEmpty == true)
    }

    private static func restoresOnce(_ storage: any Storage) async throws {
        try await live(in: storage)
        let records = moved(try all(storage), to: "chess")
        // In two halves, as after an interrupted first attempt.
        _ = try await restore(Array(records.prefix(records.count / 2)), to: "chess", in: storage)
        _ = try await restore(records, to: "chess", in: storage)
        #expect(Set(try await restore(records, to: "chess", in: storage)) == [.known])
        #expect(try all(storage, app: "chess") == records)
        // An existing owner is not replaced.
        let other = OwnershipEntry(
            lineage: Sample.lineage("0"),
            customer: Sample.customer("mallory"),
            from: .distantPast,
            why: .claimed
        )
        let wrong: [StoredRecord] = [.owner(other, position: 0), .owner(other, position: 5)]
        let refused = try await restore(wrong, to: "chess", in: storage)
        #expect(refused == [.contradicted, .contradicted])
        #expect(try all(storage, app: "chess") == records)
    }

    private static func movesMarks(_ storage: any Storage) async throws {
        let fact = Sample.term(0, token: "anna", evidence: Sample.evidence("proof").id)
        for (name, facts, day) in [
            ("proof", [fact], 1), ("again", [fact], 2), ("ping", [], 3),
        ] as [(String, [Fact], Int64)] {
            let commitRequest = Sample.commitRequest(name, facts: facts, now: Sample.day(day))
            _ = try await storage.commit(commitRequest, derive: Sample.derive)
        }
        let records = try all(storage)
        func marks(_ app: String) throws -> [String: IdleMark] {
            var marks: [String: IdleMark] = [:]
            for case .evidence(let piece, let mark?) in try all(storage, app: app) {
                marks[piece.dedupeKey] = mark
            }
            return marks
        }
        let expected = [
            "again": IdleMark(since: Sample.day(2), subject: fact.lineage.key),
            "ping": IdleMark(since: Sample.day(3), subject: nil),
        ]
        #expect(try marks(Sample.app) == expected)
        _ = try await restore(moved(records, to: "chess"), to: "chess", in: storage)
        #expect(try marks("chess") == expected)
        // A fact that was read from evidence elsewhere is proved by it.
        let ping = Sample.term(1, token: "anna", evidence: Sample.evidence("ping").id)
        #expect(try await restore([.fact(ping)], to: "chess", in: storage) == [.added])
        #expect(try marks("chess") == expected.filter { $0.key == "again" })
    }

    private static func raisesVersions(_ storage: any Storage) async throws {
        let (anna, fact) = (Sample.key("anna"), Sample.term(0, token: "anna"))
        _ = try await storage.commit(Sample.commitRequest(facts: [fact]), derive: Sample.derive)
        let stored = try #require(try storage.row(of: anna))
        func imported(_ version: Int64) -> StoredRecord { answer(stored.answer, version) }
        #expect(try await restore([imported(1)], to: Sample.app, in: storage) == [.known])
        #expect(try storage.row(of: anna) == stored)
        let later = [imported(7), imported(7), imported(5)]
        let outcomes = try await restore(later, to: Sample.app, in: storage)
        #expect(outcomes == [.added, .known, .known])
        let row = try #require(try storage.row(of: anna))
        #expect(row.version == 7)
        #expect(row.answer == stored.answer)
        #expect(row.fingerprint.isEmpty)
        #expect(row.validUntil == Sample.day(9))
        let news = Sample.commitRequest("n2", facts: [Sample.term(1, token: "anna")])
        _ = try await storage.commit(news, derive: Sample.derive)
        #expect(try storage.row(of: anna)?.version == 8)
    }

    private static func separatesVersions(_ storage: any Storage) async throws {
        let (anna, fact) = (Sample.key("anna"), Sample.term(0, token: "anna"))
        _ = try await storage.commit(Sample.commitRequest(facts: [fact]), derive: Sample.derive)
        let stored = try #require(try storage.row(of: anna))
        let other = Array("{}".utf8)
        let least = stored.version
        for (version, expected) in [(least, least + 1), (least + 6, least + 7)] {
            // The second import of the same answer changes nothing.
            let imported = [answer(other, version), answer(other, version)]
            let outcomes = try await restore(imported, to: Sample.app, in: storage)
            #expect(outcomes == [.added, .known])
            let row = try #require(try storage.row(of: anna))
            #expect(row.version == expected)
            #expect(row.answer == stored.answer)
            #expect(row.fingerprint.isEmpty)
            #expect(row.validUntil == Sample.day(9))
        }
        let earlier = [answer(other, least + 5)]
        #expect(try await restore(earlier, to: Sample.app, in: storage) == [.known])
        #expect(try storage.row(of: anna)?.version == least + 7)
    }

    /// Returns an answer about anna.
    private static func answer(_ answer: [UInt8], _ version: Int64) -> StoredRecord {
        .customer(
            CustomerRow(
                key: Sample.key("anna"),
                version: version,
                answer: answer,
                validUntil: nil,
                fingerprint: "",
                derivedAt: Sample.day(8)
            )
        )
    }

    private static func outdates(_ storage: any Storage) async throws {
        let fact = Sample.term(0, token: "anna")
        _ = try await storage.commit(Sample.commitRequest(facts: [fact]), derive: Sample.derive)
        #expect(try storage.row(of: Sample.key("anna"))?.fingerprint == "p1")
        let news: [StoredRecord] = [.fact(Sample.term(1, token: "anna"))]
        #expect(try await restore(news, to: Sample.app, in: storage) == [.added])
        let row = try #require(try storage.row(of: Sample.key("anna")))
        #expect(row.fingerprint.isEmpty)
        #expect(row.validUntil == Sample.day(9))
        #expect(try await restore(news, to: Sample.app, in: storage) == [.known])
    }

    // MARK: Removal

    private static let scope = AppScope(Sample.app, .production)

    private static func remove(
        _ records: [StoredRecord],
        from storage: any Storage
    ) async throws {
        try await storage.remove(records, in: scope, now: Sample.day(9))
    }

    private static func ordered(_ storage: any Storage) async throws {
        try await live(in: storage)
        let ids = ["a", "B", "b\u{0}c", "b\u{1}", "b", "\u{FF5E}", "\u{1F511}", "\u{E9}", "z"]
        let attributes = ids.map { name in
            let attribute = CustomerAttribute(name: name, value: name, updatedAt: Sample.day(1))
            return StoredRecord.attribute(
                AttributeRecord(customer: Sample.customer("anna"), attribute: attribute)
            )
        }
        // The numbers 9 and 10 are not in the order of their digits.
        let owners = (0...11).map { position in
            StoredRecord.owner(
                owner("u_\(position)", of: Sample.lineage("many")),
                position: position
            )
        }
        let outcomes = try await restore(attributes + owners, to: Sample.app, in: storage)
        #expect(Set(outcomes) == [.added])
        let records = try all(storage)
        for kind in StoredRecord.Kind.allCases {
            let keys = records.filter { $0.kind == kind }.map(RecordKey.init)
            #expect(!keys.isEmpty)
            #expect(zip(keys, keys.dropFirst()).allSatisfy(<), "\(kind)")
        }
    }

    private static func removesEach(_ storage: any Storage) async throws {
        try await live(in: storage)
        let records = try all(storage)
        let customers = records.filter { $0.kind == .customer }
        let others = records.filter { $0.kind != .customer }
        try await remove(customers, from: storage)
        #expect(try all(storage) == others)
        for record in others {
            try await remove([record], from: storage)
            #expect(try all(storage) == others.filter { $0 != record })
            try await remove([record], from: storage)
            #expect(try await restore([record], to: Sample.app, in: storage) == [.added])
            #expect(try all(storage) == others)
        }
        _ = try await restore(customers, to: Sample.app, in: storage)
        #expect(try all(storage) == records)
        try await remove(records, from: storage)
        #expect(try all(storage) == [])
        #expect(Set(try await restore(records, to: Sample.app, in: storage)) == [.added])
        #expect(try all(storage) == records)
    }

    private static func owner(
        _ customer: String,
        of lineage: Lineage = Sample.lineage("0")
    ) -> OwnershipEntry {
        OwnershipEntry(
            lineage: lineage,
            customer: Sample.customer(customer),
            from: .distantPast,
            why: .claimed
        )
    }

    private static func removesOwners(_ storage: any Storage) async throws {
        let owners = ["anna", "ben", "cleo"].enumerated().map { position, customer in
            StoredRecord.owner(owner(customer), position: position)
        }
        let other = StoredRecord.owner(owner("anna", of: Sample.lineage("1")), position: 0)
        _ = try await restore(owners + [other], to: Sample.app, in: storage)
        try await remove([owners[1]], from: storage)
        #expect(try all(storage) == [owners[0], other])
        let changed = StoredRecord.owner(owner("dora"), position: 1)
        #expect(try await restore([changed], to: Sample.app, in: storage) == [.added])
        #expect(try all(storage) == [owners[0], changed, other])
    }

    private static func removesDerived(_ storage: any Storage) async throws {
        let lineage = Sample.lineage("0")
        let first = Sample.term(0, of: lineage, token: nil)
        var again = first
        again.assertedAt = Sample.day(2)
        let second = Sample.term(1, of: lineage, token: nil)
        let facts = [first, again, second].map(StoredRecord.fact)
        let owned = StoredRecord.owner(owner("anna"), position: 0)
        _ = try await restore(facts + [owned], to: Sample.app, in: storage)
        #expect(try unclaimed(storage) == [])
        try await remove([owned], from: storage)
        #expect(try unclaimed(storage) == ["0"])
        // Another fact has the same name.
        try await remove([facts[0]], from: storage)
        #expect(try named("0-0", storage) == 1)
        #expect(try stale(storage) == 1)
        try await remove([facts[1]], from: storage)
        #expect(try named("0-0", storage) == 0)
        #expect(try named("0-1", storage) == 1)
        #expect(try unclaimed(storage) == ["0"])
        try await remove([facts[2]], from: storage)
        #expect(try named("0-1", storage) == 0)
        #expect(try unclaimed(storage) == [])
        #expect(try stale(storage) == 0)
    }

    private static func unclaimed(_ storage: any Storage) throws -> [String] {
        try storage.unclaimed(in: scope, after: nil, limit: 9).map(\.lineage.id)
    }

    private static func named(_ id: String, _ storage: any Storage) throws -> Int {
        try storage.lineageRecords(named: .transaction(id), app: Sample.app, limit: 9).count
    }

    private static func stale(_ storage: any Storage) throws -> Int {
        try storage.staleFigures(in: scope, limit: 9).subjects.count
    }

    private static func removalOutdates(_ storage: any Storage) async throws {
        let fact = Sample.term(0, token: "anna")
        _ = try await storage.commit(Sample.commitRequest(facts: [fact]), derive: Sample.derive)
        #expect(try storage.row(of: Sample.key("anna"))?.fingerprint == "p1")
        try await remove([.fact(fact)], from: storage)
        let row = try #require(try storage.row(of: Sample.key("anna")))
        #expect(row.fingerprint.isEmpty)
        #expect(row.validUntil == Sample.day(9))
        let outcome = try await storage.commit(
            Sample.commitRequest(customers: [Sample.key("anna")]),
            derive: Sample.derive
        )
        #expect(outcome != .duplicate)
        let answer = try storage.row(of: Sample.key("anna"))?.answer
        #expect(answer.map { String(decoding: $0, as: UTF8.self).contains("-0") } == false)
    }
}
