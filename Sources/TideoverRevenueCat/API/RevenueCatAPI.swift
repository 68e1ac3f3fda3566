package import TideoverCore
package import TideoverHTTP
import TideoverJSON

/// A client of RevenueCat's REST API (v1) for one app's customers. It sends requests through a
/// handler, which adds RevenueCat's URL, and makes no decisions.
/// https://www.revenuecat.com/docs/api-v1
package struct RevenueCatAPI: Sendable {
    private let key: String
    private let handler: Handler
    private let clock: @Sendable () -> Instant

    /// The URL of RevenueCat's API.
    package static let url = "https://api.revenuecat.com"

    /// - Parameters:
    ///   - key: a secret API key of RevenueCat's project.
    ///   - clock: ours.
    ///   - handler: sends requests to RevenueCat; it limits time and size.
    package init(
        key: String,
        clock: @escaping @Sendable () -> Instant,
        handler: @escaping Handler
    ) {
        self.key = key
        self.clock = clock
        self.handler = handler
    }

    /// Requests a customer from RevenueCat. RevenueCat creates an unknown customer, so request only
    /// expected ones; the response of a created customer has `isNew`.
    ///
    /// - Throws: ``RevenueCatAPIFailure``, or `CancellationError` if the task was cancelled.
    package func subscriber(_ customer: CustomerID) async throws -> RevenueCatAnswer {
        let (response, exchange) = try await send(
            Request(
                path: "/v1/subscribers/" + PercentEncoding.encode(customer.text),
                headers: ["Authorization": "Bearer \(key)", "Accept": "application/json"]
            )
        )
        do {
            let subscriber = try RevenueCatSubscriber(answer: response.body)
            return RevenueCatAnswer(
                subscriber: subscriber,
                body: response.body,
                isNew: response.status == 201,
                exchange: exchange
            )
        } catch .malformedJSON(let error) {
            throw RevenueCatAPIFailure(.malformedJSON(error), exchange)
        } catch {
            throw RevenueCatAPIFailure(.malformed(error), exchange)
        }
    }

    private func send(_ request: Request) async throws -> (Response, RevenueCatExchange) {
        let askedAt = clock()
        let response: Response
        do {
            response = try await handler(request)
        } catch let error as CancellationError {
            throw error
        } catch {
            let exchange = RevenueCatExchange(askedAt: askedAt, answeredAt: clock(), rate: nil)
            throw RevenueCatAPIFailure(.unreachable(error), exchange)
        }
        let exchange = RevenueCatExchange(
            askedAt: askedAt,
            answeredAt: clock(),
            rate: RevenueCatRate(response.headers)
        )
        guard response.status == 200 || response.status == 201 else {
            throw RevenueCatAPIFailure(response, exchange)
        }
        return (response, exchange)
    }
}

/// A response of RevenueCat, and when it arrived.
package struct RevenueCatAnswer: Hashable, Sendable {
    package let subscriber: RevenueCatSubscriber
    /// The response as received, to be stored as evidence.
    package let body: [UInt8]
    /// Whether our request created the customer at RevenueCat.
    package let isNew: Bool
    package let exchange: RevenueCatExchange

    /// Returns the response as a line of an import file, with the requested customer ID added. The
    /// response may name another ID if the customer has several.
    package func line(about customer: CustomerID) -> [UInt8] {
        guard let document = try? JSONDocument(body, limits: .storeAnswer),
            var line = JSONValue(document.root).object
        else { preconditionFailure("an answer is an object: it was read") }
        line["app_user_id"] = .string(customer.text)
        return JSONValue.object(line).encoded()
    }
}

/// The times of a request and its response, and the remaining rate limit.
package struct RevenueCatExchange: Hashable, Sendable {
    /// When the request was sent, by our clock.
    package let askedAt: Instant
    /// When the response arrived or the request failed, by our clock.
    package let answeredAt: Instant
    /// Nil if RevenueCat does not state it.
    package let rate: RevenueCatRate?
}

/// The use of RevenueCat's rate limit in one minute.
package struct RevenueCatRate: Hashable, Sendable {
    /// The requests in the current minute, including this one.
    package let used: Int64
    /// The maximum number of requests in a minute.
    package let limit: Int64

    /// The remaining requests in the current minute.
    package var left: Int64 { max(0, limit - used) }

    init?(_ headers: Headers) {
        guard let used = headers["RevenueCat-Rate-Limit-Current-Usage"].flatMap({ Int64($0) }),
            let limit = headers["RevenueCat-Rate-Limit-Current-Limit"].flatMap({ Int64($0) }),
            used >= 0, limit >= 0
        else { return nil }
        self.used = used
        self.limit = limit
    }
}
