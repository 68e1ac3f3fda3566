public import Testing
public import TideoverStorage

/// Something every storage must do, to be tried on a storage of any kind.
///
/// A storage's tests run all of them: `@Test(arguments: StorageLaw.all)`.
public struct StorageLaw: Sendable, CustomTestStringConvertible {
    /// What it is, as a sentence.
    public let sentence: String
    private let trial: @Sendable (any StorageSite) async throws -> Void

    /// A law tried on one storage.
    init(
        _ sentence: String,
        _ trial: @escaping @Sendable (any Storage) async throws -> Void
    ) {
        self.init(sentence, reopening: { site in try await site.withStorage(trial) })
    }

    /// A law tried on what is stored at one place, opened more than once.
    init(
        _ sentence: String,
        reopening trial: @escaping @Sendable (any StorageSite) async throws -> Void
    ) {
        self.sentence = sentence
        self.trial = trial
    }

    public var testDescription: String { sentence }

    /// Tries it at a place where nothing is stored yet.
    public func check(at site: any StorageSite) async throws {
        try await trial(site)
    }

    public static let all =
        commitLaws + customerLaws + eventLaws + evidenceLaws + concurrencyLaws + keyLaws
        + walkLaws
        + dueLaws + driftLaws + ownershipLaws + recordLaws + settlingLaws + retentionLaws
        + policyLaws
}

/// A place where a storage can be opened, closed and opened again.
public protocol StorageSite: Sendable {
    /// Opens what is stored there; whoever opens it closes it before it is opened again.
    func open() async throws -> any Storage
}

extension StorageSite {
    /// Opens the place for as long as `body` takes.
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
