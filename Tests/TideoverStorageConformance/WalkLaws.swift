import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let walkLaws: [StorageLaw] = [
        StorageLaw(
            "all evidence can be read in pages, each piece once and exact",
            evidenceIsWalked
        ),
        StorageLaw("evidence is found by the prefix of its key, in order", evidenceIsKeyed),
        StorageLaw(
            "all lineages can be read in pages with all facts, owned or not",
            lineagesAreWalked
        ),
        StorageLaw("a purchase is found by any of its ids in every environment", namesAreFound),
        StorageLaw("the last cursor of a name is the valid one", reopening: bookmarksStay),
        StorageLaw("of several writers one replaces a bookmark", oneReplaces),
        StorageLaw("bookmarks are listed by a prefix of their names", bookmarksByPrefix),
    ]

    private static func evidenceIsWalked(_ storage: any Storage) async throws {
        var kept: [Evidence] = []
        for number in 0..<7 {
            let piece = Sample.evidence("n\(number)", bytes: Array("piece \(number)".utf8))
            kept.append(piece)
            for environment in [Environment.production, .sandbox]
            where environment == .production || number == 0 {
                let commitRequest = CommitRequest(
                    app: Sample.app,
                    environment: environment,
                    evidence: piece,
                    now: Sample.day(1)
                )
                _ = try await storage.commit(commitRequest, derive: Sample.derive)
            }
        }
        var found: [Evidence] = []
        while true {
            let page = try storage.evidence(
                in: AppScope(Sample.app, .production),
                after: found.last?.id,
                limit: 3
            )
            found += page
            guard page.count == 3 else { break }
        }
        #expect(found == kept.sorted { $0.id < $1.id })
        let elsewhere = try storage.evidence(
            in: AppScope("chess", .production),
            after: nil,
            limit: 3
        )
        #expect(elsewhere == [])
    }

    private static func evidenceIsKeyed(_ storage: any Storage) async throws {
        let keys = ["a:1", "a:10", "a:2", "a", "b:1", "a;1", "A:1", "a:\u{FC}"]
        for (number, key) in keys.enumerated() {
            let bytes = Array("piece \(number)".utf8)
            let piece = Evidence(
                id: EvidenceID(of: bytes),
                dedupeKey: key,
                source: .revenueCatAPI,
                signedAt: nil,
                receivedAt: Sample.day(1),
                bytes: bytes
            )
            let commitRequest = CommitRequest(
                app: Sample.app,
                environment: .production,
                evidence: piece,
                now: Sample.day(1)
            )
            _ = try await storage.commit(commitRequest, derive: Sample.derive)
        }
        func found(_ app: String, _ environment: Environment, after: String?) throws -> [String] {
            try storage.evidence(
                in: AppScope(app, environment),
                keyed: "a:",
                after: after,
                limit: 2
            ).map(\.dedupeKey)
        }
        #expect(try found(Sample.app, .production, after: nil) == ["a:1", "a:10"])
        #expect(try found(Sample.app, .production, after: "a:10") == ["a:2", "a:\u{FC}"])
        #expect(try found(Sample.app, .production, after: "a:\u{FC}") == [])
        #expect(try found(Sample.app, .sandbox, after: nil) == [])
        #expect(try found("chess", .production, after: nil) == [])
    }

    private static func lineagesAreWalked(_ storage: any Storage) async throws {
        let ids = ["1", "10", "2", "21", "3"]
        for (number, id) in ids.enumerated() {
            let lineage = Sample.lineage(id)
            // Every other one has no owner.
            let token = number.isMultiple(of: 2) ? "u_\(number)" : nil
            let facts = (0...2).map { Sample.term($0, of: lineage, token: token) }
            let commitRequest = CommitRequest(
                app: Sample.app,
                environment: .production,
                facts: facts,
                now: Sample.day(1)
            )
            _ = try await storage.commit(commitRequest, derive: Sample.derive)
        }
        var found: [LineageRecord] = []
        while true {
            let page = try storage.lineages(
                in: AppScope(Sample.app, .production),
                after: found.last?.lineage.key,
                limit: 2
            )
            found += page
            guard page.count == 2 else { break }
        }
        #expect(found.map(\.lineage) == ids.map { Sample.lineage($0) })
        #expect(found.map(\.facts.count) == [3, 3, 3, 3, 3])
        #expect(found.map(\.owners.isEmpty) == [false, true, false, true, false])
        let sandbox = try storage.lineages(
            in: AppScope(Sample.app, .sandbox),
            after: nil,
            limit: 2
        )
        #expect(sandbox == [])
    }

    private static func namesAreFound(_ storage: any Storage) async throws {
        for environment in [Environment.production, .sandbox] {
            let lineage = Sample.lineage("77", environment)
            for facts in [[Sample.term(0, of: lineage)], [Sample.term(1, of: lineage)]] {
                _ = try await storage.commit(
                    Sample.commitRequest(nil, environment, facts: facts),
                    derive: Sample.derive
                )
            }
        }
        let found = try storage.lineageRecords(
            named: .transaction("77-1"),
            app: Sample.app,
            limit: 9
        )
        #expect(found.map(\.lineage.environment) == [.production, .sandbox])
        #expect(found.map(\.facts.count) == [2, 2])
        for (name, app) in [("77-2", Sample.app), ("77", Sample.app), ("77-1", "chess")] {
            let none = try storage.lineageRecords(named: .transaction(name), app: app, limit: 9)
            #expect(none == [])
        }
        let other = try storage.lineageRecords(named: .order("77-1"), app: Sample.app, limit: 9)
        #expect(other == [])
        let one = try storage.lineageRecord(Sample.lineage("77", .sandbox), app: Sample.app)
        #expect(one.facts.count == 2 && one.owners.count == 1)
        let nothing = try storage.lineageRecord(Sample.lineage("78"), app: Sample.app)
        #expect(nothing.facts == [] && nothing.owners == [])
    }

    private static func bookmarksStay(at site: any StorageSite) async throws {
        let key = BookmarkKey(app: Sample.app, environment: .production, name: "walk")
        let others = [
            BookmarkKey(app: "chess", environment: .production, name: "walk"),
            BookmarkKey(app: Sample.app, environment: .sandbox, name: "walk"),
            BookmarkKey(app: Sample.app, environment: .production, name: "other"),
        ]
        try await site.withStorage { storage in
            let none = try storage.bookmark(key)
            #expect(none == nil)
            try await storage.keep(Array("{\"a\":1}".utf8), as: key)
            try await storage.keep(Array("{\"a\":2}".utf8), as: key)
        }
        try await site.withStorage { storage in
            let kept = try storage.bookmark(key)
            #expect(kept == Array("{\"a\":2}".utf8))
            for other in others {
                let found = try storage.bookmark(other)
                #expect(found == nil)
            }
        }
    }

    private static func oneReplaces(_ storage: any Storage) async throws {
        let key = BookmarkKey(app: Sample.app, environment: .production, name: "place")
        let forms = (0..<8).map { Array("{\"a\":\($0)}".utf8) }
        var former: [UInt8]?
        for _ in 0..<2 {
            let expected = former
            let stored = try await withThrowingTaskGroup(
                of: [UInt8]?.self,
                returning: [[UInt8]].self
            ) { group in
                for form in forms where form != expected {
                    group.addTask {
                        try await storage.replace(expected, by: form, as: key) ? form : nil
                    }
                }
                var stored: [[UInt8]] = []
                for try await form in group { if let form { stored.append(form) } }
                return stored
            }
            #expect(stored.count == 1)
            former = try storage.bookmark(key)
            #expect(former == stored.first)
        }
        let again = try await storage.replace(nil, by: forms[0], as: key)
        #expect(!again)
        #expect(try storage.bookmark(key) == former)
    }

    private static func bookmarksByPrefix(_ storage: any Storage) async throws {
        let places = [
            ("queue:1", Environment.production), ("queue:12", .production), ("queue:", .production),
            ("queue;", .production), ("queu", .production), ("queue:2", .sandbox),
        ]
        for (name, environment) in places {
            let key = BookmarkKey(app: Sample.app, environment: environment, name: name)
            try await storage.keep(Array("{\"a\":1}".utf8), as: key)
        }
        let scope = AppScope(Sample.app, .production)
        let found = try storage.bookmarks(in: scope, prefix: "queue:")
        #expect(found.keys.sorted() == ["queue:1", "queue:12"])
        #expect(found.values.allSatisfy { $0 == Array("{\"a\":1}".utf8) })
        #expect(try storage.bookmarks(in: scope, prefix: "other:") == [:])
    }
}
