package import TideoverCore
package import TideoverHTTP
package import TideoverJSON

/// Caches the keys that Google signs push tokens with, and decides when to fetch them again.
package struct PushKeyCache: Sendable {
    /// The JSON Web Keys by ID.
    private var keys: [String: JSONObject] = [:]
    private var fetchedAt: Instant?
    private var freshUntil = Instant.distantPast
    private var failedAt: Instant?

    /// The minimum time between fetches because of unknown key ids: anyone can invent an id.
    package static let patience = Milliseconds.minutes(5)
    /// The wait after a failed fetch.
    package static let pause = Milliseconds.seconds(10)
    /// How long keys are valid if the response does not state it.
    static let defaultAge = Milliseconds.hours(1)
    /// The longest time that keys are cached, regardless of the response. It bounds the use of a
    /// withdrawn key.
    static let longestAge = Milliseconds.hours(24)

    package init() {}

    /// The action for a token with a key id.
    package enum Advice: Hashable, Sendable {
        case use(JSONObject)
        case fetch
        /// The id was not among Google's keys at the last recent fetch.
        case unknown
        /// A fetch failed recently.
        case wait
    }

    package func advice(on id: String, at now: Instant) -> Advice {
        let isFresh = fetchedAt.map { $0 <= now && now < freshUntil } ?? false
        if isFresh, let key = keys[id] { return .use(key) }
        if let failedAt, failedAt <= now, now < failedAt + Self.pause { return .wait }
        if isFresh, let fetchedAt, now < fetchedAt + Self.patience { return .unknown }
        return .fetch
    }

    /// Replaces all keys with those of a response.
    package mutating func take(_ response: Response, at now: Instant) throws(PlayRefusal) {
        let document = try JSONDocument(google: response.body)
        guard let list = document.root["keys"], list.kind == .array else {
            throw .malformed(field: "keys")
        }
        var keys: [String: JSONObject] = [:]
        for key in list.elements {
            guard let id = key["kid"]?.string, keys[id] == nil else { continue }
            keys[id] = JSONValue(key).object
        }
        guard !keys.isEmpty else { throw .malformed(field: "keys") }
        self.keys = keys
        fetchedAt = now
        freshUntil = now + Self.age(of: response.headers)
        failedAt = nil
    }

    package mutating func noteFailure(at now: Instant) {
        failedAt = now
    }

    /// Returns how long a response is fresh (RFC 9111, 5.2.2.1), at least `patience`.
    package static func age(of headers: Headers) -> Milliseconds {
        let directives = headers.all("Cache-Control").joined(separator: ",").split(separator: ",")
            .map { $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" }.lowercased() }
        if directives.contains("no-store") || directives.contains("no-cache") { return patience }
        let stated = directives.first { $0.hasPrefix("max-age=") }
            .flatMap { Int64($0.dropFirst("max-age=".count)) }
        guard let stated, stated >= 0 else { return defaultAge }
        let spent = headers["Age"].flatMap { Int64($0) } ?? 0
        let seconds = min(stated, longestAge.count / 1000) - max(0, min(spent, stated))
        return max(patience, .seconds(seconds))
    }
}
