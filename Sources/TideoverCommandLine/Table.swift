/// Rows below titled columns, for people. Programs read `--json`.
package struct Table: Sendable {
    /// The side of the column that a text is aligned to.
    package enum Alignment: Hashable, Sendable {
        case leading
        case trailing
    }

    /// How the last column handles text that is too wide.
    package enum Overflow: Hashable, Sendable {
        /// It wraps within its column.
        case wrap
        /// It is cut, and ends in `...`.
        case truncate
        /// The line becomes longer: for text that people copy.
        case overrun
    }

    /// One column.
    package struct Column: Hashable, Sendable {
        let title: String
        let alignment: Alignment

        /// Creates a column with its title. Numbers are aligned `trailing`.
        package init(_ title: String, _ alignment: Alignment = .leading) {
            self.title = title
            self.alignment = alignment
        }
    }

    /// One text in a row, with its style.
    package struct Cell: Hashable, Sendable, ExpressibleByStringInterpolation {
        let text: String
        let style: Style?

        /// Creates a cell. Control characters in the text are escaped.
        package init(_ text: String, _ style: Style? = nil) {
            self.text = TextLayout.visible(text)
            self.style = style
        }

        package init(stringLiteral text: String) {
            self.init(text)
        }
    }

    /// The last column is never narrower than this, even if the line becomes too long.
    static let narrowestLastColumn = 12
    static let gap = "  "

    private let columns: [Column]
    private let overflow: Overflow
    private var rows: [[Cell]] = []

    /// Creates a table without rows.
    package init(_ columns: [Column], overflow: Overflow = .wrap) {
        precondition(!columns.isEmpty, "a table has columns")
        self.columns = columns
        self.overflow = overflow
    }

    /// Whether the table has no rows.
    package var isEmpty: Bool { rows.isEmpty }

    /// Adds a row, which must have a cell for every column.
    package mutating func add(_ cells: [Cell]) {
        precondition(cells.count == columns.count, "a row has a cell for every column")
        rows.append(cells)
    }

    /// Adds a row, which must have a cell for every column.
    package mutating func add(_ cells: Cell...) {
        add(cells)
    }

    /// Returns the table as lines without a last line break. Only an interactive terminal limits
    /// the width, so that files contain the complete text.
    package func rendered(for terminal: Terminal) -> String {
        rendered(width: terminal.isInteractive ? terminal.width : nil, terminal: terminal)
    }

    func rendered(width: Int?, terminal: Terminal = .plain) -> String {
        let widths = columnWidths(limit: width)
        let titles = columns.map { Cell($0.title, .strong) }
        let rule = widths.map { String(repeating: "-", count: $0) }.joined(separator: Self.gap)
        let lines =
            self.lines(of: titles, widths, terminal) + [terminal.styled(rule, .quiet)]
            + rows.flatMap { self.lines(of: $0, widths, terminal) }
        return lines.joined(separator: "\n")
    }

    private func columnWidths(limit: Int?) -> [Int] {
        var widths = columns.indices.map { index in
            rows.reduce(TextLayout.width(of: columns[index].title)) {
                max($0, TextLayout.width(of: $1[index].text))
            }
        }
        if let limit, overflow != .overrun, let last = widths.popLast() {
            let taken = widths.reduce(0) { $0 + $1 + Self.gap.count }
            widths.append(min(last, max(limit - taken, Self.narrowestLastColumn)))
        }
        return widths
    }

    private func lines(of row: [Cell], _ widths: [Int], _ terminal: Terminal) -> [String] {
        let last = row.count - 1
        return fitted(row[last].text, to: widths[last]).enumerated().map { number, text in
            let cells = row.dropLast().map { number == 0 ? $0 : "" } + [Cell(text, row[last].style)]
            return cells.indices.map { index in
                padded(cells[index], columns[index], widths[index], isLast: index == last, terminal)
            }.joined(separator: Self.gap).trimmingTrailingBlanks
        }
    }

    private func fitted(_ text: String, to width: Int) -> [String] {
        switch overflow {
        case .wrap where TextLayout.width(of: text) > width: TextLayout.wrapped(text, to: width)
        case .wrap, .overrun: [text]
        case .truncate: [TextLayout.truncated(text, to: width)]
        }
    }

    private func padded(
        _ cell: Cell,
        _ column: Column,
        _ width: Int,
        isLast: Bool,
        _ terminal: Terminal
    ) -> String {
        let padding = TextLayout.padding(cell.text, to: width)
        let text = terminal.styled(cell.text, cell.style)
        switch column.alignment {
        case .leading: return isLast ? text : text + padding
        case .trailing: return padding + text
        }
    }
}

extension String {
    fileprivate var trimmingTrailingBlanks: String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
