import TideoverCore
import TideoverSignatures

/// The result of one request to an OCSP responder, as a label of `/metrics`.
enum RevocationOutcome: String, Hashable, CaseIterable {
    case good, revoked
    /// The responder does not know the certificate.
    case unknown
    /// The responder did not answer 200.
    case unreachable
    /// The response does not verify, or is out of date.
    case unverified
    /// The response is older than the stored one.
    case older
    /// The certificate names no responder that may be asked.
    case forbidden
}

/// The answers of OCSP responders about certificates, and when to ask again. A value without clock
/// and network.
///
/// Only a verified `revoked` rejects anything. It is replaced only by a newer verified answer, so
/// neither a blocked network nor a repeated older answer lifts it.
struct RevocationTable {
    /// What is known about a certificate now, as a label of `/metrics`.
    enum State: String, CaseIterable {
        /// It was not asked about yet.
        case pending
        case good
        /// The last request failed, and the answer before it is still current.
        case failing
        /// No answer is current, and the last request failed.
        case unchecked
        case revoked
        /// Its validity is over. A responder need not know it any more, so it is not asked about.
        case expired
        /// The certificate names no responder.
        case noResponder = "no-responder"
    }

    struct Entry {
        let certificate: IssuedCertificate
        /// The last good or revoked answer.
        var statement: RevocationStatement?
        /// The failed requests since the last answer.
        var failures = 0
        /// The uptime of the next request in nanoseconds; nil without a responder.
        var nextRequest: Int64?
        /// The place in the order of use.
        var lastUse: Int

        /// Records a use, and returns what was last stated.
        fileprivate mutating func use(_ number: Int) -> RevocationStatement.Status? {
            lastUse = number
            return statement?.status
        }

        func isExpired(at now: Instant) -> Bool {
            certificate.notAfter < now.millisecondsSince1970
        }

        func state(at now: Instant) -> State {
            switch statement?.status {
            case .revoked: return .revoked
            case _ where isExpired(at: now): return .expired
            case .good where now.millisecondsSince1970 <= statement?.validUntil ?? .min:
                return failures == 0 ? .good : .failing
            default:
                if certificate.responders.isEmpty { return .noResponder }
                return failures == 0 && statement == nil ? .pending : .unchecked
            }
        }

        /// The responder of the next request; several take turns when they fail.
        var responder: String? {
            let responders = certificate.responders
            return responders.isEmpty ? nil : responders[failures % responders.count]
        }
    }

    /// The key of an entry. The bytes are hashed together; an array hashes each by itself.
    private struct Name: Hashable {
        private let identifier: [UInt8]

        init(_ certificate: IssuedCertificate) {
            identifier = certificate.identifier
        }

        func hash(into hasher: inout Hasher) {
            identifier.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    private let capacity: Int
    private var entries: [Name: Entry] = [:]
    private var uses = 0

    /// Creates an empty table of at most `capacity` certificates.
    init(capacity: Int) {
        precondition(capacity > 0, "a table of certificates holds at least one")
        self.capacity = capacity
    }

    /// Records the use of verified certificates. New ones are due for a request at once.
    ///
    /// - Throws: the refusal of a revoked certificate.
    mutating func use(_ certificates: [IssuedCertificate]) throws(SignatureRefusal) {
        var refusal: SignatureRefusal?
        // Neither certificates nor entries are copied: both are large.
        for place in certificates.indices {
            uses += 1
            guard let index = entries.index(forKey: Name(certificates[place])) else {
                add(certificates[place])
                continue
            }
            if case .revoked(let instant) = entries.values[index].use(uses) {
                refusal = refusal ?? .certificateRevoked(certificates[place].position, at: instant)
            }
        }
        // Thrown last: all of them were used.
        if let refusal { throw refusal }
    }

    /// Revoked certificates stay: a new one takes the place of the least recently used other one.
    private mutating func add(_ certificate: IssuedCertificate) {
        if entries.count >= capacity {
            let others = entries.filter { entry in
                if case .revoked = entry.value.statement?.status { false } else { true }
            }
            guard let oldest = others.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
                return
            }
            entries[oldest.key] = nil
        }
        entries[Name(certificate)] = Entry(
            certificate: certificate,
            nextRequest: certificate.responders.isEmpty ? nil : .min,
            lastUse: uses
        )
    }

    /// Returns the entries to ask about, at most `limit`.
    func due(at now: Instant, uptime: Int64, limit: Int) -> [Entry] {
        Array(
            entries.values.filter { entry in
                !entry.isExpired(at: now) && entry.nextRequest.map { $0 <= uptime } ?? false
            }
            .sorted { $0.nextRequest ?? .min < $1.nextRequest ?? .min }.prefix(limit)
        )
    }

    /// Every certificate that signed data and is still remembered.
    var all: [Entry] { Array(entries.values) }

    /// Returns the number of certificates in each state.
    func counts(at now: Instant) -> [State: Int] {
        entries.values.reduce(into: [:]) { $0[$1.state(at: now), default: 0] += 1 }
    }
}

// MARK: - Answers

extension RevocationTable {
    /// The states of a certificate before and after an answer.
    struct Change: Equatable {
        let before: State
        let after: State
    }

    /// Records a verified answer, and returns its outcome and what changed.
    mutating func record(
        _ statement: RevocationStatement,
        about certificate: IssuedCertificate,
        at now: Instant,
        uptime: Int64
    ) -> (RevocationOutcome, Change?) {
        let known = entries[Name(certificate)]?.statement
        if statement.status == .unknown {
            return (.unknown, recordFailure(about: certificate, at: now, uptime: uptime))
        }
        guard known.map({ statement.replaces($0) }) ?? true else {
            return (.older, recordFailure(about: certificate, at: now, uptime: uptime))
        }
        let change = change(certificate, at: now) { entry in
            entry.statement = statement
            entry.failures = 0
            entry.nextRequest = uptime + Self.rest(until: statement.validUntil, from: now)
        }
        return (statement.status == .good ? .good : .revoked, change)
    }

    /// Records a request without a usable answer; the last answer stays.
    mutating func recordFailure(
        about certificate: IssuedCertificate,
        at now: Instant,
        uptime: Int64
    ) -> Change? {
        change(certificate, at: now) { entry in
            entry.nextRequest = uptime + Self.rest(afterFailures: entry.failures + 1)
            entry.failures += 1
        }
    }

    private mutating func change(
        _ certificate: IssuedCertificate,
        at now: Instant,
        _ body: (inout Entry) -> Void
    ) -> Change? {
        guard var entry = entries[Name(certificate)] else { return nil }
        let before = entry.state(at: now)
        body(&entry)
        entries[Name(certificate)] = entry
        return Change(before: before, after: entry.state(at: now))
    }

    private static let second: Int64 = 1_000_000_000

    /// Half of the time in which the answer is current, at least a minute and at most six hours, in
    /// nanoseconds.
    static func rest(until validUntil: Int64, from now: Instant) -> Int64 {
        let seconds = (validUntil - now.millisecondsSince1970) / 2000
        return max(60, min(6 * 3600, seconds)) * second
    }

    /// A minute, doubled after each further failure up to an hour, in nanoseconds.
    static func rest(afterFailures failures: Int) -> Int64 {
        min(3600, 60 << min(failures - 1, 6)) * second
    }
}

extension RevocationStatement {
    /// Whether it may take the place of another about the same certificate: it is newer, or of the
    /// same date and no less strict.
    fileprivate func replaces(_ other: RevocationStatement) -> Bool {
        thisUpdate > other.thisUpdate
            || thisUpdate == other.thisUpdate && (status == other.status || status != .good)
    }
}
