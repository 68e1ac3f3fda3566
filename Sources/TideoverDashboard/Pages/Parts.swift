/// Parts that several pages share.
enum Parts {
    static func card(_ title: HTML, _ id: String, _ content: [HTML]) -> HTML {
        let heading = "\(id)-title"
        return .element(
            .section,
            [.class("card"), .of(.id, id), .of(.labelledBy, heading)],
            [.tag(.h2, [.of(.id, heading)], title)] + content
        )
    }

    /// A list of names and values.
    static func facts(_ rows: [(name: String, value: HTML)]) -> HTML {
        .element(
            .dl,
            [.class("facts")],
            rows.flatMap { [.tag(.dt, [], .text($0.name)), .tag(.dd, [], $0.value)] }
        )
    }

    /// Large numbers, each with its name below.
    static func numbers(_ rows: [(name: String, value: HTML)]) -> HTML {
        .element(
            .dl,
            [.class("numbers")],
            rows.map { row in
                .tag(.div, [], .tag(.dt, [], .text(row.name)), .tag(.dd, [], row.value))
            }
        )
    }

    /// A drawing that scrolls by itself where it is too wide, as a region with a name.
    static func figure(_ name: String, _ drawing: HTML, caption: HTML? = nil) -> HTML {
        let region: [Attribute] = [
            .class("scroll"), .of(.tabindex, 0), .of(.role, "region"), .of(.label, name),
        ]
        return .tag(
            .figure,
            [],
            .tag(.div, region, drawing),
            caption.map { .tag(.figcaption, [], $0) } ?? .nothing
        )
    }

    /// A field of a form that is sent unseen.
    static func hidden(_ name: String, _ value: String) -> HTML {
        .tag(.input, [.of(.type, "hidden"), .of(.name, name), .of(.value, value)])
    }

    struct Column {
        let title: String
        var isNumber = false
    }

    /// A table that scrolls by itself where it is too wide. The first cell names its row. `ids` are
    /// those of the rows, if they have any.
    static func table(
        _ caption: HTML,
        _ columns: [Column],
        _ rows: [[HTML]],
        ids: [String] = []
    ) -> HTML {
        let head = columns.map { column in
            HTML.tag(.th, [.of(.scope, "col")] + style(column), .text(column.title))
        }
        let body = rows.enumerated().map { place, cells in
            row(columns, cells, id: place < ids.count ? ids[place] : nil)
        }
        return .tag(
            .div,
            [.class("scroll")],
            .tag(
                .table,
                [],
                .tag(.caption, [], caption),
                .tag(.thead, [], .element(.tr, [], head)),
                .element(.tbody, [], body)
            )
        )
    }

    static func row(_ columns: [Column], _ cells: [HTML], id: String?) -> HTML {
        .element(
            .tr,
            id.map { [.of(.id, $0)] } ?? [],
            zip(columns, cells).enumerated().map { place, cell in
                place == 0
                    ? .tag(.th, [.of(.scope, "row")], cell.1)
                    : .tag(.td, style(cell.0), cell.1)
            }
        )
    }

    private static func style(_ column: Column) -> [Attribute] {
        column.isNumber ? [.class("number")] : []
    }

    /// A phase as a shape, a colour and a word.
    static func badge(_ phase: Phase, _ word: String? = nil) -> HTML {
        .tag(
            .span,
            [.class("badge")],
            .tag(
                .svg,
                [.of(.viewBox, "0 0 16 16"), .of(.isHidden, "true")],
                .tag(.path, [.class(phase.style), .of(.d, phase.shape)])
            ),
            .text(word ?? phase.word)
        )
    }

    /// A line that states how many have no known price and are in no sum of money, after the place
    /// concerned.
    static func unpriced(
        _ counts: [(name: String, count: Figure)],
        in place: HTML = .nothing
    ) -> HTML {
        let parts = counts.filter { $0.count.value != 0 }.map { name, count -> HTML in
            [Shown.figure(count), .text(" \(name)")]
        }
        guard let first = parts.first else { return .nothing }
        let list = parts.dropFirst().reduce(first) { [$0, ", ", $1] }
        return quiet([place, "In no sum, because the price is not known: ", list, "."])
    }

    static func quiet(_ text: HTML) -> HTML { .tag(.p, [.class("quiet")], text) }
}

extension Phase {
    /// The class of the phase's colour.
    package var style: String {
        switch self {
        case .never: "never"
        case .ended: "ended"
        case .active: "active"
        case .trial: "trial"
        case .paused: "paused"
        case .hold: "hold"
        case .grace: "grace"
        case .refunded: "refunded"
        }
    }

    /// The outline of the phase's shape, in a square of 16.
    package var shape: String {
        switch self {
        case .active: "M14 8A6 6 0 1 1 2 8A6 6 0 1 1 14 8Z"
        case .trial: "M8 1L15 8L8 15L1 8Z"
        case .grace: "M8 2L15 14H1Z"
        case .hold: "M2 2H14V14H2Z"
        case .paused: "M3 2H6V14H3ZM10 2H13V14H10Z"
        case .refunded: "M2 5L5 2L8 5L11 2L14 5L11 8L14 11L11 14L8 11L5 14L2 11L5 8Z"
        case .ended: "M1 6H15V10H1Z"
        case .never: "M6 6H10V10H6Z"
        }
    }
}
