package import TideoverCore
package import TideoverHTTP
import TideoverJSON

/// A client of the Play Developer API for one app. It sends requests through a handler, which adds
/// the store's URL, and makes no decisions.
/// https://developers.google.com/android-publisher/api-ref/rest
package struct PlayAPI: Sendable {
    package let packageName: String
    private let handler: Handler
    private let access: PlayAccess
    private let clock: @Sendable () -> Instant
    private var answered: @Sendable (StoreExchange) -> Void = { _ in }
    private var isDraft = false

    /// The service account that authenticates the requests.
    package var account: ServiceAccount { access.account }

    /// The URL of Google's own store.
    package static let url = "https://androidpublisher.googleapis.com"

    package init(
        packageName: String,
        access: PlayAccess,
        clock: @escaping @Sendable () -> Instant,
        handler: @escaping Handler
    ) {
        self.packageName = packageName
        self.access = access
        self.clock = clock
        self.handler = handler
    }

    /// Returns the same API with `answered` called for every response of the store, including
    /// errors.
    package func reporting(
        to answered: @escaping @Sendable (StoreExchange) -> Void
    ) -> PlayAPI {
        var api = self
        api.answered = answered
        return api
    }
}

// MARK: - Drafts

extension PlayAPI {
    /// Returns the request that an operation would send, without authorization. Sends nothing.
    ///
    /// - Throws: ``PlayAPIFailure`` if the operation would not be sent.
    package func draft<Answer>(
        of operation: (PlayAPI) async throws -> Answer
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

extension PlayAPI {
    /// Sends a request and reads the response.
    ///
    /// - Throws: ``PlayAPIFailure``, or `CancellationError` if the task was cancelled.
    func ask<Content: Sendable>(
        _ question: PlayQuestion,
        _ read: (WireFields) throws(PlayRefusal) -> Content
    ) async throws -> PlayAnswer<Content> {
        let (response, exchange) = try await send(question)
        do {
            let document = try JSONDocument(response.body, limits: .storeAnswer)
            let content = try read(WireFields(document.root, path: "answer"))
            return PlayAnswer(content: content, exchange: exchange, body: response.body)
        } catch let error as JSONError {
            throw PlayAPIFailure(.malformedJSON(error), exchange)
        } catch let error as PlayRefusal {
            throw PlayAPIFailure(.malformed(error), exchange)
        }
    }

    /// Sends a request that the store answers without content.
    ///
    /// - Throws: The same errors as a request with content.
    @discardableResult
    func tell(_ question: PlayQuestion) async throws -> PlayAnswer<Void> {
        let (response, exchange) = try await send(question)
        return PlayAnswer(content: (), exchange: exchange, body: response.body)
    }

    private func send(_ question: PlayQuestion) async throws -> (Response, StoreExchange) {
        if isDraft {
            throw DraftedRequest(request: question.request(about: packageName, bearing: nil))
        }
        let askedAt = clock()
        let token = try await token(askedAt)
        let response: Response
        do {
            response = try await handler(question.request(about: packageName, bearing: token))
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
        answered(exchange)
        guard !(200..<300).contains(response.status) else { return (response, exchange) }
        if response.status == 401 { await access.forget(token) }
        throw PlayAPIFailure(response, exchange)
    }

    private func token(_ askedAt: Instant) async throws -> PlayAccessToken {
        do {
            return try await access.token()
        } catch let error as PlayAccessFailure {
            throw failure(.noAccess(error), askedAt)
        }
    }

    private func failure(_ reason: PlayAPIFailure.Reason, _ askedAt: Instant) -> PlayAPIFailure {
        let exchange = StoreExchange(askedAt: askedAt, answeredAt: clock(), dated: nil)
        return PlayAPIFailure(reason, exchange)
    }

    /// Throws if a request must not be sent because of `fault`.
    func require(_ fault: PlayQuestionFault?) throws(PlayAPIFailure) {
        if let fault { throw failure(.unaskable(fault), clock()) }
    }

    /// Returns a token or an ID as a path segment.
    func segment(_ id: String) throws(PlayAPIFailure) -> String {
        let isId =
            (1...Self.longestId).contains(id.utf8.count)
            && id.utf8.allSatisfy { (0x21...0x7E).contains($0) } && id != "." && id != ".."
        try require(isId ? nil : .identifier)
        return PercentEncoding.encode(id)
    }

    /// Google documents no maximum length; tokens have about 150 bytes.
    private static let longestId = 1500

    /// By our clock.
    var now: Instant { clock() }
}

/// One request of the API, before a token is added.
struct PlayQuestion {
    var method = "GET"
    /// The path after that of the app.
    let path: String
    var query: [QueryItem] = []
    var body: JSONObject?

    func request(about packageName: String, bearing token: PlayAccessToken?) -> Request {
        var headers: Headers = ["Accept": "application/json"]
        if let token { headers["Authorization"] = "Bearer \(token.text)" }
        if body != nil { headers["Content-Type"] = "application/json" }
        let app = PercentEncoding.encode(packageName)
        return Request(
            method: method,
            path: "/androidpublisher/v3/applications/\(app)/\(path)",
            query: query,
            headers: headers,
            body: body.map { JSONValue.object($0).encoded() } ?? []
        )
    }
}
