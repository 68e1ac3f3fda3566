import TideoverCore
import TideoverStorage

/// Log-ins from anonymous ids without purchases, by the account that the SDK names for the id on
/// Google Play. A purchase that arrives later names only the account.
///
/// They are no aliases: anybody can send a log-in with an app's public key, and a customer has few
/// aliases, for ever.
struct SDKLogIns: Sendable {
    /// The beginning of the names of all log-ins, which state the customer as their value.
    static let prefix = "revenueCat:logIn:"

    private let cursors: Cursors

    init(_ context: AppContext) {
        cursors = context.cursors(in: context.app.usualEnvironment)
    }

    /// Returns the name of the bookmark of an account's log-in.
    static func name(of account: CustomerID) -> String { prefix + account.text }

    /// Returns the customer of the first log-in from the anonymous id of an account; nil without
    /// one.
    func customer(of account: CustomerID) throws(StorageError) -> CustomerID? {
        try cursors.text(Self.name(of: account)).flatMap { CustomerID($0) }
    }

    /// Stores the customer and the time of a log-in, unless the account has one already. Retention
    /// removes it by its age.
    func keep(
        _ customer: CustomerID,
        of account: CustomerID,
        at now: Instant
    ) async throws(StorageError) {
        let name = Self.name(of: account)
        _ = try await cursors.replace(Stored(), by: customer.text, at: now, name)
    }
}

extension SDKVisit {
    /// Stores the first log-in from an anonymous id without purchases, while the sender has a
    /// budget.
    func noteLogIn(from anonymous: CustomerID, to customer: CustomerID) async throws {
        guard let account = anonymous.sdkAccount else { return }
        let logIns = SDKLogIns(context)
        guard try await onPool({ try logIns.customer(of: account) }) == nil else { return }
        let changer = context.rateLimiter.sender(of: request, to: app.id, for: .change)
        guard context.rateLimiter.objection(to: changer) == nil else { return }
        context.rateLimiter.charge(changer)
        try await logIns.keep(customer, of: account, at: context.clock())
    }
}
