/// One purchase of a one-time product.
struct GooglePlayPurchase: Hashable, Codable, Sendable {
    /// Google's `purchaseState`.
    enum State: String, Hashable, Codable, Sendable {
        case purchased = "PURCHASED"
        case cancelled = "CANCELLED"
        case pending = "PENDING"

        /// The number in the API's first version.
        var numberV1: Int64 {
            switch self {
            case .purchased: 0
            case .cancelled: 1
            case .pending: 2
            }
        }
    }

    let token: String
    /// The number of this purchase among the customer's purchases, in the order made.
    let sequence: Int
    let buyer: GooglePlayBuyer
    let product: GooglePlayOneTimeProduct
    let tempo: GooglePlayBillingSpeed
    let quantity: Int64
    /// The remaining quantity that can be refunded.
    private(set) var refundable: Int64
    private(set) var state: State = .pending
    private(set) var orderId: String?
    private(set) var completedAt: Int64?
    private(set) var acknowledgeBy: Int64?
    private(set) var isAcknowledged = false
    private(set) var isConsumed = false
    private(set) var isVoided = false
    private var history: [GooglePlayItem.Span] = []

    init(
        _ product: GooglePlayOneTimeProduct,
        token: String,
        sequence: Int,
        quantity: Int64,
        buyer: GooglePlayBuyer,
        _ tempo: GooglePlayBillingSpeed,
        at instant: Int64
    ) {
        self.product = product
        self.token = token
        self.sequence = sequence
        self.quantity = quantity
        self.buyer = buyer
        self.tempo = tempo
        refundable = quantity
        record(at: instant)
    }

    /// Whether the same product cannot be bought again.
    var isHeld: Bool { state == .pending || (state == .purchased && !isConsumed) }

    var due: Int64? { acknowledgeBy }

    func truth(at instant: Int64) -> GooglePlayExpectedState {
        history.last { $0.from <= instant }?.truth ?? .never
    }

    mutating func complete(at instant: Int64, order: String) {
        state = .purchased
        orderId = order
        completedAt = instant
        acknowledgeBy = instant + tempo.acknowledgement(ofPrepaid: nil)
        record(at: instant)
    }

    mutating func drop(at instant: Int64) {
        state = .cancelled
        record(at: instant)
    }

    mutating func acknowledge() {
        isAcknowledged = true
        acknowledgeBy = nil
    }

    mutating func consume(at instant: Int64) {
        acknowledge()
        isConsumed = true
        record(at: instant)
    }

    /// Refunds some or all of it. The purchase can be revoked only after a full refund.
    mutating func refund(_ quantity: Int64, revokes: Bool, at instant: Int64) {
        refundable -= quantity
        guard refundable == 0, revokes else { return }
        state = .cancelled
        isVoided = true
        acknowledgeBy = nil
        record(at: instant)
    }

    private mutating func record(at instant: Int64) {
        if history.last?.from == instant { history.removeLast() }
        history.append(GooglePlayItem.Span(from: instant, truth: truth))
    }

    private var truth: GooglePlayExpectedState {
        switch state {
        case .pending: .pending
        case .purchased: isConsumed ? .expired : .active(until: nil)
        case .cancelled: isVoided ? .revoked : .never
        }
    }
}
