import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Reads the list of voided orders when a notification announces a revocation or a voided order.
///
/// The list contains the reason of the end, and is otherwise read only by schedule. The
/// notification itself changes nothing. A failure here is logged and left to the schedule.
struct PlayVoidedNotice: Sendable {
    let playLookup: PlayLookup
    let pollers: [PlayPoller]

    private var app: App { playLookup.context.app }

    func ask(about message: PlayIntake.Message) async {
        let notification = message.notification.notification
        guard notification.announcesVoid,
            let token = notification.purchaseToken.map(playLookup.trust.token)
        else { return }
        do {
            guard let lineage = try await playLookup.lineage(of: token),
                let poller = pollers.first(app.id, lineage.environment),
                try !isKnown(notification, token, in: lineage)
            else { return }
            poller.expectVoid(of: token, in: lineage, at: message.notification.eventTime)
            try await poller.readExpectedVoids()
        } catch {
            playLookup.context.log(
                .warning,
                PlayPoller.voidUnread,
                code: error is StorageError ? "storage" : "not-asked",
                detail: (error as? StorageError)?.description ?? "The server stops."
            )
        }
    }

    /// Returns whether the list was already read with this order. A second notification, about the
    /// order, follows most revocations.
    private func isKnown(
        _ notification: DeveloperNotification,
        _ token: PlayToken,
        in lineage: Lineage
    ) throws(StorageError) -> Bool {
        guard case .voidedPurchase(let order) = notification.content, let id = order.orderId,
            order.refundType?.known != .quantityBasedPartial
        else { return false }
        return try playLookup.context.storage.lineageRecord(lineage, app: app.id).facts.contains {
            fact in
            guard case .playVoidedOrder(let known) = fact.assertion else { return false }
            return fact.rank != .inferred && known.token == token && known.orderId == id
                && !known.isPartial
        }
    }
}

extension DeveloperNotification {
    /// Whether it can add an entry to the list of voided orders.
    fileprivate var announcesVoid: Bool {
        switch content {
        case .subscription(let notice): notice.notificationType?.known == .revoked
        case .voidedPurchase: true
        case .oneTimeProduct, .pendingRefundReview, .test, nil: false
        }
    }
}
