import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let evidenceLaws: [StorageLaw] = [
        StorageLaw(
            "evidence is returned byte for byte, also after reopening",
            reopening: evidenceIsExact
        ),
        StorageLaw(
            "evidence with another digest than its name is not returned",
            evidenceHasItsDigest
        ),
    ]

    private static func evidenceIsExact(at site: any StorageSite) async throws {
        let pieces = evidenceBytes.enumerated().map { Sample.evidence("n\($0)", bytes: $1) }
        try await site.withStorage { storage in
            for piece in pieces {
                let commitRequest = CommitRequest(
                    app: Sample.app,
                    environment: .production,
                    evidence: piece,
                    now: Sample.day(1)
                )
                _ = try await storage.commit(commitRequest, derive: Sample.derive)
                #expect(try storage.evidence(piece.id, app: Sample.app) == piece)
            }
        }
        try await site.withStorage { storage in
            for piece in pieces {
                let found = try storage.evidence(piece.id, app: Sample.app)
                #expect(found == piece)
                let elsewhere = try storage.evidence(piece.id, app: "chess")
                #expect(elsewhere == nil)
            }
        }
    }

    private static func evidenceHasItsDigest(_ storage: any Storage) async throws {
        let piece = Evidence(
            id: EvidenceID(hex: String(repeating: "0", count: 64)),
            dedupeKey: "n1",
            source: .deviceTransaction,
            signedAt: nil,
            receivedAt: Sample.day(1),
            bytes: [1, 2, 3]
        )
        let commitRequest = CommitRequest(
            app: Sample.app,
            environment: .production,
            evidence: piece,
            now: Sample.day(1)
        )
        _ = try await storage.commit(commitRequest, derive: Sample.derive)
        let error = #expect(throws: StorageError.self) {
            try storage.evidence(piece.id, app: Sample.app)
        }
        #expect(error?.reason == .corrupt)
    }

    /// Forms of evidence: plain, empty, signed, nested signed, and bytes that only look signed.
    private static let evidenceBytes: [[UInt8]] = {
        let signature = String(repeating: "A", count: 86)
        let header = "eyJhbGciOiJFUzI1NiJ9"
        let inner = "\(header).eyJhIjoxfQ.\(signature)"
        // `{"data":{"signedTransactionInfo":"…"}}` with a signed document cannot be written
        // literally here, so the outer document contains its bytes unencoded.
        let texts = [
            "", "{}", inner, "{\"signedPayload\":\"\(inner)\"}", "\(inner) \(inner)",
            "\(header).eyJhIjoxfR.\(signature)", "\(header)..\(signature)", "\(inner).x",
        ]
        return texts.map { Array($0.utf8) } + [
            Array(0...255), [0], Array(repeating: 255, count: 9),
        ]
    }()
}
