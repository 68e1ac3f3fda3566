import Glibc
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverSignatures

extension FaultTrial {
    static let badSignatures = FaultTrial(
        name: "bad-signatures",
        summary: "400 clients flood it with forged notifications while true ones arrive"
    ) { ground in
        let count = ground.isShort ? 100 : 400
        return try Abuse(ground: ground, connections: count, kibibytesEach: 112)
            .run { port, mail, finding in
                let requests = try Forgeries(of: mail.site).requests
                let flood = Flood(requests: requests, connections: count) { try Wire(port) }
                let threads = flood.start()
                let honest = try deliver(&mail, port, seconds: ground.seconds(30, short: 4))
                flood.stop(threads)
                let waiting = mail.refused.count
                finding.expect(
                    try mail.sendRefused(over: Wire(port)).isEmpty,
                    "true notifications are refused after the flood"
                )
                judge(flood.answers, finding: &finding)
                finding.note(
                    "\(mail.acknowledged.count) true ones taken, answered in \(honest.text) ms, the last "
                        + "\(waiting) of them once it was over"
                )
            }
    }

    /// Sends a genuine notification at intervals, and repeats those that were delayed.
    private static func deliver(
        _ mail: inout Mailbag,
        _ port: Int,
        seconds: Int
    ) throws -> Latencies {
        var latencies = Latencies()
        let wire = try Wire(port)
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            let begin = ContinuousClock.now
            _ = try mail.sendNext(over: wire)
            latencies.add(begin.duration(to: .now))
            pause(250)
            _ = try mail.sendRefused(over: wire)
        }
        return latencies
    }

    private static func judge(_ answers: [Int: Int], finding: inout Finding) {
        let strange = answers.filter { ![401, 503].contains($0.key) }
        finding.expect(strange.isEmpty, "forgeries were answered with \(strange)")
        finding.expect(answers[401, default: 0] > 100, "hardly a forgery was looked at")
        finding.note(
            "\(answers[401, default: 0]) forgeries refused, \(answers[503, default: 0]) put off"
        )
    }
}

/// Forged notifications that resemble those of a store.
struct Forgeries {
    /// The requests that post them.
    let requests: [[UInt8]]
    private static let count = 32

    init(of site: Site) throws {
        let store = Store(seed: 2, end: systemMilliseconds())
        var bodies: [[UInt8]] = []
        for number in 0..<Self.count {
            let letter = store.life(number).letters[0]
            let genuine = site.body(of: letter)
            bodies.append(Self.changed(genuine))
            bodies.append(try SandboxAuthority().body(of: letter))
            bodies.append(try Self.underTrueAuthority(genuine))
        }
        requests = bodies.map { Wire.request("POST", Site.notifications, body: $0) }
    }

    /// Changes the signature.
    private static func changed(_ body: [UInt8]) -> [UInt8] {
        var body = body
        let place = body.count - 40
        body[place] = body[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return body
    }

    /// Adds a self-made leaf below the store's genuine certificates.
    private static func underTrueAuthority(_ body: [UInt8]) throws -> [UInt8] {
        let compact = try JSONDocument(body).root["signedPayload"]?.utf8 ?? []
        let genuine = try JWS(compact)
        let chain = genuine.header.root["x5c"]?.elements.compactMap(\.string) ?? []
        let key = P256PrivateKey.generate()
        let leaf = try Self.leaf(for: key)
        let texts = [Base64.encodeString(leaf, .standard)] + chain.dropFirst()
        let header: JSONObject = ["alg": "ES256", "x5c": .array(texts.map(JSONValue.string))]
        let forged = try JWS.sign(header: header, payload: genuine.payload, with: key)
        let text = String(decoding: forged, as: UTF8.self)
        return JSONValue.object(["signedPayload": .string(text)]).encoded()
    }

    private static func leaf(for key: P256PrivateKey) throws -> [UInt8] {
        let (begin, end): (Int64, Int64) = (946_684_800_000, 4_102_444_799_000)
        let authority = try CertificateAuthority.selfSigned(
            .intermediate(
                subject: "Tideover Simulated Store Authority",
                notBefore: begin,
                notAfter: end,
                marker: SandboxAuthority.intermediateMarker
            ),
            key: .generate(.p384)
        )
        return try authority.certificate(
            .leaf(
                subject: "Tideover Simulated Store Signing",
                notBefore: begin,
                notAfter: end,
                marker: SandboxAuthority.leafMarker
            ),
            for: CertificateKey(key)
        )
    }
}

/// Connections on one thread. Each sends a request as soon as the last one is answered.
final class Flood: Sendable {
    private let requests: [[UInt8]]
    private let connections: Int
    private let connect: Connect
    private let counts = Locked<[Int: Int]>([:])
    private let isOver = Locked(false)
    /// The status of a broken connection.
    static let broken = 0

    init(requests: [[UInt8]], connections: Int, connect: @escaping Connect) {
        self.requests = requests
        self.connections = connections
        self.connect = connect
    }

    /// The number of responses by status.
    var answers: [Int: Int] { counts.withLock { $0 } }

    func start() -> Threads {
        Threads.start(1) { _ in self.run() }
    }

    func stop(_ threads: Threads) {
        isOver.withLock { $0 = true }
        threads.join()
    }

    private func run() {
        var wires: [Wire?] = (0..<connections).map { _ in try? connect() }
        var turn = 0
        for wire in wires { send(&turn, over: wire) }
        while !isOver.withLock({ $0 }) {
            for index in readable(wires) {
                do {
                    guard let answer = try wires[index]?.responseAtOnce() else { continue }
                    counts.withLock { $0[answer.status, default: 0] += 1 }
                } catch {
                    counts.withLock { $0[Self.broken, default: 0] += 1 }
                    wires[index] = try? connect()
                }
                send(&turn, over: wires[index])
            }
        }
    }

    private func send(_ turn: inout Int, over wire: Wire?) {
        try? wire?.send(requests[turn % requests.count])
        turn += 1
    }

    private func readable(_ wires: [Wire?]) -> [Int] {
        var entries = wires.map { wire in
            pollfd(fd: wire?.socket ?? -1, events: Int16(POLLIN), revents: 0)
        }
        poll(&entries, nfds_t(entries.count), 100)
        return entries.indices.filter { entries[$0].revents != 0 }
    }
}
