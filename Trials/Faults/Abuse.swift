import Glibc
import TideoverHTTP

/// A server under an abusive load, with a prober on separate connections.
struct Abuse {
    let ground: Ground
    /// The number of concurrent connections with memory, and the limit of each in KiB: SQLite's
    /// memory per connection, and the body.
    let connections: Int
    let kibibytesEach: Int

    /// Memory besides connections: verification, reused buffers, the allocator's own.
    private static let slack = 48 * 1024
    private static let longestHealth = 200.0

    /// Runs the abuse in `body`, and judges the server's behaviour during and after it.
    ///
    /// `body` receives the port, and notifications of its own to send.
    func run(_ body: (Int, inout Mailbag, inout Finding) throws -> Void) throws -> Finding {
        try ground.inFolder { folder in
            var finding = Finding()
            var mail = Mailbag(try Site(folder: folder))
            let server = try mail.site.start(ground.server)
            let port = try server.port()
            let wire = try Wire(port)
            _ = try mail.sendNext(over: wire)
            let before = (memory: server.memory.now, descriptors: server.descriptors)
            let readings = try Prober(Self.questions(mail)) { try Wire(port) }.watch {
                try body(port, &mail, &finding)
            }
            judge(readings, &finding)
            judgeDescriptors(server, before.descriptors, &finding)
            judgeMemory(server, before.memory, readings, &finding)
            try judgeAfterwards(server, &mail, &finding)
            return finding
        }
    }

    private static func questions(_ mail: Mailbag) -> [Prober.Question] {
        [Prober.Question(target: "/healthz", words: #""status":"ok""#)]
            + mail.entitled.map {
                Prober.Question(target: Site.snapshot(of: $0), words: #""access":true"#)
            }
    }

    private func judge(_ readings: [Prober.Reading], _ finding: inout Finding) {
        for reading in readings {
            finding.expect(
                reading.wrong.isEmpty,
                "\(reading.wrong.count) probes: \(reading.wrong[0])"
            )
            finding.expect(reading.latencies.count > 10, "hardly a probe was made")
        }
        let slowest = readings[0].latencies.percentile(99)
        guard slowest >= Self.longestHealth else { return }
        let sentence = "a hundredth of the probes of /healthz took \(Int(slowest)) ms or more"
        if ground.isShort { finding.note(sentence) } else { finding.faults.append(sentence) }
    }

    private func judgeMemory(
        _ server: ServerProcess,
        _ before: Int,
        _ readings: [Prober.Reading],
        _ finding: inout Finding
    ) {
        let (after, peak) = server.memory
        let bound = before + connections * kibibytesEach + Self.slack
        finding.expect(peak <= bound, "memory rose to \(peak) KiB, over \(bound)")
        finding.strain = Finding.Strain(
            health: readings[0].latencies,
            snapshots: readings[1].latencies,
            memory: (before, peak, after, bound)
        )
    }

    /// The abuse's connections are closed. Closed ones may linger for two seconds.
    private func judgeDescriptors(
        _ server: ServerProcess,
        _ before: Int,
        _ finding: inout Finding
    ) {
        let areClosed = waited(upTo: 60_000) { server.descriptors <= before + 2 }
        finding.expect(areClosed, "\(server.descriptors) descriptors are open, before \(before)")
    }

    private func judgeAfterwards(
        _ server: ServerProcess,
        _ mail: inout Mailbag,
        _ finding: inout Finding
    ) throws {
        guard !server.hasEnded else {
            finding.faults.append("the server ended: \(server.lastWords)")
            return
        }
        let wire = try Wire(server.port())
        for _ in 0..<10 { _ = try mail.sendNext(over: wire) }
        finding.expect(mail.refused.isEmpty, "notifications are refused afterwards")
        finding.expect(try mail.wrongAnswers(over: wire) == 0, "snapshots are wrong afterwards")
        finding.expect(server.stop() == .exited(0), "it did not stop: \(server.lastWords)")
        try mail.inspect(into: &finding)
    }
}

/// Many connections on one thread.
struct Crowd {
    /// The first bytes of each connection, and the bytes that it sends every second afterwards.
    let opening: [UInt8]
    let morsel: [UInt8]
    private(set) var answers: [Int: Int] = [:]
    /// How long the connections lasted that the server closed, in seconds.
    private(set) var lives: [Double] = []
    private var members: [Member] = []
    private let connect: Connect

    private struct Member {
        let wire: Wire
        let since: ContinuousClock.Instant
    }

    init(opening: [UInt8] = [], morsel: [UInt8] = [], connect: @escaping Connect) {
        self.connect = connect
        self.opening = opening
        self.morsel = morsel
    }

    /// Keeps a number of connections open for some seconds. Closed ones are opened again.
    mutating func stay(_ count: Int, seconds: Int) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            try join(count)
            pause(min(1_000, seconds * 100))
            look()
        }
    }

    /// Connects until the given number is open.
    mutating func join(_ count: Int) throws {
        while members.count < count {
            let wire = try connect()
            if !opening.isEmpty { try wire.send(opening) }
            members.append(Member(wire: wire, since: .now))
        }
    }

    /// Sends each connection's next bytes, and removes connections that the server has closed.
    mutating func look() {
        members = members.filter { member in
            if !morsel.isEmpty { _ = member.wire.sendAtOnce(morsel) }
            return isOpen(member)
        }
    }

    private mutating func isOpen(_ member: Member) -> Bool {
        do {
            while let answer = try member.wire.responseAtOnce() {
                answers[answer.status, default: 0] += 1
            }
            return true
        } catch {
            let (seconds, attoseconds) = member.since.duration(to: .now).components
            lives.append(Double(seconds) + Double(attoseconds) / 1e18)
            return false
        }
    }

    var count: Int { members.count }
}
