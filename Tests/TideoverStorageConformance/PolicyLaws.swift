import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let policyLaws: [StorageLaw] = [
        StorageLaw(
            "policy versions are in the order they took effect, also after reopening",
            reopening: versionsKept
        ),
        StorageLaw("a version is recorded only if it differs from the newest one", recordsChanges),
        StorageLaw("only one version takes effect at an instant and is not replaced", keepsFirst),
        StorageLaw("neither retention nor erasure removes a version of the policy", outlivesOthers),
    ]

    private static func record(
        _ version: PolicyVersion,
        in storage: any Storage,
        app: String = Sample.app,
        _ environment: Environment = .production
    ) async throws -> Bool {
        try await storage.record(version, in: AppScope(app, environment))
    }

    private static func versions(
        _ storage: any Storage,
        app: String = Sample.app,
        _ environment: Environment = .production
    ) throws -> [PolicyVersion] {
        try storage.policyVersions(in: AppScope(app, environment))
    }

    private static func versionsKept(at site: any StorageSite) async throws {
        let all = [Sample.policy("a", 1), Sample.policy("b", 2), Sample.policy("a", 3)]
        try await site.withStorage { storage in
            let none = try versions(storage)
            #expect(none == [])
            for version in all {
                let isNew = try await record(version, in: storage)
                #expect(isNew)
            }
            let isNewElsewhere = try await record(all[0], in: storage, app: "chess")
            let isNewThere = try await record(all[1], in: storage, .sandbox)
            #expect(isNewElsewhere && isNewThere)
        }
        try await site.withStorage { storage in
            let kept = [
                try versions(storage), try versions(storage, app: "chess"),
                try versions(storage, .sandbox),
            ]
            #expect(kept == [all, [all[0]], [all[1]]])
        }
    }

    private static func recordsChanges(_ storage: any Storage) async throws {
        #expect(try await record(Sample.policy("a", 1), in: storage))
        #expect(try await !record(Sample.policy("a", 2), in: storage))
        #expect(try await record(Sample.policy("b", 3), in: storage))
        #expect(try versions(storage) == [Sample.policy("a", 1), Sample.policy("b", 3)])
    }

    private static func keepsFirst(_ storage: any Storage) async throws {
        #expect(try await record(Sample.policy("a", 1), in: storage))
        #expect(try await !record(Sample.policy("b", 1), in: storage))
        let outcomes = try await storage.restore(
            [.policy(Sample.policy("a", 1)), .policy(Sample.policy("b", 1))],
            in: AppScope(Sample.app, .production),
            now: Sample.day(9)
        )
        #expect(outcomes == [.known, .contradicted])
        #expect(try versions(storage) == [Sample.policy("a", 1)])
    }

    private static func outlivesOthers(_ storage: any Storage) async throws {
        let version = Sample.policy("a", 1)
        #expect(try await record(version, in: storage))
        for kind in PruneOrder.Kind.allCases {
            _ = try await storage.prune(
                PruneOrder(
                    kind,
                    app: Sample.app,
                    environment: .production,
                    before: Sample.day(900),
                    limit: 100
                )
            )
        }
        #expect(try versions(storage) == [version])
    }
}

extension Sample {
    /// A version of the policy that took effect on a day.
    static func policy(_ name: String, _ number: Int64) -> PolicyVersion {
        PolicyVersion(
            effectiveAt: day(number),
            fingerprint: name,
            form: Array("{\"policy\":\"\(name)\"}".utf8)
        )
    }
}
