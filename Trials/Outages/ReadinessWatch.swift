import TideoverHTTP
import TideoverLocks

/// Requests `/readyz` and a customer's answer of one server repeatedly during an outage.
final class ReadinessWatch: Sendable {
    private static let pace = 50
    /// The longest time for a read. The database has four seconds, and others wait meanwhile.
    private static let readLimit = Duration.seconds(10)
    private let port: Int
    private let customer: String
    private let outages: OutageRecord
    private let isOver = Locked(false)
    /// The instants at which the server was not ready, in milliseconds since 1970.
    private let unready = Locked<[Int64]>([])

    init(_ port: Int, asking customer: String, outages: OutageRecord) {
        self.port = port
        self.customer = customer
        self.outages = outages
    }

    /// Starts three threads, which end soon after `end`. Two of them ask for readiness: a request
    /// that has to check the database waits for the result, and the others are answered.
    func start() -> Threads {
        Threads.start(3) { [self] number in
            while !isOver.withLock({ $0 }) {
                guard let wire = try? Wire(port, patience: outages.patience) else { return }
                while !isOver.withLock({ $0 }), number > 0 ? askReadiness(wire) : ask(wire) {
                    pause(Self.pace)
                }
            }
        }
    }

    func end() { isOver.withLock { $0 = true } }

    /// Whether the server reported in this interval that it is not ready.
    func wasUnready(from begin: Int64, to end: Int64) -> Bool {
        unready.withLock { $0.contains { begin...end ~= $0 } }
    }

    /// Returns false if the connection is unusable.
    private func askReadiness(_ wire: Wire) -> Bool {
        guard let answer = try? wire.get("/readyz") else {
            outages.note("no response of /readyz")
            return false
        }
        switch answer.status {
        case 200: break
        case 503: unready.withLock { $0.append(systemMilliseconds()) }
        default: outages.note("/readyz was answered \(answer.status)")
        }
        return true
    }

    private func ask(_ wire: Wire) -> Bool {
        let (before, begin) = (outages.refusals, ContinuousClock.now)
        let answer = outages.response(over: wire) { () throws(Wire.Broken) in
            try wire.get(Site.snapshot(of: customer))
        }
        let duration = begin.duration(to: .now)
        if duration > Self.readLimit { outages.note("a read took \(duration)") }
        if let answer, answer.status != 200 { outages.note("a read was answered \(answer.status)") }
        return answer != nil || outages.refusals > before
    }
}
