import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverSignatures
import TideoverStorage

/// When and in which version customers first got the app, as the App Store states it to their
/// devices. An app that was once sold grants access by it.
///
/// The names of the bookmarks are digests of customer ids, since a bookmark is emptied, not removed.
struct SDKAppOrigins: Sendable {
    private let cursors: Cursors

    init(_ context: AppContext, in environment: Environment) {
        cursors = context.cursors(in: environment)
    }

    /// Returns the earliest of several ids; nil if none is known.
    func origin(of ids: [CustomerID]) throws(StorageError) -> SDKCustomerInfo.Origin? {
        var earliest: SDKCustomerInfo.Origin?
        for id in ids {
            guard let origin = try cursors.appOrigin(Self.name(of: id)) else { continue }
            if origin.precedes(earliest) { earliest = origin }
        }
        return earliest
    }

    func keep(
        _ origin: SDKCustomerInfo.Origin,
        of customer: CustomerID
    ) async throws(StorageError) {
        try await cursors.keep(origin, Self.name(of: customer))
    }

    func forget(_ ids: [CustomerID]) async throws(StorageError) {
        for id in ids where try origin(of: [id]) != nil {
            try await cursors.empty(Self.name(of: id))
        }
    }

    private static func name(of customer: CustomerID) -> String {
        "revenueCat:appOrigin:\(Hexadecimal.text(SHA256.hash(customer.text.utf8)))"
    }
}

extension SDKVisit {
    /// Stores the origin that a receipt's app transaction states, if it is earlier than the known
    /// one. A rejected document is ignored: no purchase depends on it.
    func noteOrigin(_ receipt: SDKReceipt) async throws {
        guard let document = receipt.appTransaction, let trust = app.appStore else { return }
        let sender = context.rateLimiter.sender(of: request, to: app.id, for: .reconcile)
        let now = now
        let reading: AppStoreReading?
        do {
            reading = try await context.rateLimiter.pass(sender, through: context.verifications) {
                objection in
                guard objection == nil else { return nil }
                return try await onPool { try Self.read(document, trust, at: now) }
            }
        } catch is ConcurrencyLimiter.Full {
            throw Problem.overloaded
        }
        guard let reading, let stated = SDKCustomerInfo.Origin(reading) else {
            return context.rateLimiter.charge(sender)
        }
        try await keep(stated, of: receipt.user.customer, in: reading.environment)
    }

    /// Stores the origin that a receipt of StoreKit 1 states, if it precedes the known one.
    func noteOrigin(_ accepted: AcceptedItem, of customer: CustomerID) async throws {
        guard let version = accepted.receipt?.originalApplicationVersion,
            let stated = SDKCustomerInfo.Origin(version, accepted.receipt?.appPurchaseDate)
        else { return }
        try await keep(stated, of: customer, in: accepted.environment)
    }

    private static func read(
        _ document: String,
        _ trust: AppStoreTrust,
        at now: Instant
    ) throws -> AppStoreReading? {
        do {
            return try trust.read(Array(document.utf8), at: now)
        } catch is any Refusal {
            return nil
        }
    }

    private func keep(
        _ stated: SDKCustomerInfo.Origin,
        of customer: CustomerID,
        in environment: Environment
    ) async throws {
        let origins = origins(in: environment)
        let known = try await onPool { try origins.origin(of: [customer]) }
        guard stated.precedes(known) else { return }
        let changer = context.rateLimiter.sender(of: request, to: app.id, for: .change)
        guard context.rateLimiter.objection(to: changer) == nil else { return }
        context.rateLimiter.charge(changer)
        try await origins.keep(stated, of: customer)
    }

    func origins(in environment: Environment) -> SDKAppOrigins {
        SDKAppOrigins(context, in: environment)
    }
}

extension SDKCustomerInfo.Origin {
    private static let longestVersion = 64

    /// Nil for a version that is too long to store.
    init?(_ version: String, _ purchasedAt: Instant?) {
        guard version.utf8.count <= Self.longestVersion else { return nil }
        self.init(version: version, purchasedAt: purchasedAt)
    }

    /// Nil for a document that is no app transaction, or states no origin.
    fileprivate init?(_ reading: AppStoreReading) {
        guard let transaction = reading.appTransaction,
            let version = transaction.originalApplicationVersion,
            let date = transaction.originalPurchaseDate
        else { return nil }
        self.init(version, date)
    }
}
