import TideoverHTTP
import TideoverJSON

/// The store with its Developer API, its topic and its token endpoint, as one value. It maps a
/// request to a response without waiting.
struct PlayService: Sendable {
    /// A response, and the delay after which it is to be sent, in milliseconds.
    struct Answer: Sendable {
        /// Nil for no response at all.
        var response: Response?
        var delay: Int64 = 0
    }

    var machine: GooglePlayMachine
    var post: PlayPost
    var queue: PubSubQueue
    var authority: PlayAuthority
    /// The clock that dates all output.
    let dial: StoreTimeScale
    var desk: PlayTokenDesk
    var faults: FaultPlan<PlayFault, PlayOperation>
    var wire: DisturbedWire<PlayWireFault>
    var quotas = PlayQuotas()
    var calls: [PlayCallRecord] = []
    /// The store after each external change, oldest first, for as long as stale answers can need
    /// it.
    var past: [GooglePlayMachine]

    /// The number of latest calls that are always kept.
    private static let keptCalls = 10_000

    /// The maximum age of a stale answer, in milliseconds.
    static let longestLag: Int64 = 86_400_000

    var now: Int64 { machine.now }
    /// The present time on the clock that dates all output.
    var present: Int64 { dial.present(at: now) }

    init(
        machine: GooglePlayMachine,
        seed: UInt64,
        habits: PubSubDeliveryFaults,
        accounts: [PlayServiceAccount],
        tokenURL: String,
        authority: PlayAuthority,
        dial: StoreTimeScale = .identity
    ) {
        self.machine = machine
        past = [machine]
        post = PlayPost(seed: seed, habits: habits)
        queue = PubSubQueue(seed: seed, habits: habits)
        desk = PlayTokenDesk(accounts: accounts, url: tokenURL, seed: seed)
        faults = FaultPlan(seed: seed ^ 0x706C_6179)
        wire = DisturbedWire(seed: seed ^ 0x7075_7368)
        self.authority = authority
        self.dial = dial
    }
}

// MARK: - Events

extension PlayService {
    mutating func advance(to instant: Int64) {
        publish(machine.advance(to: instant))
    }

    /// Drops records that no answer can need. No push may be in progress.
    mutating func forget() {
        post.forget(at: now, keeping: wire.oldestOvertaken)
        wire.forget(before: post.first)
    }

    /// Changes the store from outside, and publishes its notifications.
    @discardableResult
    mutating func change(
        _ body: (inout GooglePlayMachine) throws(GooglePlayRefusal) -> [GooglePlayNotification]
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        let notifications = try body(&machine)
        remember()
        publish(notifications)
        return notifications
    }

    private mutating func publish(_ notifications: [GooglePlayNotification]) {
        for notification in notifications {
            let messages = post.publish(
                notification.content,
                about: notification.customer,
                at: notification.at
            )
            for message in messages { queue.publish(message) }
        }
    }

    private mutating func remember() {
        // Of several changes at one instant, only the last is visible. The first entry is the
        // oldest state.
        if past.count > 1, past.last?.now == now { past.removeLast() }
        past.append(machine)
        let earliest = now - Self.longestLag
        if let last = past.lastIndex(where: { $0.now <= earliest }) { past.removeFirst(last) }
    }

    /// Returns the store at an earlier instant.
    private func machine(asOf instant: Int64) -> GooglePlayMachine {
        guard var machine = past.last(where: { $0.now <= instant }) ?? past.first else {
            return machine
        }
        _ = machine.advance(to: max(instant, machine.now))
        return machine
    }
}

// MARK: - Answering

extension PlayService {
    mutating func answer(_ request: Request) -> Answer {
        let call = PlayCall(request)
        let fault = call.flatMap { faults.draw(for: $0.operation) }
        var answer = answer(call, fault)
        // Google's own time, with which a back end compares its clock.
        answer.response?.headers["Date"] = HTTPDateText.write(present)
        if let call {
            calls.append(
                PlayCallRecord(
                    at: now,
                    operation: call.operation,
                    id: call.subject,
                    status: answer.response?.status ?? 0
                )
            )
            if calls.count == 2 * Self.keptCalls { calls.removeFirst(Self.keptCalls) }
        }
        return answer
    }

    private mutating func answer(_ call: PlayCall?, _ fault: PlayFault?) -> Answer {
        guard let call else { return Answer(response: Response(status: 404)) }
        if let error = refusal(of: call) ?? quotas.spend(on: call.operation, at: now) {
            return Answer(response: error.response)
        }
        switch fault {
        case nil: return Answer(response: response(to: call, machine))
        case .refused(let error): return Answer(response: error.response)
        case .rateLimited(let seconds):
            var response = PlayAPIError.rateLimited.response
            response.headers["Retry-After"] = String(seconds)
            return Answer(response: response)
        case .unavailable(let status):
            return Answer(
                response: Response(
                    status: status,
                    headers: ["Content-Type": "text/html; charset=UTF-8"],
                    body: Array("<html><title>Error \(status)</title></html>".utf8)
                )
            )
        case .slow(let delay): return Answer(response: response(to: call, machine), delay: delay)
        case .noAnswer(let delay): return Answer(response: nil, delay: delay)
        case .truncated:
            var response = response(to: call, machine)
            response.body.removeLast((response.body.count + 1) / 2)
            return Answer(response: response)
        case .stale(let lag):
            return Answer(response: response(to: call, machine(asOf: now - lag)))
        }
    }

    /// Returns why a call is rejected; nil if it is permitted.
    private func refusal(of call: PlayCall) -> PlayAPIError? {
        let scopes = call.operation.scopes
        guard !scopes.isEmpty else { return nil }
        switch desk.entry(call.request, to: scopes, at: present) {
        case .unknown: return .unauthorised
        case .wrongScope: return .insufficientScope
        case .open(let account):
            if call.operation.isOfQueue { return account.mayPull ? nil : .forbidden }
            guard call.ids.first == machine.app.packageName else { return .appNotFound }
            return account.mayReadApp ? nil : .forbidden
        }
    }

    /// Reads come from `past`; writes always change the current store.
    private mutating func response(to call: PlayCall, _ past: GooglePlayMachine) -> Response {
        do {
            return try respond(to: call, past)
        } catch {
            return error.response
        }
    }

    private mutating func respond(
        to call: PlayCall,
        _ past: GooglePlayMachine
    ) throws(PlayAPIError) -> Response {
        switch call.operation {
        case .token: return desk.answer(call.request, at: present)
        case .keySet, .certificates: return authority.answer(call.request, at: present)
        case .pull, .acknowledgeMessages, .setDeadline:
            return Self.json(try queue.respond(to: call, at: now, dial))
        case .getSubscription: return json(try PlayReads(past).subscription(call))
        case .getProduct: return json(try PlayReads(past).product(call))
        case .getProductV1: return json(try PlayReads(past).productV1(call))
        case .getOrder: return json(try PlayReads(past).order(call.subject))
        case .batchGetOrders: return json(try PlayReads(past).orders(call))
        case .listVoidedPurchases:
            return json(try VoidedPurchaseList(call, at: now, dial).answer(of: past))
        case .listSubscriptions:
            return json(try SubscriptionList(call).answer(of: machine.app))
        case .cancelSubscription, .revokeSubscription:
            try write(PlayWrites(machine).write(call))
            return json([:])
        case .deferSubscription: return json(try postpone(call))
        case .acknowledgeSubscription, .acknowledgeProduct, .consumeProduct, .refundOrder:
            try write(PlayWrites(machine).write(call))
            return Response(status: 204)
        }
    }

    private func json(_ object: JSONObject) -> Response { Self.json(dial.dated(object)) }

    /// Creates a response with already converted instants.
    private static func json(_ dated: JSONObject) -> Response {
        Response(
            headers: ["Content-Type": "application/json; charset=UTF-8"],
            body: JSONValue.object(dated).encoded()
        )
    }
}

// MARK: - Changing

extension PlayService {
    private mutating func write(_ write: GooglePlayWrite) throws(PlayAPIError) {
        do {
            try change { machine throws(GooglePlayRefusal) in try machine.write(write) }
        } catch {
            throw PlayAPIError(error.reason)
        }
    }

    /// With `validateOnly`, changes nothing, and returns the result that the change would have.
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/defer
    private mutating func postpone(_ call: PlayCall) throws(PlayAPIError) -> JSONObject {
        let wish = try PlayWrites(machine).deferral(call)
        let isRehearsal = try call.body()["deferralContext"]?["validateOnly"]?.bool ?? false
        var machine = machine
        if isRehearsal {
            do {
                _ = try machine.write(wish)
            } catch {
                throw PlayAPIError(error.reason)
            }
        } else {
            try write(wish)
            machine = self.machine
        }
        let items = machine.subscription(token: call.subject)?["lineItems"]?.array ?? []
        let details = items.map { item -> JSONValue in
            var detail: JSONObject = [:]
            detail["productId"] = item["productId"]
            detail["expiryTime"] = item["expiryTime"]
            return .object(detail)
        }
        return ["itemExpiryTimeDetails": .array(details)]
    }
}

extension PlayAPIError {
    /// Creates the API's error for a refusal of the store.
    init(_ reason: GooglePlayRefusal.Reason) {
        switch reason {
        case .unknownToken: self = .purchaseNotFound
        case .unknownOrder: self = .orderNotFound
        case .tokenGone: self = .gone
        case .outdated: self = .conflict
        case .badDuration, .tooMany, .unknownProduct: self = .invalid
        default: self = .failedPrecondition
        }
    }
}
