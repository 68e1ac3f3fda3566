public import TideoverHTTP
import TideoverLocks

/// How much of the service one client may use.
public struct ClientLimits: Hashable, Sendable {
    /// Who is believed about the address of a client.
    public var trustedProxies: TrustedProxies
    /// How many of a client's notifications for one app are verified and refused in a minute,
    /// before no more are verified; 0 is no limit.
    public var refusalsPerMinute: Int

    /// Limits for a server that faces the internet, unless told otherwise.
    public init(trustedProxies: TrustedProxies = TrustedProxies(), refusalsPerMinute: Int = 60) {
        precondition((0...60_000).contains(refusalsPerMinute), "a refusal takes a while to forget")
        self.trustedProxies = trustedProxies
        self.refusalsPerMinute = refusalsPerMinute
    }
}

/// A client that sends signed data, with its own budget of refusals and of changes without a new
/// purchase.
///
/// Many clients can share an address, so the budget is separate for each app, each kind of request and
/// each API key: what one client sends does not use up the budget of another.
package struct Sender: Hashable, Sendable {
    package enum Purpose: Hashable, Sendable {
        case notification
        case reconcile
        /// To have something kept that shows no new purchase.
        case change
    }

    package let app: String
    package let network: IPNetwork
    package let purpose: Purpose
    /// The digest of the API key that the request presents; nil if it presents none.
    package let key: [UInt8]?

    package init(
        app: String,
        network: IPNetwork,
        purpose: Purpose = .notification,
        key: [UInt8]? = nil
    ) {
        self.app = app
        self.network = network
        self.purpose = purpose
        self.key = key
    }
}

/// What each sender has used up of his refusals: a bucket of tokens that fills by and by, kept as
/// the instant at which it is full again. One that is full is as good as forgotten.
///
/// Times are nanoseconds by a clock that never goes back.
package struct RefusalLedger {
    /// How many senders are remembered at most. Those of whom nothing was heard for longest are
    /// forgotten first, thousands at a time.
    package static let mostSenders = 2 * generation
    private static let generation = 8_192
    private static let minute: Int64 = 60_000_000_000

    private let price: Int64
    private var recent: [Sender: Int64] = [:]
    private var older: [Sender: Int64] = [:]

    /// A ledger in which a bucket has this many tokens, at least one, and fills in a minute.
    package init(perMinute: Int) {
        price = Self.minute / Int64(perMinute)
    }

    /// How many senders are remembered.
    package var count: Int { recent.count + older.count }

    /// How long a sender must wait until one more may be verified; nil if it may be now.
    package mutating func wait(of sender: Sender, at now: Int64) -> Int64? {
        guard let full = recent[sender] ?? older[sender] else { return nil }
        let wait = full + price - Self.minute - now
        guard wait > 0 else { return nil }
        remember(sender, full)
        return wait
    }

    /// One more of a sender's notifications was refused.
    package mutating func charge(_ sender: Sender, at now: Int64) {
        let full = recent[sender] ?? older[sender] ?? now
        remember(sender, max(full, now) + price)
    }

    private mutating func remember(_ sender: Sender, _ full: Int64) {
        older[sender] = nil
        if recent[sender] == nil, recent.count == Self.generation {
            older = recent
            recent = [:]
        }
        recent[sender] = full
    }
}

/// Limits the work for senders of refused signed data. Beyond the budget only data
/// under a certificate chain that was verified before is looked at, one request at a time: it costs
/// one signature, and a sender that shares its address with an attacker is still accepted.
/// What is accepted costs a sender nothing.
package final class RefusalBudget: Sendable {
    /// Admits the requests of senders beyond their budget. There is room for as many as a server has
    /// connections, so that those of an attacker keep nobody out who shares its address.
    package let probation = Gate(WorkLimits(running: 1, waiting: 1_024))
    private let limits: ClientLimits
    private let uptime: @Sendable () -> Int64
    private let ledger: Locked<RefusalLedger>?
    private let metrics: Metrics
    private let log: Log
    /// When the next warning about `X-Forwarded-For` may be logged.
    private let nextWarning = Locked(Int64.min)
    private static let warningInterval: Int64 = 3_600_000_000_000

    init(
        _ limits: ClientLimits,
        uptime: @escaping @Sendable () -> Int64,
        metrics: Metrics,
        log: @escaping Log
    ) {
        self.limits = limits
        self.uptime = uptime
        self.metrics = metrics
        self.log = log
        let perMinute = limits.refusalsPerMinute
        ledger = perMinute > 0 ? Locked(RefusalLedger(perMinute: perMinute)) : nil
    }

    /// How many senders are remembered.
    var senders: Int { ledger?.withLock { $0.count } ?? 0 }

    /// Who a request is to be charged to; nil if nobody, because the address, a proxy's or the
    /// machine's own, stands for many.
    func sender(of request: Request, to app: String, for purpose: Sender.Purpose) -> Sender? {
        noteForwarding(of: request)
        guard ledger != nil, let address = limits.trustedProxies.client(of: request),
            !limits.trustedProxies.contains(address),
            !IPNetwork.loopback.contains(where: { $0.contains(address) })
        else { return nil }
        return Sender(
            app: app,
            network: IPNetwork(ofClient: address),
            purpose: purpose,
            key: request.bearerToken.map { KeyDigest(of: $0).bytes }
        )
    }

    /// The network that a request came from, by the address that trusted proxies name; nil where no socket
    /// was involved.
    func network(of request: Request) -> String? {
        limits.trustedProxies.client(of: request).map { "\(IPNetwork(around: $0))" }
    }

    /// Counts `X-Forwarded-For` from a peer that is no trusted proxy, and warns once an hour: either
    /// `server.trustedProxies` lacks the operator's own proxy, and all clients share its budget, or a
    /// client claims an address.
    private func noteForwarding(of request: Request) {
        guard request.headers["X-Forwarded-For"] != nil,
            let peer = request.peer.flatMap({ IPAddress($0) }),
            !limits.trustedProxies.contains(peer)
        else { return }
        metrics.count(.untrustedForwarding)
        let now = uptime()
        let isDue = nextWarning.withLock { next in
            guard now >= next else { return false }
            next = now + Self.warningInterval
            return true
        }
        guard isDue else { return }
        log(
            LogLine(
                .warning,
                "X-Forwarded-For from an untrusted peer",
                code: "untrusted-forwarding",
                detail: "List your proxies in server.trustedProxies; otherwise all their clients "
                    + "share one budget."
            )
        )
    }

    /// `too-many-refusals` while a sender is beyond its budget, else nil.
    func objection(to sender: Sender?) -> Problem? {
        guard let sender,
            let wait = ledger?.withLock({ $0.wait(of: sender, at: uptime()) })
        else { return nil }
        let seconds = Int((wait + 999_999_999) / 1_000_000_000)
        return sender.purpose == .change
            ? .tooManyChanges(retryAfter: seconds) : .tooManyRefusals(retryAfter: seconds)
    }

    /// Runs the verification of a request: behind `gate`, or on probation while the sender is beyond its
    /// budget. `verify` is given the problem to answer unless the request is under a known chain and
    /// holds; nil within the budget.
    ///
    /// - Throws: what `verify` throws; within the budget `Gate.Full`.
    func pass<Value: Sendable>(
        _ sender: Sender?,
        through gate: Gate,
        _ verify: @Sendable (_ objection: Problem?) async throws -> Value
    ) async throws -> Value {
        guard let objection = objection(to: sender) else {
            // Others of the same sender may be refused while this one waits.
            return try await gate.pass { try await verify(self.objection(to: sender)) }
        }
        do {
            return try await probation.pass { try await verify(objection) }
        } catch is Gate.Full {
            throw objection
        }
    }

    func charge(_ sender: Sender?) {
        guard let sender else { return }
        ledger?.withLock { $0.charge(sender, at: uptime()) }
    }

    /// What one change without a new purchase may store before it counts as two.
    package static let bytesOfChange = 4_096

    /// Charges a sender for what is stored: once for each `bytesOfChange` begun, beyond the number of
    /// times that it was charged before.
    func charge(_ sender: Sender?, storing bytes: Int, chargedBefore: Int = 0) {
        let changes = max(1, (bytes + Self.bytesOfChange - 1) / Self.bytesOfChange)
        for _ in 0..<max(0, changes - chargedBefore) { charge(sender) }
    }
}
