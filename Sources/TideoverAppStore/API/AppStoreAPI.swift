package import TideoverCore
package import TideoverHTTP
import TideoverJSON

/// A client of the App Store Server API for one app in one environment. It sends requests through a
/// handler, which adds the store's URL. ``AppStoreReader`` reads and verifies the responses; this
/// type makes no decisions.
/// https://developer.apple.com/documentation/appstoreserverapi
package struct AppStoreAPI: Sendable {
    /// The app to request purchases of. Its environments are not used here.
    package let app: AppStoreIdentity
    /// The environment of the store behind the handler.
    package let environment: Environment
    private let handler: Handler
    private let tokens: AppStoreTokens
    private let clock: @Sendable () -> Instant
    private var isDraft = false

    package init(
        app: AppStoreIdentity,
        environment: Environment,
        tokens: AppStoreTokens,
        clock: @escaping @Sendable () -> Instant,
        handler: @escaping Handler
    ) {
        self.app = app
        self.environment = environment
        self.tokens = tokens
        self.clock = clock
        self.handler = handler
    }

    /// Returns the URL of Apple's own store for an environment; nil if there is none.
    package static func url(of environment: Environment) -> String? {
        switch environment {
        case .production: "https://api.storekit.apple.com"
        case .sandbox: "https://api.storekit-sandbox.apple.com"
        case .xcode, .simulated: nil
        }
    }

    /// Returns a reader that accepts only content from this client's environment.
    package var reader: AppStoreReader {
        AppStoreReader(
            app: AppStoreIdentity(
                bundleId: app.bundleId,
                appAppleId: app.appAppleId,
                environments: [environment]
            )
        )
    }
}

// MARK: - Drafts

extension AppStoreAPI {
    /// Returns the request that an operation would send, without authorization. Sends nothing.
    ///
    /// - Throws: ``AppStoreAPIFailure`` if the operation would not be sent.
    package func draft<Answer>(
        of operation: (AppStoreAPI) async throws -> Answer
    ) async throws -> Request? {
        var api = self
        api.isDraft = true
        do {
            _ = try await operation(api)
            return nil
        } catch let draft as DraftedRequest {
            return draft.request
        }
    }
}

/// Carries the request of a draft out of its operation.
private struct DraftedRequest: Error {
    let request: Request
}

// MARK: - Requests

extension AppStoreAPI {
    /// Sends a request and reads the response.
    ///
    /// - Throws: ``AppStoreAPIFailure``, or `CancellationError` if the task was cancelled.
    func ask<Content: Sendable>(
        _ question: AppStoreQuestion,
        _ read: (WireFields) throws(AppStoreRefusal) -> Content
    ) async throws -> AppStoreAnswer<Content> {
        let (response, exchange) = try await send(question)
        do {
            let document = try JSONDocument(response.body, limits: .storeAnswer)
            let content = try read(WireFields(document.root, path: "answer"))
            return AppStoreAnswer(content: content, exchange: exchange)
        } catch let error as JSONError {
            throw AppStoreAPIFailure(.malformedJSON(error), exchange)
        } catch let error as AppStoreRefusal {
            throw AppStoreAPIFailure(.malformed(error), exchange)
        }
    }

    /// Sends a request that the store answers without content.
    ///
    /// - Throws: The same errors as a request with content.
    func tell(_ question: AppStoreQuestion) async throws -> AppStoreAnswer<Void> {
        AppStoreAnswer(content: (), exchange: try await send(question).1)
    }

    private func send(_ question: AppStoreQuestion) async throws -> (Response, StoreExchange) {
        if isDraft { throw DraftedRequest(request: question.request(bearing: nil)) }
        let askedAt = clock()
        let token = try await token(at: askedAt)
        let response: Response
        do {
            response = try await handler(question.request(bearing: token))
        } catch let error as CancellationError {
            throw error
        } catch {
            throw failure(.unreachable(error), askedAt)
        }
        let exchange = StoreExchange(
            askedAt: askedAt,
            answeredAt: clock(),
            dated: response.headers["Date"].flatMap(Instant.init(httpDate:))
        )
        guard !(200..<300).contains(response.status) else { return (response, exchange) }
        if response.status == 401 { await tokens.forget(token) }
        throw AppStoreAPIFailure(response, exchange, token)
    }

    private func token(at now: Instant) async throws -> AppStoreToken {
        do {
            return try await tokens.token(at: now)
        } catch {
            throw failure(.unsigned(error), now)
        }
    }

    private func failure(
        _ reason: AppStoreAPIFailure.Reason,
        _ askedAt: Instant
    ) -> AppStoreAPIFailure {
        let exchange = StoreExchange(askedAt: askedAt, answeredAt: clock(), dated: nil)
        return AppStoreAPIFailure(reason, exchange)
    }

    /// Throws if a request must not be sent because of `fault`.
    func require(_ fault: AppStoreQuestionFault?) throws(AppStoreAPIFailure) {
        if let fault { throw failure(.unaskable(fault), clock()) }
    }

    /// By our clock.
    var now: Instant { clock() }
}

/// One request of the API, before a token is added.
struct AppStoreQuestion {
    var method = "GET"
    let path: String
    var query: [QueryItem] = []
    var body: JSONObject?

    func request(bearing token: AppStoreToken?) -> Request {
        var headers: Headers = ["Accept": "application/json"]
        if let token { headers["Authorization"] = "Bearer \(token.text)" }
        if body != nil { headers["Content-Type"] = "application/json" }
        let bytes = body.map { JSONValue.object($0).encoded() } ?? []
        return Request(method: method, path: path, query: query, headers: headers, body: bytes)
    }
}

// MARK: - Error responses

extension AppStoreAPIFailure {
    init(_ reason: Reason, _ exchange: StoreExchange) {
        self.reason = reason
        self.exchange = exchange
        retryAt = nil
    }

    init(_ response: Response, _ exchange: StoreExchange, _ token: AppStoreToken) {
        let status = response.status
        let code = Self.code(in: response.body)
        reason =
            if status == 401 {
                .unauthorised(AppStoreSkew(exchange, token))
            } else if status == 429 || code?.known == .rateLimitExceeded {
                .throttled
            } else if let code {
                .refused(code, status: status)
            } else {
                .status(status)
            }
        self.exchange = exchange
        retryAt = response.headers["Retry-After"].flatMap { exchange.retryAt($0) }
    }

    /// Returns the store's error code in a response, or nil if there is none. Any status can lack
    /// one.
    private static func code(in body: [UInt8]) -> OpenEnum<AppStoreErrorCode>? {
        guard let document = try? JSONDocument(body, limits: .storeAnswer) else { return nil }
        return document.root["errorCode"]?.int64.map { OpenEnum($0) }
    }
}

extension StoreExchange {
    /// The longest wait that is accepted from the store: its limits are hourly.
    static let longestWait = Milliseconds.hours(24)

    /// Returns the instant that `Retry-After` asks for, by our clock. The App Store writes
    /// milliseconds since 1970. Proxies may write seconds to wait, or a date.
    func retryAt(_ text: String) -> Instant? {
        let wait: Milliseconds
        if let number = Int64(text) {
            guard number >= 0 else { return nil }
            let isInstant = number > Self.longestWait.count
            let instant = Instant(millisecondsSince1970: number)
            wait = isInstant ? instant - storesNow : .seconds(number)
        } else if let date = Instant(httpDate: text) {
            wait = date - storesNow
        } else {
            return nil
        }
        return answeredAt + min(max(wait, .zero), Self.longestWait)
    }

    /// The store's clock when it answered, if known; otherwise ours.
    private var storesNow: Instant { dated ?? answeredAt }
}
