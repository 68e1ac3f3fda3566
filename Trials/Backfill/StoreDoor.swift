import TideoverCore
import TideoverHTTP
import TideoverHTTPServer
import TideoverLocks
import TideoverSandbox

/// A server of the store for one back end, with a log of the requests and their times.
final class StoreDoor: Sendable {
    /// A kind of request and its minimum interval: a fifth of the rate that Apple allows.
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

    /// The tolerance in milliseconds for early requests, because the previous one may have been
    /// delayed on its way. A back end without a rate limit exceeds it by far.
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

    /// The number of received requests.
    var count: Int { requests.withLock { $0.count } }

    /// The kinds of requests that exceeded the rate limit, over any period.
    var hurried: [Kind] {
        let log = requests.withLock { $0 }
        return Kind.all.filter { kind in
            Self.isHurried(log.filter { $0.path.contains(kind.path) }.map(\.at), kind.interval)
        }
    }

    /// Whether a request came earlier than the intervals since a previous one allow.
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
