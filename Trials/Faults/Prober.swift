import Glibc
import TideoverHTTP
import TideoverLocks

/// Checks a server's health and a customer's access every ten milliseconds during abuse. Each
/// question uses its own persistent connection.
final class Prober: Sendable {
    struct Question: Sendable {
        let target: String
        /// The text that the answer must contain.
        let words: String
    }

    struct Reading: Sendable {
        var latencies = Latencies()
        /// Answers that were incorrect or missing.
        var wrong: [String] = []
    }

    private static let pace = Duration.milliseconds(10)
    private let readings: [Locked<Reading>]
    private let isOver = Locked(false)
    private let connect: Connect
    private let key: String?
    private let questions: [Question]

    /// Creates questions on connections from `connect`, with a key if one is given.
    init(_ questions: [Question], key: String? = nil, connect: @escaping Connect) {
        self.questions = questions
        self.key = key
        self.connect = connect
        readings = questions.map { _ in Locked(Reading()) }
    }

    /// Asks while `body` runs. Returns a reading for each question.
    func watch(_ body: () throws -> Void) rethrows -> [Reading] {
        let threads = Threads.start(questions.count) { self.ask($0) }
        defer { isOver.withLock { $0 = true } }
        try body()
        isOver.withLock { $0 = true }
        threads.join()
        return readings.map { reading in reading.withLock { $0 } }
    }

    private func ask(_ number: Int) {
        var wire = try? connect()
        var next = ContinuousClock.now
        while !isOver.withLock({ $0 }) {
            let begin = ContinuousClock.now
            let fault = fault(of: questions[number], over: wire)
            let duration = begin.duration(to: .now)
            readings[number].withLock { reading in
                reading.latencies.add(duration)
                if let fault { reading.wrong.append("\(questions[number].target): \(fault)") }
            }
            if fault != nil { wire = try? connect() }
            next = max(next + Self.pace, .now)
            pause(Self.milliseconds(until: next))
        }
    }

    private func fault(of question: Question, over wire: Wire?) -> String? {
        guard let wire else { return "no connection" }
        do {
            let answer = try wire.get(question.target, key: key)
            return answer.status == 200 && answer.says(question.words)
                ? nil : "answered \(answer.status)"
        } catch {
            return "\(error)"
        }
    }

    private static func milliseconds(until instant: ContinuousClock.Instant) -> Int {
        let (seconds, attoseconds) = ContinuousClock.now.duration(to: instant).components
        return max(0, Int(seconds * 1_000 + attoseconds / 1_000_000_000_000_000))
    }
}
