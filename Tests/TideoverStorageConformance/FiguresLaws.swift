import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let figuresLaws: [StorageLaw] = [
        StorageLaw("new facts and owners make the figures of their purchase stale", factsMark),
        StorageLaw("figures of data that has changed meanwhile are not stored", changesRefuse),
        StorageLaw("figures read before others were stored are not stored", turns),
        StorageLaw("figures are read in the order of their names, page by page", pages),
        StorageLaw("figures under another stamp are marked, page by page", otherStamps),
        StorageLaw("an alias makes the figures of both ids stale", aliasMarks),
        StorageLaw("an erasure removes figures, and marks what it leaves", erasureRemoves),
        StorageLaw("imported records make figures stale", importMarks),
    ]

    private static func buy(
        _ id: String,
        by customer: String?,
        _ n: Int64 = 0,
        in storage: any Storage
    ) async throws {
        let fact = Sample.term(n, of: Sample.lineage(id), token: customer)
        _ = try await storage.commit(Sample.commitRequest(facts: [fact]), derive: Sample.derive)
    }

    private static func page(
        _ storage: any Storage,
        _ environment: Environment = .production,
        limit: Int = 100
    ) throws -> StaleFiguresPage {
        try storage.staleFigures(in: AppScope(Sample.app, environment), limit: limit)
    }

    private static func stale(_ storage: any Storage) throws -> [String] {
        try page(storage).subjects.map { "\($0.subject.kind) \($0.subject.name)" }.sorted()
    }

    private static func kept(
        _ storage: any Storage,
        _ kind: FiguresSubject.Kind = .lineage
    ) throws -> [String] {
        try storage.figures(
            in: AppScope(Sample.app, .production),
            kind: kind,
            after: nil,
            limit: 100
        ).map { "\($0.subject.name) \($0.stamp) \($0.form)" }
    }

    @discardableResult
    private static func keep(
        _ forms: [FiguresSubject: [UInt8]?],
        stamp: Int64 = 1,
        done: StaleFiguresPage? = nil,
        in storage: any Storage
    ) async throws -> Bool {
        try await storage.keep(
            FiguresUpdate(
                app: Sample.app,
                environment: .production,
                stamp: stamp,
                done: try done ?? page(storage),
                forms: forms
            )
        )
    }

    private static func lineage(_ id: String) -> FiguresSubject {
        FiguresSubject(.lineage, "appStore:\(id)")
    }

    private static func customer(_ id: String) -> FiguresSubject { FiguresSubject(.customer, id) }

    private static func factsMark(_ storage: any Storage) async throws {
        #expect(try page(storage) == StaleFiguresPage(turn: 0, subjects: []))
        try await buy("1", by: "anna", in: storage)
        try await buy("2", by: nil, in: storage)
        #expect(try stale(storage) == ["lineage appStore:1", "lineage appStore:2"])
        #expect(try page(storage, .sandbox).subjects == [])
        #expect(try page(storage, limit: 1).subjects.count == 1)
        let forms: [FiguresSubject: [UInt8]?] = [lineage("1"): [1, 0, 255], lineage("2"): []]
        #expect(try await keep(forms, stamp: .min, in: storage))
        #expect(try stale(storage) == [])
        #expect(
            try kept(storage) == [
                "appStore:1 \(Int64.min) [1, 0, 255]", "appStore:2 \(Int64.min) []",
            ]
        )
        // A fact that is known already changes nothing.
        try await buy("1", by: "anna", in: storage)
        #expect(try stale(storage) == [])
        try await buy("1", by: "anna", 1, in: storage)
        #expect(try stale(storage) == ["lineage appStore:1"])
        #expect(try await keep([lineage("1"): nil], in: storage))
        #expect(try kept(storage).count == 1)
    }

    private static func changesRefuse(_ storage: any Storage) async throws {
        try await buy("1", by: "anna", in: storage)
        let before = try page(storage)
        try await buy("1", by: "anna", 1, in: storage)
        #expect(try await keep([lineage("1"): [1]], done: before, in: storage) == false)
        #expect(try kept(storage) == [])
        #expect(try stale(storage) == ["lineage appStore:1"])
        #expect(try await keep([lineage("1"): [2]], in: storage))
        #expect(try kept(storage) == ["appStore:1 1 [2]"])
    }

    private static func turns(_ storage: any Storage) async throws {
        let before = try page(storage)
        #expect(try await keep([customer("anna"): [1]], done: before, in: storage))
        #expect(try await keep([customer("anna"): [2]], done: before, in: storage) == false)
        #expect(try kept(storage, .customer) == ["anna 1 [1]"])
        #expect(try page(storage).turn == before.turn + 1)
    }

    private static func pages(_ storage: any Storage) async throws {
        let ids = ["a", "B", "é", "a1", "\u{10000}"]
        let forms = ids.map { (customer($0), [UInt8]?.some([1])) }
        try await keep(Dictionary(uniqueKeysWithValues: forms), in: storage)
        var found: [String] = []
        while true {
            let page = try storage.figures(
                in: AppScope(Sample.app, .production),
                kind: .customer,
                after: found.last,
                limit: 2
            )
            found += page.map(\.subject.name)
            if page.count < 2 { break }
        }
        #expect(found == ["B", "a", "a1", "é", "\u{10000}"])
    }

    private static func otherStamps(_ storage: any Storage) async throws {
        try await keep([lineage("1"): [1], lineage("3"): [1]], stamp: 1, in: storage)
        try await keep([lineage("2"): [1]], stamp: 2, in: storage)
        var last: String?
        var count = 0
        repeat {
            last = try await storage.markFigures(
                in: AppScope(Sample.app, .production),
                otherThan: 2,
                after: last,
                limit: 1
            )
            count += 1
        } while last != nil
        #expect(count == 4)
        #expect(try stale(storage) == ["lineage appStore:1", "lineage appStore:3"])
    }

    private static func alias(_ alias: String, of customer: String, in storage: any Storage)
        async throws
    {
        let request = CommitRequest(
            app: Sample.app,
            environment: .production,
            alias: CustomerAlias(
                alias: Sample.customer(alias),
                customer: Sample.customer(customer),
                from: Sample.day(1),
                why: "one person",
                by: "k"
            ),
            now: Sample.day(1)
        )
        _ = try await storage.commit(request, derive: Sample.derive)
    }

    private static func aliasMarks(_ storage: any Storage) async throws {
        try await keep([customer("phone"): [1], customer("anna"): [1]], in: storage)
        try await alias("phone", of: "anna", in: storage)
        #expect(try stale(storage).contains("customer anna"))
        #expect(try stale(storage).contains("customer phone"))
    }

    private static func erasureRemoves(_ storage: any Storage) async throws {
        try await buy("1", by: "anna", in: storage)
        try await alias("phone", of: "anna", in: storage)
        try await keep(
            [
                lineage("1"): [1], customer("anna"): [1], customer("phone"): [1],
                customer("ben"): [1],
            ],
            in: storage
        )
        try await buy("1", by: "anna", 1, in: storage)
        let erasure = Erasure(
            Sample.key("anna"),
            known: [EvidenceID(hex: "00")],
            exclusive: [],
            events: [],
            pseudonym: Sample.customer("erased-1")
        )
        #expect(try await storage.erase(erasure)?.purchases == 1)
        #expect(try kept(storage) == [])
        #expect(try kept(storage, .customer) == ["ben 1 [1]"])
        #expect(try stale(storage) == [])
    }

    private static func importMarks(_ storage: any Storage) async throws {
        let fact = Sample.term(0, of: Sample.lineage("1"), token: "anna")
        _ = try await storage.restore(
            [.fact(fact)],
            in: AppScope(Sample.app, .production),
            now: Sample.day(1)
        )
        #expect(try stale(storage) == ["lineage appStore:1"])
    }
}
