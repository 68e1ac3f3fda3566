package import TideoverHTTP
import TideoverLocks

/// The limits on one client.
package struct ClientLimits: Hashable, Sendable {
    /// The proxies trusted to report a client's address.
    package var trustedProxies: TrustedProxies
    /// The number of notifications rejected in a minute, for one client and app, after which none
    /// is verified; 0 disables the limit.
    package var refusalsPerMinute: Int

    /// Creates limits suitable for a server on the internet.
    package init(trustedProxies: TrustedProxies = TrustedProxies(), refusalsPerMinute: Int = 60) {
        precondition((0...60_000).contains(refusalsPerMinute), "a refusal takes a while to forget")
        self.trustedProxies = trustedProxies
        self.refusalsPerMinute = refusalsPerMinute
    }
}

/// A client that sends signed data, with its own budget of rejections and of changes without a new
/// purchase.
///
/// Many clients can share an address. The budget is therefore separate for each app, each kind of
/// request and each valid API key.
package struct Sender: Hashable, Sendable {
    package enum Purpose: Hashable, Sendable {
        case notification
        case reconcile
        /// A change that is stored without a new purchase.
        case change
        /// The signature of a promotional offer.
        case offer
        /// An attempt to sign in to the dashboard.
        case signIn

        /// Whether only requests with a valid API key have this purpose. Others could state a new
        /// key each time, and would then have a new budget each time.
        var needsKey: Bool {
            switch self {
            case .notification, .signIn: false
            case .reconcile, .change, .offer: true
            }
        }
    }

    package let app: String
    package let network: IPNetwork
    package let purpose: Purpose
    /// The digest of the request's API key; nil for a purpose that needs none.
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

/// The budget that each sender has used: a token bucket, stored as the instant at which it is full
/// again. A sender with a full bucket need not be remembered.
///
/// Times are nanoseconds of a monotonic clock.
package struct RefusalLedger {
    /// The maximum number of senders remembered. The least recently active ones are forgotten
    /// first, thousands at a time.
    package static let mostSenders = 2 * generation
    private static let generation = 8_192
    private static let minute: Int64 = 60_000_000_000

    private let price: Int64
    private var recent: [Sender: Int64] = [:]
    private var older: [Sender: Int64] = [:]

    /// Creates a ledger with buckets of `perMinute` tokens, at least one, which refill in a minute.
    package init(perMinute: Int) {
        price = Self.minute / Int64(perMinute)
    }

    /// The number of senders remembered.
    package var count: Int { recent.count + older.count }

    /// Returns how long a sender must wait for its next verification; nil if none.
    package mutating func wait(of sender: Sender, at now: Int64) -> Int64? {
        guard let full = recent[sender] ?? older[sender] else { return nil }
        let wait = full + price - Self.minute - now
        guard wait > 0 else { return nil }
        remember(sender, full)
        return wait
    }

    /// Charges a sender for a rejected notification.
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

/// Limits the work for senders of rejected signed data. Beyond the budget only data under a
/// certificate chain that was verified before is verified, one request at a time. That costs one
/// signature check, and a sender that shares its address with an attacker is still accepted.
/// Accepted data is not charged.
package final class RateLimiter: Sendable {
    /// Admits the requests of senders beyond their budget. Its queue is as long as a server has
    /// connections, so that an attacker cannot exclude others with its address.
    package let probation = ConcurrencyLimiter(WorkLimits(running: 1, waiting: 1_024))
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

    /// The number of senders remembered.
    var senders: Int { ledger?.withLock { $0.count } ?? 0 }

    /// Returns the sender to charge for a request; nil if its address is shared by many, like a
    /// proxy's or the machine's own.
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
            key: purpose.needsKey ? request.bearerToken.map { KeyDigest(of: $0).bytes } : nil
        )
    }

    /// Returns the network of a request, from the address that trusted proxies report; nil for a
    /// request without a socket.
    func network(of request: Request) -> String? {
        limits.trustedProxies.client(of: request).map { "\(IPNetwork(around: $0))" }
    }

    /// Counts `X-Forwarded-For` from an untrusted peer, and warns once an hour. Either
    /// `server.trustedProxies` lacks the operator's own proxy, and all its clients share a budget,
    /// or a client forges its address.
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

    /// Returns `too-many-refusals` or `too-many-changes` while a sender is beyond its budget, else
    /// nil.
    func objection(to sender: Sender?) -> Problem? {
        guard let sender,
            let wait = ledger?.withLock({ $0.wait(of: sender, at: uptime()) })
        else { return nil }
        let seconds = Int((wait + 999_999_999) / 1_000_000_000)
        return sender.purpose == .change
            ? .tooManyChanges(retryAfter: seconds) : .tooManyRefusals(retryAfter: seconds)
    }

    /// Verifies a request: behind `concurrencyLimiter`, or with limited concurrency while the
    /// sender is beyond its budget. `verify` receives the problem to throw unless the request is
    /// valid and under a known chain; nil within the budget.
    ///
    /// - Throws: the errors of `verify`; within the budget also `ConcurrencyLimiter.Full`.
    func pass<Value: Sendable>(
        _ sender: Sender?,
        through concurrencyLimiter: ConcurrencyLimiter,
        _ verify: @Sendable (_ objection: Problem?) async throws -> Value
    ) async throws -> Value {
        guard let objection = objection(to: sender) else {
            // Others of the same sender may be rejected while this request waits.
            return try await concurrencyLimiter.pass {
                try await verify(self.objection(to: sender))
            }
        }
        do {
            return try await probation.pass { try await verify(objection) }
        } catch is ConcurrencyLimiter.Full {
            throw objection
        }
    }

    func charge(_ sender: Sender?) {
        guard let sender else { return }
        ledger?.withLock { $0.charge(sender, at: uptime()) }
    }

    /// The number of bytes that one change without a new purchase may store before it counts as
    /// two.
    package static let bytesOfChange = 4_096

    /// Charges a sender for stored bytes: once for each `bytesOfChange` begun, minus the charges
    /// already made.
    func charge(_ sender: Sender?, storing bytes: Int, chargedBefore: Int = 0) {
        let changes = max(1, (bytes + Self.bytesOfChange - 1) / Self.bytesOfChange)
        for _ in 0..<max(0, changes - chargedBefore) { charge(sender) }
    }
}
