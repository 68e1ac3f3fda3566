package import TideoverCore

extension EntitlementMachine {
    /// An event of the app or its store.
    package enum Event: Hashable, Sendable {
        /// The app started and tried to read its kept state.
        case launched
        /// The app returned to the foreground.
        case foregrounded
        /// Time passed, or a requested wake-up is due.
        case clockSeen
        /// The store reported a transaction on its own.
        case transactionUpdated(SignedPurchase)
        /// The store reported that a subscription changed.
        case statusChanged
        /// A purchase that the app began has ended.
        case purchaseEnded(productId: String, PurchaseResult)
        /// The result of `readStore`.
        case storeRead(StoreReading)
        /// The result of `readKept`; nil if there is no file.
        case keptRead(KeptState?)
        /// The kept file could not be read.
        case keptUnreadable
        /// A write is durable.
        case written(revision: Int)
        case writingFailed(revision: Int)
        /// The server answered a page.
        case reconcileAccepted(round: Int, page: Int, ServerReply)
        /// The server refused a page: the same page would be refused again.
        case reconcileRefused(round: Int, page: Int, status: Int)
        /// The server could not be reached, or failed.
        case reconcileFailed(round: Int, page: Int)
        case finished(transactionId: UInt64)
        /// The app delivered a consumable.
        case delivered(transactionId: UInt64)
        /// The user asked to restore purchases.
        case restoreAsked
        case synced
        case syncFailed
        /// The store has a message for the customer.
        case messageReceived(StoreMessage)
        /// The app starts or stops delaying messages.
        case messagesDelayed(Bool)
        /// The signature of a pass is valid; carries its claims.
        case passVerified(compact: String, claims: [UInt8])
        /// The signature of a pass is invalid.
        case passForged(compact: String)
        case keysReceived([PassKey])
        case keysFailed
    }

    /// The result of a purchase.
    package enum PurchaseResult: Hashable, Sendable {
        case bought(SignedPurchase)
        /// The purchase is waiting for approval, such as a parent's.
        case pending
        case cancelled
        case failed
    }

    /// An action to carry out. Its result returns as an event.
    package enum Action: Hashable, Sendable {
        case readStore
        /// Read the kept file, which could not be read before.
        case readKept
        /// Replace the kept file; then send `written`.
        case write(KeptState, revision: Int)
        /// Present a page to the server.
        case reconcile(round: Int, page: Int, EvidencePage, environment: TideoverCore.Environment)
        case finish(transactionId: UInt64)
        /// Ask the store to synchronise.
        case sync
        case verifyPass(PassDocument, PassKey)
        case fetchKeys
        case publish(EntitlementState)
        /// Show a message of the store.
        case display(StoreMessage)
        /// Send `clockSeen` at an instant; this replaces the previous request.
        case wake(at: Instant)
        case endRestore(RestoreOutcome)
    }

    /// The reason why a pass is not used.
    package enum PassRejection: Hashable, Sendable {
        case notAPass
        case unknownKey(String)
        case forged
        case refused(PassRefusal)
    }
}

/// The result of a restore.
public enum RestoreOutcome: Hashable, Sendable {
    /// An entitlement gives access.
    case found
    /// The store was synchronized, and no entitlement gives access.
    case nothingFound
    /// The user cancelled the sign-in, or the store could not be reached.
    case notSynchronised
    /// The server did not answer.
    case notAnswered
}
