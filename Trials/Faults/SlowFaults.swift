import Glibc
import TideoverHTTP

// Many slow clients at the same time.

extension FaultTrial {
    /// The server's limits.
    private static let (headSeconds, bodySeconds, idleSeconds) = (10.0, 15.0, 60.0)
    private static let bodyBytes = 256 * 1024

    static let slowHeads = FaultTrial(
        name: "slow-heads",
        summary: "900 clients send a request's head a byte a second"
    ) { ground in
        let count = ground.isShort ? 300 : 900
        return try Abuse(ground: ground, connections: count, kibibytesEach: 80).run {
            port,
            _,
            finding in
            var crowd = Crowd(
                opening: Array("GET /healthz HTTP/1.1\r\nHost: trial\r\nX-Slow: ".utf8),
                morsel: [0x61]
            ) { try Wire(port) }
            try crowd.stay(count, seconds: ground.seconds(26, short: 3))
            judge(crowd, headSeconds, ground, &finding)
        }
    }

    static let slowBodies = FaultTrial(
        name: "slow-bodies",
        summary: "900 clients send all of the longest body but its end, and that a byte a second"
    ) { ground in
        let count = ground.isShort ? 200 : 900
        let each = 80 + bodyBytes / 1024
        return try Abuse(ground: ground, connections: count, kibibytesEach: each).run {
            port,
            _,
            finding in
            let head =
                "POST \(Site.notifications) HTTP/1.1\r\nHost: trial\r\nContent-Length: \(bodyBytes)\r\n\r\n"
            var crowd = Crowd(
                opening: Array(head.utf8) + [UInt8](repeating: 0x20, count: bodyBytes - 100),
                morsel: [0x20]
            ) { try Wire(port) }
            try crowd.stay(count, seconds: ground.seconds(36, short: 3))
            judge(crowd, bodySeconds, ground, &finding)
        }
    }

    static let idleConnections = FaultTrial(
        name: "idle-connections",
        summary: "1,000 clients connect and say nothing"
    ) { ground in
        try Abuse(ground: ground, connections: 1_000, kibibytesEach: 80).run { port, _, finding in
            var crowd = Crowd { try Wire(port) }
            let begin = ContinuousClock.now
            try crowd.join(1_000)
            let seconds = ground.seconds(64, short: 3)
            while begin.duration(to: .now) < .seconds(seconds) {
                pause(500)
                crowd.look()
                let answer = try? Wire(port).get("/healthz")
                finding.expect(answer?.status == 200, "no answer beside the idle ones")
            }
            guard !ground.isShort else { return }
            finding.expect(crowd.count == 0, "\(crowd.count) are still open after \(seconds) s")
            judge(crowd, idleSeconds, ground, &finding)
        }
    }

    static let fewFiles = FaultTrial(
        name: "few-files",
        summary: "1,000 clients connect to a server that may open no more than 512 files"
    ) { ground in
        var ground = ground
        ground.server = ground.server.opening(atMost: 512)
        return try Abuse(ground: ground, connections: 512, kibibytesEach: 80).run {
            port,
            _,
            finding in
            var crowd = Crowd { try Wire(port) }
            try crowd.join(1_000)
            let end = ContinuousClock.now + .seconds(ground.seconds(20, short: 4))
            while ContinuousClock.now < end {
                pause(500)
                crowd.look()
                try crowd.join(1_000)
                let answer = try? Wire(port).get("/healthz")
                finding.expect(answer?.status == 200, "a new client gets no answer")
            }
            finding.expect(!crowd.lives.isEmpty, "no idle connection was closed")
            finding.note("\(crowd.lives.count) idle ones were closed for new ones")
        }
    }

    /// Slow clients must receive a response and be closed at about the limit.
    private static func judge(
        _ crowd: Crowd,
        _ limit: Double,
        _ ground: Ground,
        _ finding: inout Finding
    ) {
        let isIdle = limit == idleSeconds
        let strange = crowd.answers.filter { $0.key != 408 }
        finding.expect(strange.isEmpty, "answered with \(strange)")
        guard !ground.isShort else { return }
        let (least, most) = (crowd.lives.min() ?? 0, crowd.lives.max() ?? 0)
        finding.expect(!crowd.lives.isEmpty, "no connection was closed")
        finding.expect(
            least > limit - 1.5 && most < limit + 4,
            "closed after \(least) to \(most) s"
        )
        if !isIdle {
            let told = crowd.answers[408, default: 0]
            finding.expect(told * 10 > crowd.lives.count * 9, "only \(told) received 408")
        }
        let word = isIdle ? "closed" : "408 and closed"
        finding.note(
            "\(crowd.lives.count) \(word) after \(Int(least.rounded())) to \(Int(most.rounded())) s"
        )
    }
}
