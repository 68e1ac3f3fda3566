/// Draws the share of failed renewals that had recovered by each day. A table beside it has the
/// numbers.
struct RecoveryCurve {
    let curves: [RecoveryRow.Curve]

    private static let width = 720
    private static let height = 260
    private static let left = 44
    private static let right = 700
    private static let top = 12
    private static let bottom = 220
    /// The last day of the horizontal scale.
    private static let days = 90.0

    /// The curves with an estimate.
    private var drawn: [RecoveryRow.Curve] {
        curves.filter { curve in curve.points.contains { $0.estimate.value != nil } }
    }

    /// Nil if there is no estimate yet.
    var svg: HTML? {
        guard !drawn.isEmpty else { return nil }
        return .element(
            .svg,
            [
                .class("drawing chart"), .of(.viewBox, "0 0 \(Self.width) \(Self.height)"),
                .of(.role, "img"),
                .of(.label, "Share recovered by day; the table has the numbers"),
            ],
            grid + drawn.map(line)
        )
    }

    private var grid: [HTML] {
        let shares = [0, 25, 50, 75, 100].flatMap { percent -> [HTML] in
            let y = Self.y(Double(percent) / 100)
            return [
                .tag(
                    .line,
                    [.of(.x1, Self.left), .of(.x2, Self.right), .of(.y1, y), .of(.y2, y)]
                ), .tag(.text, [.class("quiet"), .of(.x, 0), .of(.y, y + 4)], "\(percent) %"),
            ]
        }
        let days = [0, 7, 14, 30, 60, 90].map { day in
            HTML.tag(
                .text,
                [
                    .class("quiet"), .of(.x, Self.x(Double(day)) - 8), .of(.y, Self.bottom + 22),
                ],
                "\(day)"
            )
        }
        let unit = HTML.tag(
            .text,
            [.class("quiet"), .of(.x, Self.left), .of(.y, Self.height - 2)],
            "days after the failed renewal"
        )
        return shares + days + [unit]
    }

    /// A line that rises in steps: a share counts from its day on.
    private func line(_ curve: RecoveryRow.Curve) -> HTML {
        var path = "M\(Self.left) \(Self.bottom)"
        for point in curve.points {
            guard let day = point.days.value, let share = point.estimate.value else { break }
            path += "H\(Self.x(day))V\(Self.y(share))"
        }
        return .tag(.path, [.class("curve \(curve.id)"), .of(.d, path)])
    }

    private static func x(_ day: Double) -> Int {
        left + Int((min(day, days) / days * Double(right - left)).rounded())
    }

    private static func y(_ share: Double) -> Int {
        bottom - Int((min(max(share, 0), 1) * Double(bottom - top)).rounded())
    }
}
