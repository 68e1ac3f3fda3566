/// Draws the minutes that each judge denied, as bars of one scale. A table beside it has the
/// numbers.
struct LockoutChart {
    let row: LockoutRow

    private static let width = 720
    private static let margin = 130
    private static let height = 34

    private var most: Double { row.judges.compactMap(\.minutes.value).max() ?? 0 }

    var svg: HTML {
        .element(
            .svg,
            [
                .class("drawing chart"),
                .of(.viewBox, "0 0 \(Self.width) \(row.judges.count * (Self.height + 8))"),
                .of(.role, "img"),
                .of(.label, "Minutes denied, by judge; the table has the numbers"),
            ],
            row.judges.enumerated().flatMap { place, judge in bar(judge, at: place) }
        )
    }

    private func bar(_ judge: LockoutRow.Judge, at place: Int) -> [HTML] {
        let y = place * (Self.height + 8)
        let share = most > 0 ? (judge.minutes.value ?? 0) / most : 0
        let width = Int(share * Double(Self.width - Self.margin - 2))
        let name = HTML.tag(
            .text,
            [.of(.x, 0), .of(.y, y + Self.height / 2 + 5)],
            .text(Shown.judge(judge.id))
        )
        let rail = HTML.tag(
            .rect,
            [
                .class("rail"), .of(.x, Self.margin), .of(.y, y + 1),
                .of(.width, Self.width - Self.margin - 2), .of(.height, Self.height),
            ]
        )
        guard width > 0 else { return [name, rail] }
        let bar = HTML.tag(
            .rect,
            [
                .class("denied"), .of(.x, Self.margin), .of(.y, y + 1), .of(.width, width),
                .of(.height, Self.height),
            ]
        )
        return [name, rail, bar]
    }
}
