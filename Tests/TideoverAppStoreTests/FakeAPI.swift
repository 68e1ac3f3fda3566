import Foundation
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Returns the given responses in order, and records the requests. The last response repeats.
actor FakeAPI {
    /// The fixed time of our clock.
    static let now = Instant(millisecondsSince1970: FakeStore.start + 10_000)

    private(set) var requests: [Request] = []
    private var answers: [Result<Response, any Error>]

    init(_ answers: [Result<Response, any Error>]) {
        self.answers = answers
    }

    init(_ answers: Response...) {
        self.answers = answers.map { .success($0) }
    }

    init(failing error: any Error) {
        answers = [.failure(error)]
    }

    func answer(_ request: Request) throws -> Response {
        requests.append(request)
        let answer = answers.count > 1 ? answers.removeFirst() : answers[0]
        return try answer.get()
    }

    nonisolated func api(
        in environment: Environment = .production,
        at now: @escaping @Sendable () -> Instant = { FakeAPI.now }
    ) -> AppStoreAPI {
        AppStoreAPI(
            app: AppStoreIdentity(
                bundleId: FakeStore.bundleId,
                appAppleId: FakeStore.appAppleId,
                environments: [.production, .sandbox]
            ),
            environment: environment,
            tokens: Self.tokens(),
            clock: now,
            handler: { try await self.answer($0) }
        )
    }

    static func tokens() -> AppStoreTokens {
        AppStoreTokens(key: key) { _ in Array(repeating: 7, count: 64) }
    }

    static let key = AppStoreAPIKey(
        issuerId: "57246542-96fe-1a63-e053-0824d011072a",
        keyId: "2X9R4HXF34",
        bundleId: FakeStore.bundleId
    )

    static func dated(_ date: String, _ response: Response) -> Response {
        var response = response
        response.headers["Date"] = date
        return response
    }
}

extension Response {
    static func answer(_ object: JSONObject, status: Int = 200) -> Response {
        Response(
            status: status,
            headers: ["Content-Type": "application/json"],
            body: JSONValue.object(object).encoded()
        )
    }

    static func text(_ text: String, status: Int = 200) -> Response {
        Response(status: status, body: Array(text.utf8))
    }

    static func error(_ code: Int64, status: Int) -> Response {
        answer(["errorCode": .integer(code), "errorMessage": "Something."], status: status)
    }
}

/// Returns the failure of an operation; nil if it succeeds.
func failure(of question: () async throws -> Void) async -> AppStoreAPIFailure? {
    do {
        try await question()
        return nil
    } catch {
        return error as? AppStoreAPIFailure
    }
}

/// A clock that advances by a fixed step with each reading.
final class Ticks: Sendable {
    private let counter = Counter()
    private let start: Instant
    private let step: Milliseconds

    init(from start: Instant, by step: Milliseconds) {
        self.start = start
        self.step = step
    }

    func next() -> Instant {
        start + Milliseconds(step.count * (Int64(counter.next()) - 1))
    }
}

/// Counts from 1.
final class Counter: Sendable {
    private let lock = NSLock()
    // Guarded by the lock beside it.
    nonisolated(unsafe) private var count: UInt8 = 0

    func next() -> UInt8 {
        lock.withLock {
            count += 1
            return count
        }
    }
}
