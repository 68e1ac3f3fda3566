import TideoverCommandLine
import TideoverJSON

/// All measurements, in rounds.
struct Report {
    /// One round of one measure, with OpenSSL's rate before and after it.
    struct Round {
        let readings: [Row: Reading]
        let before: Double
        let after: Double

        var verifications: Double { (before + after) / 2 }

        /// Whether other work disturbed the round. OpenSSL was then slower than its best rate, by
        /// more than its own results vary between runs.
        func isDisturbed(best: Double) -> Bool { min(before, after) < best * 0.95 }
    }

    var machine: String
    var rounds: [Round] = []
    /// Sizes of files in megabytes, by name.
    var files: [(name: String, megabytes: Double)] = []
    /// The average length of a notification's body in bytes.
    var bodyBytes = 0

    private var best: Double { rounds.flatMap { [$0.before, $0.after] }.max() ?? 0 }

    private var disturbed: Int { rounds.count { $0.isDisturbed(best: best) } }

    /// Returns the undisturbed rounds; all rounds if there are none.
    private func counted(_ has: (Round) -> Bool) -> [Round] {
        let all = rounds.filter(has)
        let quiet = all.filter { !$0.isDisturbed(best: best) }
        return quiet.isEmpty ? all : quiet
    }

    private func spread(of row: Row, _ value: (Reading) -> Double?) -> Spread? {
        Spread(counted { $0.readings[row] != nil }.compactMap { $0.readings[row].flatMap(value) })
    }

    private func spread(of judgement: Judgement) -> Spread? {
        func number(_ round: Round) -> Double? {
            judgement.number(round.readings, round.verifications)
        }
        return Spread(counted { number($0) != nil }.compactMap(number))
    }

    // MARK: For people

    func print(to output: Output) {
        output.print("machine: \(machine)")
        if let verifications = Spread(rounds.map(\.verifications)) {
            output.print("V, ECDSA P-256 verifications a second: \(verifications.text)")
        }
        output.print("notifications of \(bodyBytes) bytes on average, three signatures each")
        for file in files { output.print("\(file.name): \(file.megabytes.written) MB") }
        if disturbed > 0 {
            output.print(
                "\(disturbed) of \(rounds.count) rounds were disturbed and count only where there "
                    + "is no other"
            )
        }
        output.print()
        output.print(readings)
        output.print()
        if let storage {
            output.print(storage)
            output.print()
        }
        output.print(judgements)
    }

    private var readings: Table {
        var table = Table([
            .init("measured on one core"), .init("a second", .trailing), .init("us CPU", .trailing),
            .init("p50 ms", .trailing), .init("p99 ms", .trailing), .init("MB", .trailing),
            .init("allocations", .trailing),
        ])
        for row in Row.allCases {
            guard let rate = spread(of: row, \.perSecond) else { continue }
            func median(_ value: (Reading) -> Double?) -> Table.Cell {
                let number = spread(of: row, value)?.median ?? 0
                return Table.Cell(number > 0 ? number.written : "-")
            }
            table.add(
                Table.Cell(row.title),
                Table.Cell(rate.text),
                median(\.processorMicroseconds),
                median(\.p50Milliseconds),
                median(\.p99Milliseconds),
                median(\.peakMegabytes),
                median(\.allocations)
            )
        }
        return table
    }

    /// The work of the storage; nil if it was not measured.
    private var storage: Table? {
        func text(_ value: (Reading.StorageCost) -> Double) -> Table.Cell? {
            spread(of: .committed) { $0.storage.map(value) }.map { Table.Cell($0.text) }
        }
        guard let statements = text(\.statements), let writes = text(\.writes),
            let kilobytes = text(\.kilobytesWritten)
        else { return nil }
        var table = Table([.init("for one durable notification"), .init("count", .trailing)])
        table.add("SQL statements", statements)
        table.add("writes to log and file", writes)
        table.add("KB written to log and file", kilobytes)
        return table
    }

    private var judgements: Table {
        var table = Table([
            .init("judged"), .init("is", .trailing), .init("should be", .trailing),
            .init("verdict"),
        ])
        for judgement in Judgement.all {
            guard let spread = spread(of: judgement) else { continue }
            let isMet = judgement.isMet(by: spread.median)
            table.add(
                Table.Cell(judgement.title),
                Table.Cell(spread.text),
                Table.Cell(judgement.demand),
                isMet.map { $0 ? Table.Cell("met", .good) : Table.Cell("FALLS SHORT", .bad) } ?? "-"
            )
        }
        return table
    }

    // MARK: For machines

    var json: [UInt8] {
        var writer = JSONWriter(pretty: true)
        writer.object { writer in
            writer.field("machine", machine)
            writer.field("bodyBytes", bodyBytes)
            writer.field(
                "files",
                object: { writer in
                    for file in files { writer.field(file.name, file.megabytes) }
                }
            )
            writer.field(
                "judgements",
                array: { writer in
                    for judgement in Judgement.all { write(judgement, to: &writer) }
                }
            )
            writer.field(
                "rounds",
                array: { writer in
                    for round in rounds { round.write(to: &writer, best: best) }
                }
            )
        }
        return writer.bytes
    }

    private func write(_ judgement: Judgement, to writer: inout JSONWriter) {
        guard let spread = spread(of: judgement) else { return }
        writer.object { writer in
            writer.field("name", judgement.title)
            writer.field("median", spread.median)
            writer.field("least", spread.least)
            writer.field("most", spread.most)
            writer.field("target", judgement.demand)
            writer.field("met", judgement.isMet(by: spread.median))
        }
    }
}

extension Report.Round {
    fileprivate func write(to writer: inout JSONWriter, best: Double) {
        writer.object { writer in
            writer.field("verificationsBefore", before)
            writer.field("verificationsAfter", after)
            writer.field("disturbed", isDisturbed(best: best))
            for row in Row.allCases {
                guard let reading = readings[row] else { continue }
                writer.field(row.rawValue, object: { reading.write(to: &$0) })
            }
        }
    }
}

extension Reading {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.field("perSecond", perSecond)
        writer.field("processorMicroseconds", processorMicroseconds)
        writer.field("p50Milliseconds", p50Milliseconds)
        writer.field("p99Milliseconds", p99Milliseconds)
        if peakMegabytes > 0 { writer.field("peakMegabytes", peakMegabytes) }
        if let allocations { writer.field("allocations", allocations) }
        if let storage {
            writer.field("statements", storage.statements)
            writer.field("writes", storage.writes)
            writer.field("kilobytesWritten", storage.kilobytesWritten)
        }
    }
}

/// The median of some numbers, and their range.
struct Spread: Sendable {
    let median: Double
    let least: Double
    let most: Double

    /// Returns nil for no numbers.
    init?(_ numbers: [Double]) {
        let sorted = numbers.sorted()
        guard let least = sorted.first, let most = sorted.last else { return nil }
        let middle = sorted.count / 2
        median =
            sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        self.least = least
        self.most = most
    }

    /// The median, and the extremes if they differ.
    var text: String {
        least == most
            ? median.written : "\(median.written) [\(least.written)..\(most.written)]"
    }
}

extension Double {
    /// The number with significant decimals: 1,234; 12.3; 0.123.
    var written: String {
        switch magnitude {
        case 1_000...:
            let digits = String(Int64(rounded()))
            return String(digits.dropLast(3)) + "," + digits.suffix(3)
        case 100...: return decimals(0)
        case 10...: return decimals(1)
        case 1...: return decimals(2)
        default: return decimals(3)
        }
    }

    private func decimals(_ count: Int) -> String {
        let scale = [1.0, 10, 100, 1_000][count]
        let number = Int64((magnitude * scale).rounded())
        let whole = number / Int64(scale)
        let fraction = String(number % Int64(scale))
        let sign = self < 0 ? "-" : ""
        guard count > 0 else { return "\(sign)\(whole)" }
        return "\(sign)\(whole)." + String(repeating: "0", count: count - fraction.count) + fraction
    }
}
