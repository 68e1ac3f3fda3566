import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let driftLaws: [StorageLaw] = [
        StorageLaw("a drift is opened once, healed once and unchanged afterwards", onceEach),
        StorageLaw("an entitlement has at most one open drift", oneIsOpen),
        StorageLaw(
            "drift is derived in the transaction, and a rollback leaves none",
            takenBack
        ),
        StorageLaw("the next derivation receives open drift, not healed drift", seenByNext),
        StorageLaw("all drift is read in pages, each once, in order", readInPages),
    ]

    private static func onceEach(_ storage: any Storage) async throws {
        let key = Sample.key("u_1")
        let opened = Sample.drift("u_1", openedAt: Sample.day(1))
        try await store([opened], for: key, in: storage)
        try await store([opened], for: key, in: storage)
        #expect(try storage.drift(of: key, limit: 9) == [opened])

        var known = opened
        known.cause = .staleDeviceCache
        try await store([known], for: key, in: storage)
        #expect(try storage.drift(of: key, limit: 9) == [known])

        var healed = known
        healed.healing = Drift.Healing(at: Sample.day(2), by: .notification, access: true)
        try await store([healed], for: key, in: storage)
        var again = known
        again.healing = Drift.Healing(at: Sample.day(3), by: .time, access: true)
        try await store([again], for: key, in: storage)
        try await store([opened], for: key, in: storage)
        #expect(try storage.drift(of: key, limit: 9) == [healed])
    }

    private static func oneIsOpen(_ storage: any Storage) async throws {
        let key = Sample.key("u_1")
        let first = Sample.drift("u_1", openedAt: Sample.day(1))
        let second = Sample.drift("u_1", openedAt: Sample.day(2))
        let other = Sample.drift("u_1", "extra", openedAt: Sample.day(2))
        try await store([first], for: key, in: storage)
        try await store([second, other], for: key, in: storage)
        #expect(try storage.drift(of: key, limit: 9).filter(\.isOpen).count == 2)
        #expect(try storage.drift(of: key, limit: 9).contains(first))

        var healed = first
        healed.healing = Drift.Healing(at: Sample.day(3), by: .device, access: true)
        try await store([healed, second], for: key, in: storage)
        #expect(Set(try storage.drift(of: key, limit: 9)) == [healed, second, other])
        #expect(try storage.drift(of: key, limit: 2).count == 2)
        #expect(try storage.drift(of: Sample.key("u_1", .sandbox), limit: 9).isEmpty)
    }

    private static func takenBack(_ storage: any Storage) async throws {
        let key = Sample.key("u_1")
        let drift = Sample.drift("u_1", openedAt: Sample.day(1))
        await #expect(throws: StorageError.self) {
            _ = try await storage.commit(Sample.commitRequest("n1", customers: [key])) { lineages in
                let refused = Sample.refused(lineages)
                return Derivation(
                    answer: refused.answer,
                    validUntil: nil,
                    fingerprint: refused.fingerprint,
                    events: refused.events,
                    drift: [drift]
                )
            }
        }
        #expect(try storage.drift(of: key, limit: 9).isEmpty)
    }

    private static func seenByNext(_ storage: any Storage) async throws {
        let key = Sample.key("u_1")
        let early = Sample.drift("u_1", openedAt: Sample.day(1))
        let late = Sample.drift("u_1", "extra", openedAt: Sample.day(2))
        try await store([late, early], for: key, in: storage)
        #expect(try storage.lineages(of: key, now: Sample.day(3))?.openDrift == [early, late])
        var healed = early
        healed.healing = Drift.Healing(at: Sample.day(3), by: .asked, access: true)
        try await store([healed], for: key, in: storage, seeing: [early, late])
        try await store([], for: key, in: storage, seeing: [late])
    }

    private static func readInPages(_ storage: any Storage) async throws {
        var all: [Drift] = []
        for customer in ["u_1", "u_2", "ü"] {
            for day in 1...3 as ClosedRange<Int64> {
                var drift = Sample.drift(customer, openedAt: Sample.day(day))
                drift.healing = Drift.Healing(at: Sample.day(day + 1), by: .time, access: true)
                all.append(drift)
                try await store([drift], for: Sample.key(customer), in: storage)
            }
        }
        var found: [Drift] = []
        while true {
            let page = try storage.drift(
                in: AppScope(Sample.app, .production),
                after: found.last,
                limit: 2
            )
            found += page
            if page.isEmpty { break }
        }
        #expect(found == all)
        #expect(
            try storage.drift(in: AppScope("other", .production), after: nil, limit: 9).isEmpty
        )
    }

    static func store(
        _ drift: [Drift],
        for key: CustomerKey,
        in storage: any Storage,
        seeing open: [Drift]? = nil
    ) async throws {
        _ = try await storage.commit(Sample.commitRequest(customers: [key])) { lineages in
            if let open { #expect(lineages.openDrift == open) }
            let derivation = Sample.derive(lineages)
            return Derivation(
                answer: derivation.answer,
                validUntil: derivation.validUntil,
                fingerprint: derivation.fingerprint,
                drift: drift
            )
        }
    }
}

extension Sample {
    static func drift(
        _ customer: String,
        _ entitlement: String = "premium",
        openedAt: Instant
    ) -> Drift {
        Drift(
            customer: Sample.customer(customer),
            environment: .production,
            entitlement: entitlement,
            lineage: lineage(),
            direction: .deviceAllowsServerDenies,
            cause: .missedNotification,
            openedAt: openedAt,
            device: DeviceWord(access: true, end: .at(day(40)), unfinished: ["1"]),
            server: ServerWord(state: .expired, confidence: .confirmed, until: day(30))
        )
    }
}
