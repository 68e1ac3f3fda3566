/// Draws a difference from the control with its interval, on a scale around zero. The cells beside
/// it have the numbers.
struct DifferenceBar {
    let difference: ExperimentView.Difference
    /// The difference at the right end of the scale, as a share; over 0.
    let limit: Double

    private static let width = 240
    private static let height = 28
    private static let middle = height / 2

    /// Returns a scale for several differences, in steps of five points.
    static func limit(of differences: [ExperimentView.Difference]) -> Double {
        let bounds = differences.flatMap { [$0.lower.value, $0.upper.value].compactMap(\.self) }
        let most = bounds.map { abs($0) }.max() ?? 0
        return max(1, (most * 20).rounded(.up)) / 20
    }

    /// Nil if there is no interval.
    var svg: HTML? {
        guard let value = difference.value.value, let lower = difference.lower.value,
            let upper = difference.upper.value
        else { return nil }
        return .tag(
            .svg,
            [
                .class("difference"), .of(.viewBox, "0 0 \(Self.width) \(Self.height)"),
                .of(.role, "img"),
                .of(
                    .label,
                    "Between \(Shown.number(lower * 100)) and \(Shown.number(upper * 100)) points"
                ),
            ],
            line("rail", from: -limit, to: limit, Self.middle, Self.middle),
            line("zero", from: 0, to: 0, 2, Self.height - 2),
            line("range", from: lower, to: upper, Self.middle, Self.middle),
            mark(at: value)
        )
    }

    private func line(
        _ style: String,
        from first: Double,
        to last: Double,
        _ top: Int,
        _ bottom: Int
    ) -> HTML {
        .tag(
            .line,
            [
                .class(style), .of(.x1, x(first)), .of(.x2, x(last)), .of(.y1, top),
                .of(.y2, bottom),
            ]
        )
    }

    /// A diamond.
    private func mark(at value: Double) -> HTML {
        let (x, y, size) = (x(value), Self.middle, 6)
        let path = "M\(x) \(y - size)L\(x + size) \(y)L\(x) \(y + size)L\(x - size) \(y)Z"
        return .tag(.path, [.class("mark"), .of(.d, path)])
    }

    private func x(_ share: Double) -> Int {
        let half = Double(Self.width / 2 - 8)
        return Self.width / 2 + Int((min(max(share / limit, -1), 1) * half).rounded())
    }
}
