import Glibc
import TideoverCommandLine
import TideoverCore
import TideoverLives

/// The cost of calls for histories of increasing length.
struct Growth {
    struct Point {
        let facts: Int
        /// In nanoseconds, by series.
        let costs: [Double]
    }

    static let series = ["standing, of a history", "standing, from facts", "timeline"]
    let points: [Point]

    static func measured(months: [Int], seconds: Double) -> Growth {
        Growth(points: months.map { measured(Subscriptions.monthly(months: $0), seconds) })
    }

    private static func measured(_ life: Life, _ seconds: Double) -> Point {
        let history = life.history
        let policy = Versioned(life.policy)
        let instants = history.boundaries(policy: life.policy)
        let asked = Cost.of(seconds: seconds) { call in
            // The step shares no factor with the length, so that calls cover the whole life.
            let instant = instants[call &* 7_919 % instants.count]
            return history.standing(at: instant, policy: policy).access ? 1 : 2
        }
        let read = Cost.of(seconds: seconds) { call in
            let instant = instants[call &* 7_919 % instants.count]
            return life.history.standing(at: instant, policy: policy).access ? 1 : 2
        }
        let told = Cost.of(seconds: seconds) { _ in
            let told = life.told(until: Instant(millisecondsSince1970: 8_000_000_000_000))
            return told.transitions.count + told.timeline(of: "premium").spans.count
        }
        return Point(
            facts: life.facts.count,
            costs: [asked, read, told].map(\.nanoseconds)
        )
    }

    var table: Table {
        var table = Table(
            [.init("facts", .trailing)] + Self.series.map { .init("\($0), us", .trailing) }
                + [.init("timeline, us a fact", .trailing)]
        )
        for point in points {
            let costs = point.costs.map { ($0 / 1_000).written }
            let each = point.costs[2] / 1_000 / Double(point.facts)
            table.add(([String(point.facts)] + costs + [each.written]).map { .init($0) })
        }
        return table
    }

    // MARK: The drawing

    private static let size = (width: 720.0, height: 420.0)
    private static let margin = (left: 70.0, right: 190.0, top: 40.0, bottom: 50.0)
    private static let colours = ["#2a6f97", "#c1666b", "#4f772d"]

    /// Both axes are logarithmic: a cost that is proportional to the history is parallel to the
    /// dotted lines.
    var chart: String {
        let facts = points.map { Double($0.facts) }
        let costs = points.flatMap(\.costs)
        guard let least = facts.min(), let most = facts.max(), let low = costs.min(),
            let high = costs.max()
        else { return "" }
        let across = Axis(
            least / 1.2,
            most * 1.2,
            Self.margin.left,
            Self.size.width - Self.margin.right
        )
        let up = Axis(low / 2, high * 2, Self.size.height - Self.margin.bottom, Self.margin.top)
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Int(Self.size.width)) "
                + "\(Int(Self.size.height))\" font-family=\"sans-serif\" font-size=\"12\">",
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
            "<text x=\"70\" y=\"22\" font-size=\"14\">What a call costs, by the length of the "
                + "history (both axes logarithmic)</text>",
        ]
        lines += ticks(across, up) + guides(across, up, from: least, to: most)
        for (number, name) in Self.series.enumerated() {
            lines += line(number, name, across, up)
        }
        return (lines + ["</svg>\n"]).joined(separator: "\n")
    }

    private func ticks(_ across: Axis, _ up: Axis) -> [String] {
        let bottom = Self.size.height - Self.margin.bottom
        let facts = points.map { point in
            let x = across.place(Double(point.facts)).short
            return
                "<line x1=\"\(x)\" y1=\"\(bottom)\" x2=\"\(x)\" y2=\"\(bottom + 5)\" stroke=\"black\"/>"
                + "<text x=\"\(x)\" y=\"\(bottom + 20)\" text-anchor=\"middle\">\(point.facts)</text>"
        }
        let times = [
            (1e2, "0.1 us"), (1e3, "1 us"), (1e4, "10 us"), (1e5, "100 us"), (1e6, "1 ms"),
            (1e7, "10 ms"),
        ]
        .filter { up.spans($0.0) }.map { cost, name in
            let y = up.place(cost).short
            return "<line x1=\"70\" y1=\"\(y)\" x2=\"530\" y2=\"\(y)\" stroke=\"#dddddd\"/>"
                + "<text x=\"62\" y=\"\(y)\" dy=\"4\" text-anchor=\"end\">\(name)</text>"
        }
        return facts + times + [
            "<text x=\"300\" y=\"\(bottom + 40)\" text-anchor=\"middle\">facts</text>"
        ]
    }

    /// The line of each series if twice the facts took twice the time.
    private func guides(_ across: Axis, _ up: Axis, from: Double, to: Double) -> [String] {
        Self.series.indices.compactMap { series in
            guard let first = points.first?.costs[series] else { return nil }
            let end = up.place(first * to / from)
            return "<line x1=\"\(across.place(from).short)\" y1=\"\(up.place(first).short)\" "
                + "x2=\"\(across.place(to).short)\" y2=\"\(end.short)\" stroke=\"#999999\" "
                + "stroke-dasharray=\"2 4\"/>"
        }
    }

    private func line(_ series: Int, _ name: String, _ across: Axis, _ up: Axis) -> [String] {
        let places = points.map {
            (x: across.place(Double($0.facts)).short, y: up.place($0.costs[series]).short)
        }
        let colour = Self.colours[series]
        let path = places.map { "\($0.x),\($0.y)" }.joined(separator: " ")
        let dots = places.map {
            "<circle cx=\"\($0.x)\" cy=\"\($0.y)\" r=\"3\" fill=\"\(colour)\"/>"
        }
        let label = places.last.map {
            "<text x=\"\($0.x)\" y=\"\($0.y)\" dx=\"10\" dy=\"4\" fill=\"\(colour)\">\(name)</text>"
        }
        return [
            "<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"/>"
        ]
            + dots + [label].compactMap(\.self)
    }
}

/// A logarithmic axis.
private struct Axis {
    private let low: Double
    private let high: Double
    private let from: Double
    private let to: Double

    init(_ low: Double, _ high: Double, _ from: Double, _ to: Double) {
        (self.low, self.high, self.from, self.to) = (log(low), log(high), from, to)
    }

    func place(_ value: Double) -> Double {
        from + (log(value) - low) / (high - low) * (to - from)
    }

    func spans(_ value: Double) -> Bool { low <= log(value) && log(value) <= high }
}

extension Double {
    /// Rounded to a tenth of a point.
    fileprivate var short: String { "\((self * 10).rounded() / 10)" }
}
