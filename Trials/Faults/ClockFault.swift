import Glibc
import TideoverCore
import TideoverHTTP
import TideoverHTTPServer
import TideoverLocks

extension FaultTrial {
    static let clock = FaultTrial(
        name: "clock",
        summary: "step the server's clock an hour ahead, back and ahead again"
    ) { ground in
        try ground.inFolder { folder in try SteppedClock(folder, ground).run() }
    }
}

/// A server with a clock under test, and a store with a correct clock.
private struct SteppedClock {
    private let site: Site
    private let ground: Ground
    private let clock: Locked<Int64>
    private let clockServer: HTTPServer
    private let begin: Int64
    private static let hour: Int64 = 3_600_000

    init(_ folder: String, _ ground: Ground) throws {
        self.ground = ground
        site = try Site(folder: folder)
        begin = systemMilliseconds()
        let clock = Locked(begin)
        self.clock = clock
        clockServer = try HTTPServer(port: 0) { _ in
            let now = Instant(millisecondsSince1970: clock.withLock { $0 })
            return Response(body: Array(#"{"now":"\#(now.rfc3339)"}"#.utf8))
        }
    }

    func run() throws -> Finding {
        var finding = Finding()
        var early = letters(at: begin, from: 0)
        var late = letters(at: begin + Self.hour, from: 1_000)
        let server = try site.start(
            ground.server,
            ["--clock", "http://127.0.0.1:\(clockServer.port)/"]
        )
        let wire = try Wire(server.port())
        for _ in 0..<20 { _ = try early.sendNext(over: wire) }
        try step(to: begin + Self.hour, wire, &finding)
        for _ in 0..<20 { _ = try late.sendNext(over: wire) }
        try step(to: begin, wire, &finding)
        try sendFromTheFuture(&late, wire, &finding)
        for _ in 0..<20 { _ = try early.sendNext(over: wire) }
        try answers([early, late], wire, "with the clock an hour slow", &finding)
        try step(to: begin + Self.hour, wire, &finding)
        let refused = try late.sendRefused(over: wire)
        finding.expect(refused.isEmpty, "\(refused.count) are refused once the clock is right")
        try answers([early, late], wire, "with the clock right again", &finding)
        finding.expect(server.stop() == .exited(0), "it did not stop: \(server.lastWords)")
        try inspect(early, late, &finding)
        return finding
    }

    private func letters(at end: Int64, from life: Int) -> Mailbag {
        Mailbag(site, end: end, spacing: 10_000, from: life)
    }

    private func step(to instant: Int64, _ wire: Wire, _ finding: inout Finding) throws {
        clock.withLock { $0 = instant }
        let time = Instant(millisecondsSince1970: instant).rfc3339
        let isSeen = waited(upTo: 5_000) { (try? wire.get("/healthz"))?.says(time) == true }
        finding.expect(isSeen, "the clock was not followed to \(time)")
    }

    /// Data from the server's future is not accepted, and not rejected permanently either.
    private func sendFromTheFuture(
        _ mail: inout Mailbag,
        _ wire: Wire,
        _ finding: inout Finding
    ) throws {
        for _ in 0..<20 {
            let answer = try mail.sendNext(over: wire)
            finding.expect(
                answer.status == 503 && answer.problem == "signed-in-the-future"
                    && answer.headers["Retry-After"] != nil,
                "dated in our future: \(answer.status) \(answer.problem ?? "")"
            )
        }
        finding.note(
            "an hour back: what the store signs now is put off by 503 signed-in-the-future"
        )
    }

    private func answers(
        _ mails: [Mailbag],
        _ wire: Wire,
        _ when: String,
        _ finding: inout Finding
    ) throws {
        let wrong = try mails.reduce(0) { try $0 + $1.wrongAnswers(over: wire) }
        finding.expect(wrong == 0, "\(wrong) snapshots are wrong \(when)")
    }

    private func inspect(_ early: Mailbag, _ late: Mailbag, _ finding: inout Finding) throws {
        let audit = try Audit(site.database)
        let letters = early.acknowledged.count + late.acknowledged.count
        finding.expect(try audit.evidenceCount() == letters, "not all acknowledged are stored")
        finding.expect(try audit.eventsAreInOrder(), "events are out of order")
        finding.expect(try audit.problems().isEmpty, "the file is damaged")
        finding.expect(early.refused.isEmpty, "letters dated now were refused")
        finding.note("all \(letters) taken in the end, events in order")
    }
}
