/// The result of a store's delivery that the system under test must accept.
package struct DeliveryResult: Hashable, Sendable {
    /// The stores that deliver.
    package enum Sender: Hashable, Sendable, CaseIterable {
        case appStore
        case googlePlay
    }

    package let sender: Sender
    /// The response's status; nil without a response.
    package let status: Int?
    package let isAccepted: Bool
}

extension TraceEntry {
    /// The entry as the result of a delivery; nil for other entries and for faulty deliveries.
    package var deliveryResult: DeliveryResult? {
        switch happening {
        case .notification(let delivery) where delivery.fault == nil:
            var status: Int?
            if case .answered(let answered) = delivery.outcome { status = answered }
            return DeliveryResult(
                sender: .appStore,
                status: status,
                isAccepted: delivery.isAccepted
            )
        case .push(let push) where push.fault == nil:
            return DeliveryResult(
                sender: .googlePlay,
                status: push.status,
                isAccepted: push.isAcknowledged
            )
        case .action, .notification, .push, .webhook, .readBack: return nil
        }
    }
}

/// Counts the deliveries of each store until one is accepted.
struct RefusalCount {
    private let limit: Int?
    private var refused: [DeliveryResult.Sender: Int] = [:]
    private var accepted: Set<DeliveryResult.Sender> = []

    init(limit: Int?) { self.limit = limit }

    /// Whether a store has reached the limit, and no delivery of it was accepted.
    private(set) var isFull = false

    mutating func add(_ entry: TraceEntry) {
        guard let limit, let result = entry.deliveryResult, !accepted.contains(result.sender)
        else { return }
        if result.isAccepted {
            accepted.insert(result.sender)
        } else {
            refused[result.sender, default: 0] += 1
            isFull = isFull || refused[result.sender, default: 0] >= limit
        }
    }
}
