import TideoverConfiguration
import TideoverHTTP
import TideoverLocks

/// Counts requests of SDKs that the server may not understand, and logs each such SDK once.
final class SDKSightings: Sendable {
    /// Why an SDK may expect other answers than it gets.
    enum Reason: String, CaseIterable {
        /// Its major version is newer than those that the answers were written for.
        case version
        /// Its platform has no store on this server.
        case platform
        /// It asked for a path that the server does not have.
        case path
    }

    private let metrics: Metrics
    private let log: Log
    private let logged = Locked<Set<String>>([])

    /// The maximum number of log lines: a client chooses the header fields.
    private static let mostLines = 16
    /// The newest major versions that the answers were written for.
    private static let newest = [
        "ios": 5, "macos": 5, "tvos": 5, "watchos": 5, "visionos": 5, "android": 10,
    ]

    init(metrics: Metrics, log: @escaping Log) {
        self.metrics = metrics
        self.log = log
    }

    /// Checks the SDK that a request states.
    func note(_ request: Request, app: String) {
        guard let platform = request.headers["X-Platform"]?.lowercased() else { return }
        guard let newest = Self.newest[platform] else { return count(.platform, app, nil) }
        guard let version = request.headers["X-Version"].flatMap(Self.version),
            version.major > newest
        else { return }
        count(.version, app, "\(platform) \(version.text)")
    }

    /// Counts a request for a path that the server does not have.
    func noteUnknownPath(app: String) { count(.path, app, nil) }

    private func count(_ reason: Reason, _ app: String, _ detail: String?) {
        metrics.count(.sdkUnsupported, app, reason.rawValue)
        let name = detail ?? reason.rawValue
        let isNew = logged.withLock { logged in
            logged.count < Self.mostLines && logged.insert("\(app) \(name)").inserted
        }
        guard isNew else { return }
        let line = "unsupported request of RevenueCat's SDK"
        log(LogLine(.warning, line, app: app, code: reason.rawValue, detail: detail))
    }

    /// Returns a version such as `5.86.0-SNAPSHOT` by its numbers; nil for any other text.
    private static func version(_ text: String) -> (major: Int, text: String)? {
        let numbers = text.prefix { $0 != "-" }.split(separator: ".")
        guard (1...4).contains(numbers.count),
            numbers.allSatisfy({ $0.utf8.count <= 4 && $0.utf8.allSatisfy(\.isDigit) }),
            let major = numbers.first.flatMap({ Int($0) })
        else { return nil }
        return (major, numbers.joined(separator: "."))
    }
}
