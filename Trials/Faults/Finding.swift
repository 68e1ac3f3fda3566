import TideoverCommandLine

/// What a fault trial found.
struct Finding: Sendable {
    /// What was wrong, a sentence each; nothing where the trial is passed.
    var faults: [String] = []
    /// What is worth knowing besides.
    var notes: [String] = []
    /// Why the trial could not be made here.
    var skipped: String?
    var strain: Strain?

    /// How the server bore a load that was put on it on purpose.
    struct Strain: Sendable {
        let health: Latencies
        let snapshots: Latencies
        /// In KiB: before, at most, once all who abused it are gone, and what was allowed.
        let memory: (before: Int, peak: Int, after: Int, bound: Int)
    }

    static func skipped(_ reason: String) -> Finding {
        var finding = Finding()
        finding.skipped = reason
        return finding
    }

    /// Notes a fault unless something is as it should be.
    mutating func expect(_ isSo: Bool, _ fault: @autoclosure () -> String) {
        if !isSo { faults.append(fault()) }
    }

    mutating func note(_ sentence: String) { notes.append(sentence) }

    var isPassed: Bool { faults.isEmpty }

    /// All that there is to say in sentences.
    var sentences: [String] {
        faults.map { "FAILED: \($0)" } + notes + (skipped.map { ["skipped: \($0)"] } ?? [])
    }

    /// The verdict and the figures, as the cells of a row.
    func row(_ name: String) -> [Table.Cell] {
        let verdict: Table.Cell =
            skipped != nil
            ? Table.Cell("skipped", .quiet)
            : isPassed ? Table.Cell("passed", .good) : Table.Cell("FAILED", .bad)
        let figures = [strain?.health.text, strain?.snapshots.text, strain?.memoryText]
        return [Table.Cell(name, .strong), verdict] + figures.map { Table.Cell($0 ?? "-") }
    }

    static let columns: [Table.Column] = [
        .init("trial"), .init("verdict"), .init("health ms", .trailing),
        .init("snapshot ms", .trailing), .init("memory MiB", .trailing),
    ]
}

extension Finding.Strain {
    /// Before, peak, afterwards and bound.
    var memoryText: String {
        [memory.before, memory.peak, memory.after, memory.bound].map { "\($0 / 1024)" }.joined(
            separator: "/"
        )
    }
}

/// How long each of many exchanges took.
struct Latencies: Sendable {
    private var microseconds: [Int] = []

    mutating func add(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        microseconds.append(Int(seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
    }

    var count: Int { microseconds.count }

    /// The time within which so many of a hundred were done, in milliseconds.
    func percentile(_ percent: Int) -> Double {
        guard !microseconds.isEmpty else { return 0 }
        let sorted = microseconds.sorted()
        return Double(sorted[(sorted.count - 1) * percent / 100]) / 1_000
    }

    /// Median, 99th percentile and longest.
    var text: String {
        [50, 99, 100].map { Self.rounded(percentile($0)) }.joined(separator: "/")
    }

    private static func rounded(_ milliseconds: Double) -> String {
        let tenths = Int((milliseconds * 10).rounded())
        return tenths < 100 ? "\(tenths / 10).\(tenths % 10)" : "\((tenths + 5) / 10)"
    }
}
