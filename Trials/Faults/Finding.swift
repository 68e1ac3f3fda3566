import TideoverCommandLine

/// The result of a fault trial.
struct Finding: Sendable {
    /// The failures, one sentence each; empty if the trial passed.
    var faults: [String] = []
    /// Further information.
    var notes: [String] = []
    /// Why the trial was skipped.
    var skipped: String?
    var strain: Strain?

    /// The measurements of a server under a deliberate load.
    struct Strain: Sendable {
        let health: Latencies
        let snapshots: Latencies
        /// In KiB: before, peak, after the load, and the limit.
        let memory: (before: Int, peak: Int, after: Int, bound: Int)
    }

    static func skipped(_ reason: String) -> Finding {
        var finding = Finding()
        finding.skipped = reason
        return finding
    }

    /// Records a failure unless the condition is true.
    mutating func expect(_ isSo: Bool, _ fault: @autoclosure () -> String) {
        if !isSo { faults.append(fault()) }
    }

    mutating func note(_ sentence: String) { notes.append(sentence) }

    var isPassed: Bool { faults.isEmpty }

    /// All sentences of the result.
    var sentences: [String] {
        faults.map { "FAILED: \($0)" } + notes + (skipped.map { ["skipped: \($0)"] } ?? [])
    }

    /// The verdict and the measurements, as the cells of a row.
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
    /// Before, peak, after and limit.
    var memoryText: String {
        [memory.before, memory.peak, memory.after, memory.bound].map { "\($0 / 1024)" }.joined(
            separator: "/"
        )
    }
}

/// The durations of many exchanges.
struct Latencies: Sendable {
    private var microseconds: [Int] = []

    mutating func add(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        microseconds.append(Int(seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
    }

    var count: Int { microseconds.count }

    /// Returns a percentile in milliseconds.
    func percentile(_ percent: Int) -> Double {
        guard !microseconds.isEmpty else { return 0 }
        let sorted = microseconds.sorted()
        return Double(sorted[(sorted.count - 1) * percent / 100]) / 1_000
    }

    /// The median, the 99th percentile and the maximum.
    var text: String {
        [50, 99, 100].map { Self.rounded(percentile($0)) }.joined(separator: "/")
    }

    private static func rounded(_ milliseconds: Double) -> String {
        let tenths = Int((milliseconds * 10).rounded())
        return tenths < 100 ? "\(tenths / 10).\(tenths % 10)" : "\((tenths + 5) / 10)"
    }
}
