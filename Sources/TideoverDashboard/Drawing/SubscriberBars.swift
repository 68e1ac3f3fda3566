/// Draws the subscribers of each app as a bar of its states, all of one scale. A table beside it
/// has the numbers.
struct SubscriberBars {
    let rows: [PortfolioRow]

    /// The states of a bar in their order; the others have ended.
    static let states = [
        "active", "cancelled", "trial", "trialCancelled", "grace", "hold", "paused",
    ]

    private static let width = 720
    private static let margin = 190
    private static let height = 26
    private static let gap = 10
    private static let longestName = 24

    private var most: Double { rows.compactMap(\.subscribers.value).max() ?? 0 }

    var svg: HTML {
        .element(
            .svg,
            [
                .class("drawing chart"),
                .of(.viewBox, "0 0 \(Self.width) \(rows.count * (Self.height + Self.gap))"),
                .of(.role, "img"),
                .of(.label, "Subscribers by app and state; the table has the numbers"),
            ],
            rows.enumerated().flatMap { place, row in bar(row, at: place) }
        )
    }

    private func bar(_ row: PortfolioRow, at place: Int) -> [HTML] {
        let y = place * (Self.height + Self.gap) + 1
        let label = HTML.tag(
            .text,
            [.of(.x, 0), .of(.y, y + Self.height / 2 + 5)],
            .text(Self.name(of: row.place))
        )
        var before = 0.0
        let parts = Self.states.compactMap { state -> HTML? in
            guard let count = row[state]?.value, count > 0 else { return nil }
            let start = x(before)
            before += count
            return .tag(
                .rect,
                [
                    .class(state), .of(.x, start), .of(.y, y), .of(.width, x(before) - start),
                    .of(.height, Self.height),
                ]
            )
        }
        return [label] + parts
    }

    private static func name(of place: Place) -> String {
        let name = VisibleText.of("\(place.app), \(place.environment)")
        return name.count > longestName ? "\(name.prefix(longestName - 1))…" : name
    }

    /// A part of at least two units can be seen.
    private func x(_ count: Double) -> Int {
        let share = most > 0 ? count / most : 0
        return Self.margin + Int((share * Double(Self.width - Self.margin - 2)).rounded())
    }

    static var legend: HTML {
        .element(
            .ul,
            [.class("legend")],
            states.map { state in
                .tag(
                    .li,
                    [],
                    .tag(
                        .span,
                        [.class("badge")],
                        .tag(
                            .svg,
                            [.of(.viewBox, "0 0 16 16"), .of(.isHidden, "true")],
                            .tag(.path, [.class(state), .of(.d, "M1 1H15V15H1Z")])
                        ),
                        .text(word(state))
                    )
                )
            }
        )
    }

    /// The word for a state of a subscription.
    static func word(_ state: String) -> String {
        switch state {
        case "cancelled": "cancelled, running"
        case "trialCancelled": "trial, cancelled"
        default: Shown.words(state)
        }
    }
}

/// Draws a number over time as a small line. The cells beside it have its first and last value.
struct SmallLine {
    let figures: [Figure]

    private static let width = 120
    private static let height = 28

    /// Nil with fewer than two values.
    var svg: HTML? {
        let values = figures.compactMap(\.value)
        guard values.count > 1, let most = values.max() else { return nil }
        let step = Double(Self.width - 4) / Double(values.count - 1)
        let points = values.enumerated().map { place, value in
            let share = most > 0 ? value / most : 0
            let x = 2 + Int((Double(place) * step).rounded())
            let y = Self.height - 3 - Int((share * Double(Self.height - 6)).rounded())
            return "\(x) \(y)"
        }
        return .tag(
            .svg,
            [
                .class("small-line"), .of(.viewBox, "0 0 \(Self.width) \(Self.height)"),
                .of(.role, "img"),
                .of(.label, "Subscribers by day, from \(figures[0].source) to \(last)"),
            ],
            .tag(.path, [.class("curve"), .of(.d, "M" + points.joined(separator: "L"))])
        )
    }

    private var last: String { figures.last?.source ?? "" }
}
