package import TideoverCore
package import TideoverHTTP
package import TideoverJSON

/// Google's keys for push tokens. Fetches them on demand through a handler, which adds Google's
/// URL.
package actor PushKeys {
    /// The path of Google's JSON Web Key Set.
    package static let path = "/oauth2/v3/certs"
    package static let url = "https://www.googleapis.com"

    private let handler: Handler
    private let clock: @Sendable () -> Instant
    private var cache = PushKeyCache()
    /// The fetch in progress; all waiting callers share it.
    private var underWay: Task<Result<Void, PushKeysFailure>, Never>?

    package init(clock: @escaping @Sendable () -> Instant, handler: @escaping Handler) {
        self.clock = clock
        self.handler = handler
    }

    /// Returns the JSON Web Key for an id. Throws `PushRefusal.unknownKey` if Google has no such
    /// key, and ``PushKeysFailure`` if the keys are unavailable.
    package func key(_ id: String) async throws -> JSONObject {
        if let key = try known(id) { return key }
        let fetch = underWay ?? Task { await self.fetch() }
        underWay = fetch
        try await fetch.value.get()
        guard case .use(let key) = cache.advice(on: id, at: clock()) else {
            throw PushRefusal.unknownKey
        }
        return key
    }

    /// Returns a cached key; nil if the keys must be fetched.
    private func known(_ id: String) throws -> JSONObject? {
        switch cache.advice(on: id, at: clock()) {
        case .use(let key): return key
        case .unknown: throw PushRefusal.unknownKey
        case .wait: throw PushKeysFailure.failedLately
        case .fetch: return nil
        }
    }

    private func fetch() async -> Result<Void, PushKeysFailure> {
        let result = await answer()
        if case .failure = result { cache.noteFailure(at: clock()) }
        underWay = nil
        return result
    }

    private func answer() async -> Result<Void, PushKeysFailure> {
        let request = Request(path: Self.path, headers: ["Accept": "application/json"])
        let response: Response
        do {
            response = try await handler(request)
        } catch {
            return .failure(.unreachable(error))
        }
        guard response.status == 200 else { return .failure(.status(response.status)) }
        do {
            try cache.take(response, at: clock())
            return .success(())
        } catch {
            return .failure(.malformed(error))
        }
    }
}

/// Describes why Google's keys are unavailable. The push itself may be valid, so Pub/Sub must send
/// it again.
package enum PushKeysFailure: Error, Sendable {
    case unreachable(any Error)
    case status(Int)
    case malformed(PlayRefusal)
    /// A fetch failed recently.
    case failedLately
}

extension PushKeysFailure: CustomStringConvertible {
    /// A one-sentence description of the reason for logs.
    package var sentence: String {
        switch self {
        case .unreachable: "Google's keys for pushes could not be reached."
        case .status(let status): "The request for Google's push keys was answered with \(status)."
        case .malformed(let refusal): "Google's keys for pushes were not understood. \(refusal)"
        case .failedLately: "Google's keys for pushes could not be fetched a moment ago."
        }
    }

    package var description: String { sentence }
}
