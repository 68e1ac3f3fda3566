import Testing
import TideoverCore
import TideoverLocks
import TideoverStorage

extension StorageLaw {
    static let scopeLaws: [StorageLaw] = [
        StorageLaw("the answers of one read see the same commits", readsOneSnapshot),
        StorageLaw("the changes of one write are stored together", writesTogether),
        StorageLaw("a write that throws stores none of its changes", writesNothing),
    ]

    private static let tally = Tally(environment: nil, kind: "law", name: "scope")

    private static func readsOneSnapshot(_ storage: any Storage) async throws {
        try await storage.add([tally: 1], app: Sample.app)
        // The thread of the read waits, so it is none that runs tasks: the commit may need that.
        let found: Result<Found, StorageError> = await withCheckedContinuation { caller in
            let failure = startThread { caller.resume(returning: readAroundCommit(storage)) }
            if failure != 0 {
                let detail = "the system has no thread left"
                caller.resume(
                    returning: .failure(StorageError(.busy, place: "law", detail: detail))
                )
            }
        }
        let counts = try found.get()
        #expect(counts.isCommitted)
        #expect(counts.before == [tally: 1])
        #expect(counts.after == counts.before)
        #expect(try storage.counts(app: Sample.app) == [tally: 2])
    }

    /// What one read finds before and after a commit.
    private struct Found: Sendable {
        let before: [Tally: Int64]
        let after: [Tally: Int64]
        /// Whether the commit returned while the reader was busy.
        let isCommitted: Bool
    }

    private static func readAroundCommit(_ storage: any Storage) -> Result<Found, StorageError> {
        do throws(StorageError) {
            return .success(
                try storage.read { reader throws(StorageError) in
                    let before = try reader.counts(app: Sample.app)
                    let isCommitted = ConditionLock(false)
                    Task {
                        try? await storage.add([tally: 1], app: Sample.app)
                        isCommitted.update { $0 = true }
                    }
                    let waited = isCommitted.wait(upTo: 1_200_000) { $0 ? true : nil }
                    return Found(
                        before: before,
                        after: try reader.counts(app: Sample.app),
                        isCommitted: waited == true
                    )
                }
            )
        } catch {
            return .failure(error)
        }
    }

    private static func bookmark(_ name: String) -> BookmarkKey {
        BookmarkKey(app: Sample.app, environment: .production, name: name)
    }

    private static func writesTogether(_ storage: any Storage) async throws {
        let form = Array("{}".utf8)
        try await storage.write(app: Sample.app) { writer throws(StorageError) in
            try writer.keep(form, as: bookmark("a"))
            try writer.keep(form, as: bookmark("b"))
            try writer.add([tally: 3], app: Sample.app)
        }
        #expect(try storage.bookmark(bookmark("a")) == form)
        #expect(try storage.bookmark(bookmark("b")) == form)
        #expect(try storage.counts(app: Sample.app) == [tally: 3])
    }

    private static func writesNothing(_ storage: any Storage) async throws {
        let error = StorageError(.refused, place: "law", detail: "it was not meant")
        await #expect(throws: error) {
            try await storage.write(app: Sample.app) { writer throws(StorageError) in
                try writer.keep(Array("{}".utf8), as: bookmark("a"))
                throw error
            }
        }
        #expect(try storage.bookmark(bookmark("a")) == nil)
    }
}
