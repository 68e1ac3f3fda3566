public import TideoverCore
public import TideoverHTTP
import TideoverJSON

/// RevenueCat's REST API (v1), asked about one app's customers. It goes to the network by a handler,
/// which adds RevenueCat's URL, and decides nothing.
/// https://www.revenuecat.com/docs/api-v1
public struct RevenueCatAPI: Sendable {
    private let key: String
    private let handler: Handler
    private let clock: @Sendable () -> Instant

    /// Where RevenueCat answers.
    public static let url = "https://api.revenuecat.com"

    /// - Parameters:
    ///   - key: a secret API key of RevenueCat's project.
    ///   - clock: ours.
    ///   - handler: goes to RevenueCat; it bounds time and size.
    public init(
        key: String,
        clock: @escaping @Sendable () -> Instant,
        handler: @escaping Handler
    ) {
        self.key = key
        self.clock = clock
        self.handler = handler
    }

    /// What RevenueCat knows of a customer. One that it does not know it makes, so ask only about
    /// customers that it should know: the answer then has `isNew`.
    ///
    /// - Throws: ``RevenueCatAPIFailure``, or `CancellationError` if the task was cancelled.
    public func subscriber(_ customer: CustomerID) async throws -> RevenueCatAnswer {
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

/// What RevenueCat answered, and when.
public struct RevenueCatAnswer: Hashable, Sendable {
    public let subscriber: RevenueCatSubscriber
    /// As received, to be kept as evidence.
    public let body: [UInt8]
    /// Whether RevenueCat had not known the customer before we asked.
    public let isNew: Bool
    public let exchange: RevenueCatExchange

    /// The answer as a line of an import, with the id that was asked about beside it: the answer itself
    /// names another where the customer has several.
    public func line(about customer: CustomerID) -> [UInt8] {
        guard let document = try? JSONDocument(body, limits: .storeAnswer),
            var line = JSONValue(document.root).object
        else { preconditionFailure("an answer is an object: it was read") }
        line["app_user_id"] = .string(customer.text)
        return JSONValue.object(line).encoded()
    }
}

/// When a question was asked and answered, and how much more may be asked.
public struct RevenueCatExchange: Hashable, Sendable {
    /// When we asked, by our clock.
    public let askedAt: Instant
    /// When the answer was there or given up, by our clock.
    public let answeredAt: Instant
    /// Nil where RevenueCat does not say.
    public let rate: RevenueCatRate?
}

/// How much of the allowance of one minute is used up.
public struct RevenueCatRate: Hashable, Sendable {
    /// Requests of the running minute, this one included.
    public let used: Int64
    /// Requests that a minute may have.
    public let limit: Int64

    /// How many more the running minute may have.
    public var left: Int64 { max(0, limit - used) }

    init?(_ headers: Headers) {
        guard let used = headers["RevenueCat-Rate-Limit-Current-Usage"].flatMap({ Int64($0) }),
            let limit = headers["RevenueCat-Rate-Limit-Current-Limit"].flatMap({ Int64($0) }),
            used >= 0, limit >= 0
        else { return nil }
        self.used = used
        self.limit = limit
    }
}
