import Glibc
import TideoverHTTP

/// A server under a load that is meant to hurt it, watched by a prober from connections of its own.
struct Abuse {
    let ground: Ground
    /// How many connections hold memory at the same time, and how much each may, in KiB: what the
    /// engine gives a connection, and the body.
    let connections: Int
    let kibibytesEach: Int

    /// Beside what connections hold: verification, buffers that are reused, the allocator's own.
    private static let slack = 48 * 1024
    private static let longestHealth = 200.0

    /// Runs the abuse in `body`, and judges what the server did meanwhile and is afterwards.
    ///
    /// `body` is given the port, and letters of its own that it may send.
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

    /// What the abuse opened is closed again; those who are gone may linger for two seconds.
    private func judgeDescriptors(
        _ server: ServerProcess,
        _ before: Int,
        _ finding: inout Finding
    ) {
        let areClosed = waited(upTo: 10_000) { server.descriptors <= before + 2 }
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

/// Many connections held by one thread.
struct Crowd {
    /// What each says first, and what it says once a second afterwards.
    let opening: [UInt8]
    let morsel: [UInt8]
    private(set) var answers: [Int: Int] = [:]
    /// How long those lasted that the server closed, in seconds.
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

    /// Keeps so many connections open for some seconds; whoever is closed comes again.
    mutating func stay(_ count: Int, seconds: Int) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            try join(count)
            pause(min(1_000, seconds * 100))
            look()
        }
    }

    /// Connects until there are so many.
    mutating func join(_ count: Int) throws {
        while members.count < count {
            let wire = try connect()
            if !opening.isEmpty { try wire.send(opening) }
            members.append(Member(wire: wire, since: .now))
        }
    }

    /// Lets everybody say something, and forgets those whom the server has closed.
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
