/// Google Play purchases that the store refunds unless the app acknowledges them in time.
enum Acknowledgements {
    /// How long a purchase may stay unacknowledged; shorter for a licence tester.
    ///
    /// https://developer.android.com/google/play/billing/integrate
    private static let real = Milliseconds.days(3)
    private static let test = Milliseconds.minutes(5)

    /// Returns the acknowledgement deadline of each purchase that was unacknowledged at the last
    /// read.
    static func deadlines(in facts: [Fact], of lineage: Lineage) -> [Deadline] {
        var newest: [PlayToken: Observation<Purchase>] = [:]
        for fact in facts {
            guard let (token, purchase) = Purchase.read(in: fact) else { continue }
            let word = Observation(purchase, of: fact)
            if let known = newest[token], Observation.isOlder(word, known) { continue }
            newest[token] = word
        }
        return newest.values.map(\.value).compactMap { purchase in
            purchase.due.map {
                Deadline(.acknowledge, at: $0, of: lineage, productId: purchase.productId)
            }
        }
    }

    /// The acknowledgement data of one read.
    private struct Purchase: Hashable, Sendable {
        let isAcknowledged: Bool?
        let paidAt: Instant?
        let isTest: Bool
        let productId: String?
        /// The end of a prepaid plan.
        var prepaidUntil: Instant?

        static func read(in fact: Fact) -> (PlayToken, Purchase)? {
            switch fact.assertion {
            case .playSubscription(let read): (read.token, Purchase(read))
            case .playPurchase(let read): (read.token, Purchase(read))
            default: nil
            }
        }

        private init(_ read: PlaySubscription) {
            isAcknowledged = read.isAcknowledged
            paidAt = read.startedAt
            isTest = read.isTest
            productId = read.items.first?.productId
            prepaidUntil = read.items.first { $0.plan.isPrepaid }?.expiresAt
        }

        private init(_ read: PlayPurchase) {
            isAcknowledged = read.isAcknowledged
            paidAt = read.completedAt
            isTest = read.isTest
            productId = read.items.first?.productId
        }

        /// The acknowledgement deadline. A prepaid plan shorter than a week has half its length.
        var due: Instant? {
            guard isAcknowledged == false, let paidAt else { return nil }
            if isTest { return paidAt + Acknowledgements.test }
            guard let length = prepaidUntil.map({ $0 - paidAt }), length < .days(7) else {
                return paidAt + Acknowledgements.real
            }
            return paidAt + Milliseconds(length.count / 2)
        }
    }
}
