import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverServer

/// A simulated store's clock, used as the server's own.
///
/// Between two readings, and while the store does not answer, it shows the last known time.
final class FollowedClock: Sendable {
    /// Why a reading of the store's clock failed.
    enum Failure: Error {
        case noAnswer(HTTPClientError)
        /// The status was not 200.
        case status(Int)
        /// The body was not `{"now": "2026-05-06T10:00:00Z"}`.
        case noInstant
    }

    private let client: HTTPClient
    private let store: Destination
    private let pace: Duration
    private let known: Locked<Known>

    /// The store's last known time.
    private struct Known {
        var instant: Instant
        /// How many requests have stated it.
        var statements = 0
    }

    /// Reads the clock behind a URL once. The operator runs the store, so any address is allowed.
    init(at url: HTTPURL, pace: Duration = .seconds(1)) async throws(Failure) {
        var limits = ExchangeLimits()
        limits.connect = .seconds(2)
        limits.total = .seconds(5)
        store = Destination(url, addresses: .any, limits: limits)
        self.pace = pace
        do {
            client = try HTTPClient(userAgent: "tideover/\(Tideover.version)")
        } catch {
            throw .noAnswer(error)
        }
        known = Locked(Known(instant: try await Self.look(at: store, by: client)))
    }

    /// The store's last known time.
    var now: Clock {
        { self.known.withLock { $0.instant } }
    }

    /// Returns a handler that first reads the store's time from each request. Without it, data that
    /// the store has just signed could be dated in the future.
    func hearing(_ handler: @escaping Handler) -> Handler {
        { request in
            if let told = request.headers[ForeignBackEnd.clockHeader].flatMap({
                Instant(rfc3339: $0)
            }) {
                self.known.withLock { known in
                    known.instant = told
                    known.statements += 1
                }
            }
            return try await handler(request)
        }
    }

    /// Follows the store's clock until cancelled. Logs when the clock is lost and when it is found
    /// again.
    func run(log: Log, sleep: Sleep = { try await Task.sleep(for: $0) }) async {
        var isLost = false
        while true {
            do { try await sleep(pace) } catch { return }
            do throws(Failure) {
                try await look()
                if isLost { log(LogLine(.info, "clock followed again", detail: "\(store.url)")) }
                isLost = false
            } catch {
                if Task.isCancelled { return }
                if !isLost {
                    let detail = "it stays at \(now().rfc3339): \(error)"
                    log(LogLine(.warning, "clock lost", detail: detail))
                }
                isLost = true
            }
        }
    }

    func worker(log: @escaping Log) -> Worker {
        Worker(.clock) { sleep in await self.run(log: log, sleep: sleep) }
    }

    /// Reads the store's clock once. If a request states the time meanwhile, that is newer.
    func look() async throws(Failure) {
        let statements = known.withLock { $0.statements }
        let found = try await Self.look(at: store, by: client)
        known.withLock { known in
            if known.statements == statements { known.instant = found }
        }
    }

    private static func look(
        at store: Destination,
        by client: HTTPClient
    ) async throws(Failure) -> Instant {
        let answer: Response
        do {
            answer = try await client.send(to: store)
        } catch {
            throw .noAnswer(error)
        }
        guard answer.status == 200 else { throw .status(answer.status) }
        guard let document = try? JSONDocument(answer.body),
            let now = document.root["now"]?.string.flatMap({ Instant(rfc3339: $0) })
        else { throw .noInstant }
        return now
    }
}

extension FollowedClock.Failure: CustomStringConvertible {
    /// The failure, for people.
    var description: String {
        switch self {
        case .noAnswer(let error): "\(error)"
        case .status(let status): "it answers with status \(status)"
        case .noInstant: #"it does not answer {"now": "2026-05-06T10:00:00Z"}"#
        }
    }
}
