import TideoverCore

/// Draws the life of an entitlement as bars over time: Tideover's answers, and below them when an
/// expiry check denied access that the store confirms.
///
/// Each period is a link to the answer at its beginning.
struct LifeDrawing {
    private let life: LifeView
    private let view: CustomerView
    private let scale: TimeScale

    // In the drawing's own units; a small letter is about eight wide.
    private static let width = 1_000
    private static let margin = 110
    private static let height = 40
    private static let top = 28
    private static let letter = 8

    /// Nil if there is nothing to draw.
    init?(_ life: LifeView, of view: CustomerView) {
        guard let from = life.from, from < life.until else { return nil }
        self.life = life
        self.view = view
        scale = TimeScale(from: from, until: life.until, places: Self.width - Self.margin - 10)
    }

    private var judges: [(judge: Lockouts.Judge, name: String)] {
        let ours = life.denials(.ours).isEmpty ? [] : [(Lockouts.Judge.ours, "Denied by us")]
        return [(.expiryCheck, "Expiry check")] + ours
    }

    var svg: HTML {
        let rows = judges.count + 1
        let bottom = Self.top + rows * (Self.height + 12)
        return .element(
            .svg,
            [
                .class("drawing"), .of(.viewBox, "0 0 \(Self.width) \(bottom)"),
                .of(.role, "group"), .of(.label, label),
            ],
            [months(bottom), name("Tideover", row: 0)] + bars
                + judges.enumerated().flatMap { row, judge in
                    [name(judge.name, row: row + 1), rail(row + 1)]
                        + life.denials(judge.judge).map { denial($0, row: row + 1) }
                } + [marker(bottom)]
        )
    }

    private var label: String {
        "Timeline from \(Shown.minute(scale.from)) to \(Shown.minute(scale.until)) UTC. The table "
            + "below has the same numbers."
    }

    private func x(_ instant: Instant) -> Int {
        Self.margin + scale.place(of: min(max(instant, scale.from), scale.until))
    }

    private func y(_ row: Int) -> Int { Self.top + row * (Self.height + 12) }

    private func name(_ text: String, row: Int) -> HTML {
        .tag(.text, [.of(.x, 0), .of(.y, y(row) + Self.height / 2 + 5)], .text(text))
    }

    private func rail(_ row: Int) -> HTML {
        .tag(
            .rect,
            [
                .class("rail"), .of(.x, Self.margin), .of(.y, y(row)),
                .of(.width, scale.places), .of(.height, Self.height),
            ]
        )
    }

    // MARK: Tideover's answers

    private var bars: [HTML] {
        life.phases.filter { $0.value != .never && $0.until > scale.from }.map { phase in
            let (start, end) = (x(phase.from), x(phase.until))
            let width = max(3, end - start)
            let title =
                "\(phase.value.word), \(Shown.minute(phase.from)) to \(Shown.minute(phase.until)) UTC"
            return .element(
                .a,
                [
                    .href(view.place.customer(view.customer, at: phase.from.rfc3339)),
                    .of(.label, title),
                ],
                [
                    .tag(
                        .rect,
                        [
                            .class(phase.value.style), .of(.x, start), .of(.y, y(0)),
                            .of(.width, width), .of(.height, Self.height), .of(.rx, 3),
                        ],
                        .tag(.title, [], .text(title))
                    ), word(of: phase.value, at: start, width: width),
                ]
            )
        }
    }

    private func word(of phase: Phase, at start: Int, width: Int) -> HTML {
        guard width > (phase.word.count + 2) * Self.letter else { return .nothing }
        return .tag(
            .text,
            [
                .class("on-\(phase.style)"), .of(.x, start + Self.letter),
                .of(.y, y(0) + Self.height / 2 + 5),
            ],
            .text(phase.word)
        )
    }

    // MARK: Denials

    private func denial(_ denial: Lockouts.Stretch, row: Int) -> HTML {
        let (start, end) = (x(denial.from), x(denial.until))
        let title =
            "denied, \(Shown.minute(denial.from)) to \(Shown.minute(denial.until)) UTC: "
            + Shown.cause(denial.cause.rawValue)
        return .tag(
            .rect,
            [
                .class("denied"), .of(.x, start), .of(.y, y(row)),
                .of(.width, max(3, end - start)), .of(.height, Self.height), .of(.rx, 3),
            ],
            .tag(.title, [], .text(title))
        )
    }

    // MARK: Time

    private func months(_ bottom: Int) -> HTML {
        let months = scale.months
        let room = scale.places / max(1, months.count)
        let step = max(1, (4 * Self.letter + room - 1) / max(1, room))
        return .group(
            months.enumerated().filter { $0.offset % step == 0 }.map { _, month in
                let place = x(month.start)
                return [
                    .tag(
                        .line,
                        [
                            .of(.x1, place), .of(.x2, place), .of(.y1, 20),
                            .of(.y2, bottom - 8),
                        ]
                    ),
                    .tag(
                        .text,
                        [.class("quiet"), .of(.x, place + 2), .of(.y, 14)],
                        .text(month.name)
                    ),
                ]
            }
        )
    }

    /// A line at the instant of the answer.
    private func marker(_ bottom: Int) -> HTML {
        guard view.asOf >= scale.from, view.asOf <= scale.until else { return .nothing }
        let place = x(view.asOf)
        return .tag(
            .line,
            [
                .class("now"), .of(.x1, place), .of(.x2, place), .of(.y1, 18),
                .of(.y2, bottom - 6),
            ]
        )
    }
}
