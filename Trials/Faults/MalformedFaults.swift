import TideoverHTTP
import TideoverLocks

// Sends requests that no honest client sends, repeatedly.

/// One request and its allowed responses.
private struct Malformed: Sendable {
    let name: String
    let bytes: [UInt8]
    /// The correct statuses.
    let allowed: Set<Int>
    /// Whether the client closes its side after the last byte.
    var endsThere = false

    /// Instead of a status: the connection closes without a response.
    static let noAnswer = 0
}

/// Several clients that send such requests in turn, each on a new connection.
private struct Mob {
    private static let members = 8
    let cases: [Malformed]

    /// Runs for some seconds. Records the number of requests and the incorrect responses.
    func run(at port: Int, seconds: Int, _ finding: inout Finding) {
        let results = Locked<(count: Int, wrong: [String: Int])>((0, [:]))
        let end = ContinuousClock.now + .seconds(seconds)
        Threads.start(Self.members) { number in
            var turn = number
            while ContinuousClock.now < end {
                let fault = Self.fault(of: cases[turn % cases.count], at: port)
                turn += 1
                results.withLock { results in
                    results.count += 1
                    if let fault { results.wrong[fault, default: 0] += 1 }
                }
            }
        }.join()
        let (count, wrong) = results.withLock { $0 }
        for (sentence, times) in wrong { finding.faults.append("\(sentence), \(times) times") }
        finding.expect(count > 50, "only \(count) were sent")
        finding.note(
            "\(count) requests of \(cases.count) kinds, each refused and its connection closed"
        )
    }

    private static func fault(of request: Malformed, at port: Int) -> String? {
        guard let wire = try? Wire(port) else { return "\(request.name): no connection" }
        // A client that is rejected while it sends may find the connection closed.
        try? wire.send(request.bytes)
        if request.endsThere { wire.finishSending() }
        do {
            let answer = try wire.response()
            guard request.allowed.contains(answer.status) else {
                return "\(request.name): answered \(answer.status) \(answer.problem ?? "")"
            }
        } catch {
            guard error == .closed, request.allowed.contains(Malformed.noAnswer) else {
                return "\(request.name): \(error) instead of an answer"
            }
        }
        return wire.isEnded() ? nil : "\(request.name): the connection stays open"
    }
}

extension FaultTrial {
    static let oversize = FaultTrial(
        name: "oversize",
        summary: "clients send heads and bodies over every limit, some without end"
    ) { ground in
        try Abuse(ground: ground, connections: 64, kibibytesEach: 600).run { port, _, finding in
            Mob(cases: tooLarge).run(at: port, seconds: ground.seconds(20, short: 4), &finding)
        }
    }

    static let lyingLengths = FaultTrial(
        name: "lying-lengths",
        summary: "clients state lengths that are too long, too short, doubled or no numbers"
    ) { ground in
        try Abuse(ground: ground, connections: 64, kibibytesEach: 600).run { port, _, finding in
            Mob(cases: lies).run(at: port, seconds: ground.seconds(20, short: 4), &finding)
        }
    }

    private static func post(_ fields: [String], _ body: [UInt8] = []) -> [UInt8] {
        let lines = ["POST \(Site.notifications) HTTP/1.1", "Host: trial"] + fields + ["", ""]
        return Array(lines.joined(separator: "\r\n").utf8) + body
    }

    private static func spaces(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x20, count: count) }

    /// Returns a body in chunks of 64 KiB.
    private static func chunks(_ count: Int) -> [UInt8] {
        let piece = Array("10000\r\n".utf8) + spaces(65_536) + Array("\r\n".utf8)
        return (0..<count).flatMap { _ in piece } + Array("0\r\n\r\n".utf8)
    }

    /// Follows the last byte that the server reads of a small body, so that its connection closes.
    private static let closing = "Connection: close"

    private static func signed(_ text: [UInt8]) -> [UInt8] {
        let body = Array(#"{"signedPayload":""#.utf8) + text + Array(#""}"#.utf8)
        return post([closing, "Content-Length: \(body.count)"], body)
    }

    private static let tooLarge: [Malformed] = [
        Malformed(
            name: "a body stated over the limit",
            bytes: post(["Content-Length: 262145"]),
            allowed: [413]
        ),
        Malformed(
            name: "a body of a terabyte",
            bytes: post(["Content-Length: 1099511627776"], spaces(65_536)),
            allowed: [413]
        ),
        Malformed(
            name: "a body over the limit in pieces",
            bytes: post(["Transfer-Encoding: chunked"], chunks(5)),
            allowed: [413]
        ),
        Malformed(
            name: "a body that goes on after the refusal",
            bytes: post(["Transfer-Encoding: chunked"], chunks(64)),
            allowed: [413, Malformed.noAnswer]
        ),
        Malformed(
            name: "a long field",
            bytes: post(["X-Long: " + String(repeating: "a", count: 20_000)]),
            allowed: [431]
        ),
        Malformed(
            name: "fields without end",
            bytes: post((0..<20_000).map { "X-\($0): a" }),
            allowed: [431]
        ),
        Malformed(
            name: "a long target",
            bytes: Array("GET /\(String(repeating: "a", count: 40_000)) HTTP/1.1\r\n\r\n".utf8),
            allowed: [414, 431]
        ),
        Malformed(
            name: "a signed document over its limit",
            bytes: signed([UInt8](repeating: 0x61, count: 100_000)),
            allowed: [413]
        ),
        Malformed(
            name: "a deep document",
            bytes: post(
                [closing, "Content-Length: 50000"],
                [UInt8](repeating: UInt8(ascii: "["), count: 50_000)
            ),
            allowed: [400]
        ),
    ]

    private static let lies: [Malformed] = [
        Malformed(
            name: "too long, then silence",
            bytes: post(["Content-Length: 1000"], spaces(10)),
            allowed: [Malformed.noAnswer],
            endsThere: true
        ),
        Malformed(
            name: "too short",
            bytes: post(["Content-Length: 2"], Array("{}{\"signedPayload\":\"\"}\r\n\r\n".utf8)),
            allowed: [400]
        ),
        Malformed(
            name: "both a length and pieces",
            bytes: post(
                ["Content-Length: 5", "Transfer-Encoding: chunked"],
                Array("0\r\n\r\n".utf8)
            ),
            allowed: [400]
        ),
        Malformed(
            name: "pieces and a length",
            bytes: post(
                ["Transfer-Encoding: chunked", "Content-Length: 5"],
                Array("0\r\n\r\n".utf8)
            ),
            allowed: [400]
        ),
        Malformed(
            name: "two lengths",
            bytes: post(["Content-Length: 2", "Content-Length: 3"], Array("{}\n".utf8)),
            allowed: [400]
        ),
        Malformed(name: "a negative length", bytes: post(["Content-Length: -1"]), allowed: [400]),
        Malformed(
            name: "a length with a sign",
            bytes: post(["Content-Length: +2"]),
            allowed: [400]
        ),
        Malformed(name: "a list of lengths", bytes: post(["Content-Length: 2, 2"]), allowed: [400]),
        Malformed(name: "a length in hex", bytes: post(["Content-Length: 0x2"]), allowed: [400]),
        Malformed(
            name: "a length beyond numbers",
            bytes: post(["Content-Length: 99999999999999999999"]),
            allowed: [400, 413]
        ),
        Malformed(
            name: "an unknown coding",
            bytes: post(["Transfer-Encoding: gzip, chunked"]),
            allowed: [400, 501]
        ),
        Malformed(
            name: "a piece of no size",
            bytes: post(["Transfer-Encoding: chunked"], Array("zz\r\n{}\r\n".utf8)),
            allowed: [400]
        ),
        Malformed(
            name: "a piece beyond numbers",
            bytes: post(["Transfer-Encoding: chunked"], Array("fffffffffffffffff\r\n{}\r\n".utf8)),
            allowed: [400, 413]
        ),
        Malformed(
            name: "a piece with a sign",
            bytes: post(["Transfer-Encoding: chunked"], Array("-2\r\n{}\r\n".utf8)),
            allowed: [400]
        ),
    ]
}
