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

/// Somebody whose notifications for an app can be refused.
///
/// By app, so that notifications that a store sends to the wrong one do not put off those of others.
package struct Sender: Hashable, Sendable {
    package let app: String
    package let network: IPNetwork

    package init(app: String, network: IPNetwork) {
        self.app = app
        self.network = network
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

/// Puts off senders whose notifications keep being refused, before anything of them is verified.
/// What is accepted costs a sender nothing.
final class RefusalBudget: Sendable {
    private let limits: ClientLimits
    private let uptime: @Sendable () -> Int64
    private let ledger: Locked<RefusalLedger>?

    init(_ limits: ClientLimits, uptime: @escaping @Sendable () -> Int64) {
        self.limits = limits
        self.uptime = uptime
        let perMinute = limits.refusalsPerMinute
        ledger = perMinute > 0 ? Locked(RefusalLedger(perMinute: perMinute)) : nil
    }

    /// How many senders are remembered.
    var senders: Int { ledger?.withLock { $0.count } ?? 0 }

    /// Who a request is to be charged to; nil if nobody, because the address, a proxy's or the
    /// machine's own, stands for many.
    func sender(of request: Request, to app: String) -> Sender? {
        guard ledger != nil, let address = limits.trustedProxies.client(of: request),
            !limits.trustedProxies.contains(address),
            !IPNetwork.loopback.contains(where: { $0.contains(address) })
        else { return nil }
        return Sender(app: app, network: IPNetwork(ofClient: address))
    }

    /// Throws `too-many-refusals` if a sender has to wait.
    func admit(_ sender: Sender?) throws(Problem) {
        guard let sender,
            let wait = ledger?.withLock({ $0.wait(of: sender, at: uptime()) })
        else { return }
        throw .tooManyRefusals(retryAfter: Int((wait + 999_999_999) / 1_000_000_000))
    }

    func charge(_ sender: Sender?) {
        guard let sender else { return }
        ledger?.withLock { $0.charge(sender, at: uptime()) }
    }
}
