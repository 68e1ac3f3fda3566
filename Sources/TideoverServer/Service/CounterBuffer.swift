import TideoverLocks
import TideoverStorage

/// Counts rejections in memory and stores the sums periodically, so that a flood of forged
/// notifications does not become a flood of writes.
final class CounterBuffer: Sendable {
    private let storage: any Storage
    private let log: Log
    private let open = Locked<[String: [Tally: Int64]]>([:])
    /// Names come from fixed codes; the limit only protects against a bug.
    private static let mostKinds = 1000

    init(storage: any Storage, log: @escaping Log) {
        self.storage = storage
        self.log = log
    }

    func count(_ tally: Tally, app: String) {
        open.withLock { open in
            guard open[app]?[tally] != nil || open[app, default: [:]].count < Self.mostKinds else {
                return
            }
            open[app, default: [:]][tally, default: 0] += 1
        }
    }

    func flush() async {
        let taken = open.withLock { open in
            defer { open = [:] }
            return open
        }
        for (app, counts) in taken.sorted(by: { $0.key < $1.key }) {
            do {
                try await storage.add(counts, app: app)
            } catch {
                log(LogLine(.error, "counts not stored", app: app))
                putBack(counts, app: app)
            }
        }
    }

    private func putBack(_ counts: [Tally: Int64], app: String) {
        open.withLock { open in
            open[app, default: [:]].merge(counts) { $0 + $1 }
        }
    }
}
