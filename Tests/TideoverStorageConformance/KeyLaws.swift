import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let keyLaws: [StorageLaw] = [
        StorageLaw(
            "keys are read as added, in the order of ids, also after reopening",
            reopening: keysKept
        ),
        StorageLaw("an existing id or digest is refused, and nothing changes", keysTaken),
        StorageLaw("a revoked key stays revoked with its first instant", keysRevoked),
    ]

    private static func keysKept(at site: any StorageSite) async throws {
        let keys = [
            Sample.apiKey(1), Sample.apiKey(2, .public, apps: ["cards", "c\"h,e]ss"]),
            Sample.apiKey(3, .admin, name: "Ann's \u{1F511}, \u{0}"),
        ]
        try await site.withStorage { storage in
            #expect(try storage.keys() == [])
            for key in [keys[2], keys[0], keys[1]] { try await storage.add(key) }
            #expect(try storage.keys() == keys)
        }
        try await site.withStorage { storage in
            let found = try storage.keys()
            #expect(found == keys)
        }
    }

    private static func keysTaken(_ storage: any Storage) async throws {
        let key = Sample.apiKey(1)
        try await storage.add(key)
        let sameID = KeyRecord(
            id: key.id,
            digest: Sample.apiKey(2).digest,
            kind: .admin,
            createdAt: Sample.day(1)
        )
        let sameDigest = KeyRecord(
            id: "2",
            digest: key.digest,
            kind: .admin,
            createdAt: Sample.day(1)
        )
        for other in [sameID, sameDigest] {
            let error = await #expect(throws: StorageError.self) { try await storage.add(other) }
            #expect(error?.reason == .refused)
        }
        #expect(try storage.keys() == [key])
    }

    private static func keysRevoked(_ storage: any Storage) async throws {
        for number in 1...3 { try await storage.add(Sample.apiKey(number)) }
        let revoked = Sample.apiKey(2, revokedAt: Sample.day(3))
        #expect(try await storage.revokeKey("2", at: Sample.day(3)) == revoked)
        #expect(try await storage.revokeKey("2", at: Sample.day(9)) == revoked)
        #expect(try await storage.revokeKey("none", at: Sample.day(3)) == nil)
        #expect(try storage.keys() == [Sample.apiKey(1), revoked, Sample.apiKey(3)])
    }
}

extension Sample {
    static func apiKey(
        _ number: Int,
        _ kind: KeyKind = .secret,
        apps: [String] = [],
        name: String = "",
        revokedAt: Instant? = nil
    ) -> KeyRecord {
        KeyRecord(
            id: "\(number)",
            digest: [UInt8](repeating: UInt8(number), count: 32),
            kind: kind,
            apps: apps,
            name: name,
            createdAt: day(0),
            revokedAt: revokedAt
        )
    }
}
