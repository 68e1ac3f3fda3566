import TideoverHTTP
import TideoverJSON
import TideoverSignatures

/// The store with its Server API and its delivery queue, as one value. It maps a request to a
/// response without waiting.
struct AppStoreService: Sendable {
    /// A response, and the delay after which it is to be sent, in milliseconds.
    struct Answer: Sendable {
        /// Nil for no response.
        var response: Response?
        var delay: Int64 = 0
    }

    /// A requested test notification.
    struct Test: Codable, Sendable {
        let token: String
        let at: Int64
        let letter: AppStorePost.Number
    }

    var machine: AppStoreMachine
    var post: AppStorePost
    let keys: [AppStoreAPIKey]
    var faults: FaultPlan<AppStoreFault, AppStoreOperation>
    var allowance: AppStoreAllowance
    var authority: SandboxAuthority
    var wire: DisturbedWire<AppStoreWireFault>
    /// Whether App Store Connect has a URL for notifications.
    var hasNotificationURL = true
    var tests: [Test] = []
    var consumptions: [AppStoreConsumption] = []
    var finished: Set<String> = []
    var calls: [AppStoreCallRecord] = []

    /// The number of latest calls that are always kept.
    private static let keptCalls = 10_000

    var now: Int64 { machine.now }
    var dial: StoreTimeScale { authority.dial }

    init(
        machine: AppStoreMachine,
        seed: UInt64,
        lag: Int64,
        keys: [AppStoreAPIKey],
        limits: AppStoreRateLimits = .byTheHour,
        authority: SandboxAuthority
    ) {
        self.machine = machine
        post = AppStorePost(environment: machine.app.environment, lag: lag)
        self.keys = keys
        faults = FaultPlan(seed: seed ^ 0x6661_756C_7473)
        wire = DisturbedWire(seed: seed ^ 0x7769_7265)
        allowance = AppStoreAllowance(limits, machine.app.environment)
        self.authority = authority
    }

    /// - Throws: `tooLarge` for a document in the response that is longer than any receiver reads.
    mutating func answer(_ request: Request) throws(SignatureRefusal) -> Answer {
        let call = AppStoreCall(request)
        let fault = call.flatMap { faults.draw(for: $0.operation) }
        var answer = try answer(request, call, fault)
        // The store's own time, with which a back end compares its clock.
        answer.response?.headers["Date"] = HTTPDateText.write(dial.present(at: now))
        if let call {
            calls.append(
                AppStoreCallRecord(
                    at: now,
                    operation: call.operation,
                    id: call.id,
                    status: answer.response?.status
                )
            )
            if calls.count == 2 * Self.keptCalls { calls.removeFirst(Self.keptCalls) }
        }
        return answer
    }

    private mutating func answer(
        _ request: Request,
        _ call: AppStoreCall?,
        _ fault: AppStoreFault?
    ) throws(SignatureRefusal) -> Answer {
        let bundleId = machine.app.bundleId
        guard let bearer = AppStoreBearer(request),
            bearer.isValid(for: bundleId, keys, at: dial.present(at: now))
        else { return Answer(response: AppStoreService.unauthorized) }
        guard let call else { return Answer(response: Response(status: 404)) }
        if let until = allowance.spend(on: call.operation, at: now) {
            return Answer(response: rateLimited(until: until))
        }
        switch fault {
        case nil: return Answer(response: try response(to: call, asOf: now))
        case .rateLimited(let length): return Answer(response: rateLimited(until: now + length))
        case .unauthorized: return Answer(response: AppStoreService.unauthorized)
        case .refused(let error): return Answer(response: error.response)
        case .unavailable(let status): return Answer(response: Response(status: status))
        case .slow(let delay):
            return Answer(response: try response(to: call, asOf: now), delay: delay)
        case .noAnswer(let delay): return Answer(response: nil, delay: delay)
        case .truncated:
            var response = try response(to: call, asOf: now)
            response.body.removeLast((response.body.count + 1) / 2)
            return Answer(response: response)
        case .stale(let lag): return Answer(response: try response(to: call, asOf: now - lag))
        }
    }

    /// Apple documents no JSON for this response.
    private static let unauthorized = Response(
        status: 401,
        headers: ["Content-Type": "text/plain"],
        body: Array("Unauthenticated\n".utf8)
    )

    /// The header is an instant in milliseconds since 1970, unlike in other APIs.
    /// https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
    private func rateLimited(until instant: Int64) -> Response {
        var response = AppStoreAPIError.rateLimitExceeded.response
        response.headers["Retry-After"] = String(dial.shown(instant))
        return response
    }
}

/// The record of one call to the Server API.
public struct AppStoreCallRecord: Hashable, Codable, Sendable {
    /// The instant, in milliseconds since 1970.
    public let at: Int64
    /// The operation.
    public let operation: AppStoreOperation
    /// The id in the path, empty if there is none.
    public let id: String
    /// The response's status; nil without a response.
    public let status: Int?
}

// MARK: - Answering

extension AppStoreService {
    /// Why a call fails.
    enum Failure: Error {
        case api(AppStoreAPIError)
        case signing(SignatureRefusal)
    }

    private mutating func response(
        to call: AppStoreCall,
        asOf instant: Int64
    ) throws(SignatureRefusal) -> Response {
        do {
            return try respond(to: call, asOf: instant)
        } catch {
            switch error {
            case .api(let error): return error.response
            case .signing(let refusal): throw refusal
            }
        }
    }

    private mutating func respond(
        to call: AppStoreCall,
        asOf instant: Int64
    ) throws(Failure) -> Response {
        switch call.operation {
        case .subscriptionStatuses: return json(try statuses(call, asOf: instant))
        case .transactionHistory, .transactionHistoryV1:
            return json(try transactionHistory(call, asOf: instant))
        case .transactionInfo: return json(try transactionInfo(call, asOf: instant))
        case .appTransaction: return json(try appTransaction(call))
        case .orderLookup: return try orderLookup(call, asOf: instant)
        case .refundHistory: return json(try refundHistory(call, asOf: instant))
        case .notificationHistory: return json(try notificationHistory(call))
        case .requestTestNotification: return json(try requestTest())
        case .testNotificationStatus: return json(try testStatus(call))
        case .extendRenewalDate: return json(try extendRenewalDate(call))
        case .extendAllRenewalDates: return json(try extendAll(call))
        case .massExtensionStatus: return json(try massExtensionStatus(call))
        case .setAppAccountToken:
            try setAppAccountToken(call)
            return Response(status: 200)
        case .finishTransaction:
            try finish(call)
            return Response(status: 200)
        case .consumptionInfo, .consumptionInfoV1:
            try keepConsumption(call)
            return Response(status: 202)
        }
    }

    func json(_ object: JSONObject) -> Response {
        Response(
            status: 200,
            headers: ["Content-Type": "application/json"],
            body: JSONValue.object(dial.dated(object)).encoded()
        )
    }

    /// Signs a document as the store signs all of them.
    func signed(_ content: JSONObject) throws(Failure) -> JSONValue {
        do {
            return try authority.signed(content)
        } catch {
            throw .signing(error)
        }
    }

    /// The request body, an object.
    func body(of call: AppStoreCall) throws(Failure) -> JSONNode {
        do {
            let root = try JSONDocument(call.request.body).root
            guard root.kind == .object else { throw Failure.api(.badRequest) }
            return root
        } catch {
            throw .api(.badRequest)
        }
    }

    /// Throws unless a text can be the id of a transaction.
    func checkTransactionId(_ id: String, _ error: AppStoreAPIError) throws(Failure) {
        let isNumber = id.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, (1...20).contains(id.utf8.count) else { throw .api(error) }
    }
}
