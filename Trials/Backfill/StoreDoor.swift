import TideoverCore
import TideoverHTTP
import TideoverHTTPServer
import TideoverLocks
import TideoverSandbox

/// A socket of the store's for one back end alone, with a log of what that asks and when.
final class StoreDoor: Sendable {
    /// Requests of a kind, and how far apart they are to be: a fifth of what Apple allows.
    struct Kind: Hashable, Sendable {
        let name: String
        fileprivate let path: String
        /// In milliseconds.
        let interval: Int

        static let all = [
            Kind(name: "notification history", path: "/notifications/history", interval: 100),
            Kind(name: "subscription statuses", path: "/v1/subscriptions/", interval: 100),
            Kind(name: "refund history", path: "/refund/lookup/", interval: 500),
        ]
    }

    private struct Request {
        let path: String
        let at: ContinuousClock.Instant
    }

    /// How much earlier than it may a request may come, in milliseconds: the one before was held up on
    /// its way. A back end that keeps no rate is ahead by far more.
    private static let slack = 500

    private let server: HTTPServer
    private let requests: Locked<[Request]>

    init(_ store: AskedStore) throws {
        let requests = Locked<[Request]>([])
        let answer = store.api.serverAPI
        let clock = Array(#"{"now":"\#(store.now.rfc3339)"}"#.utf8)
        self.requests = requests
        server = try HTTPServer(port: 0) { request in
            if request.path == "/clock" { return Response(body: clock) }
            let asked = Request(path: request.path, at: .now)
            requests.withLock { $0.append(asked) }
            return try await answer(request)
        }
    }

    var url: String { "http://127.0.0.1:\(server.port)" }
    var clock: String { "\(url)/clock" }

    /// How many requests came.
    var count: Int { requests.withLock { $0.count } }

    /// The kinds of which more was asked than the rate allows, over however long a time.
    var hurried: [Kind] {
        let log = requests.withLock { $0 }
        return Kind.all.filter { kind in
            Self.isHurried(log.filter { $0.path.contains(kind.path) }.map(\.at), kind.interval)
        }
    }

    /// Whether some request came before those since an earlier one had had their intervals.
    private static func isHurried(_ instants: [ContinuousClock.Instant], _ interval: Int) -> Bool {
        guard let first = instants.first else { return false }
        var latest = Duration.zero
        for (number, instant) in instants.enumerated() {
            let ahead = instant - first - .milliseconds(interval * number)
            if ahead < latest - .milliseconds(slack) { return true }
            latest = max(latest, ahead)
        }
        return false
    }
}
