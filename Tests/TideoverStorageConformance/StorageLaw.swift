import Testing
package import TideoverStorage

/// A requirement for every storage, as a test that runs on any implementation.
///
/// The tests of a storage run all of them: `@Test(arguments: StorageLaw.all)`.
package struct StorageLaw: Sendable, CustomTestStringConvertible {
    /// The requirement, as a sentence.
    package let sentence: String
    private let trial: @Sendable (any StorageSite) async throws -> Void

    /// Creates a law that is tested on one storage.
    init(
        _ sentence: String,
        _ trial: @escaping @Sendable (any Storage) async throws -> Void
    ) {
        self.init(sentence, reopening: { site in try await site.withStorage(trial) })
    }

    /// Creates a law that is tested on the content of one place, opened more than once.
    init(
        _ sentence: String,
        reopening trial: @escaping @Sendable (any StorageSite) async throws -> Void
    ) {
        self.sentence = sentence
        self.trial = trial
    }

    package var testDescription: String { sentence }

    /// Tests the law at an empty place.
    package func check(at site: any StorageSite) async throws {
        try await trial(site)
    }

    package static let all =
        commitLaws + customerLaws + eventLaws + evidenceLaws + concurrencyLaws + keyLaws
        + webhookLaws + attributeLaws
        + walkLaws + figuresLaws + scopeLaws
        + dueLaws + driftLaws + ownershipLaws + recordLaws + settlingLaws + retentionLaws
        + policyLaws
}

/// A place where a storage can be opened, closed and opened again.
package protocol StorageSite: Sendable {
    /// Opens the storage at this place; the caller closes it before opening it again.
    func open() async throws -> any Storage
}

extension StorageSite {
    /// Opens the storage for the duration of `body`.
    func withStorage(_ body: (any Storage) async throws -> Void) async throws {
        let storage = try await open()
        do {
            try await body(storage)
            await storage.close()
        } catch {
            await storage.close()
            throw error
        }
    }
}
