/// Creates all help texts: examples first, no line wider than `width` columns.
struct Help {
    /// Wider lines are hard to read on any terminal.
    static let widest = 80
    static let narrowest = 40

    let program: Program
    let terminal: Terminal

    private var width: Int { min(Self.widest, max(Self.narrowest, terminal.width)) }

    /// Returns the help text of the command with these names.
    func text(for path: [String]) -> String {
        let command = program.command(at: path)
        let sections = [
            title(path, command),
            examples(command),
            section("Usage", usage(path, command)),
            section("Commands", commandRows(command)),
            section("Arguments", argumentRows(command)),
            section("Options", optionRows(path, command)),
            notes(path, command),
        ]
        return sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }
            .joined(separator: "\n\n")
    }

    /// Returns the usage lines of a command.
    func usage(_ path: [String], _ command: Command) -> [String] {
        let name = path.joined(separator: " ")
        let forms: [[String]]
        if case .group = command.body {
            forms = [["COMMAND", "..."]]
        } else if command.usage.isEmpty {
            forms = [Self.synopsis(command.declarations)]
        } else {
            forms = command.usage.map(Self.units)
        }
        return forms.flatMap { hanging(name, $0) }
    }

    /// Arguments first, then required options, then the others.
    private static func synopsis(_ declarations: [Declaration]) -> [String] {
        let arguments = declarations.filter { $0.kind == .argument }
        let options = declarations.filter { $0.kind != .argument }
        let ordered =
            arguments + options.filter(\.isRequired) + options.filter { !$0.isRequired }
        return ordered.map { declaration in
            let text = spelled(declaration) + (declaration.isRepeated ? "..." : "")
            return declaration.isRequired ? text : "[\(text)]"
        }
    }

    /// The parts of a usage line that stay on one line: brackets, and an option with its value.
    static func units(of line: String) -> [String] {
        var units: [String] = []
        var depth = 0
        for word in line.split(separator: " ").map(String.init) {
            let isValue = !word.hasPrefix("-") && !word.hasPrefix("[")
            if depth > 0 || (isValue && units.last.map(isBareOption) ?? false) {
                units[units.count - 1] += " " + word
            } else {
                units.append(word)
            }
            depth += word.count { $0 == "[" } - word.count { $0 == "]" }
        }
        return units
    }

    private static func isBareOption(_ unit: String) -> Bool {
        unit.hasPrefix("--") && !unit.contains(" ")
    }

    static func spelled(_ declaration: Declaration) -> String {
        guard case .option(let valueName) = declaration.kind else { return declaration.name }
        return "\(declaration.name) \(valueName)"
    }

    private func title(_ path: [String], _ command: Command) -> [String] {
        let name = path.joined(separator: " ")
        var lines = TextLayout.wrapped("\(name): \(command.summary)", to: width)
        lines[0] = lines[0].replacingPrefix(name, with: terminal.styled(name, .strong))
        return lines
    }

    private func examples(_ command: Command) -> [String] {
        let lines = command.examples.flatMap { example in
            ["  " + example.line]
                + TextLayout.wrapped(example.purpose, to: width - 6).map { "      " + $0 }
        }
        return lines.isEmpty ? [] : [terminal.styled("Examples", .strong)] + lines
    }

    private func section(_ title: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? [] : [terminal.styled(title, .strong)] + lines.map { "  " + $0 }
    }

    private func commandRows(_ command: Command) -> [String] {
        rows(command.subcommands.map { ($0.name, $0.summary) })
    }

    private func argumentRows(_ command: Command) -> [String] {
        rows(
            command.declarations.filter { $0.kind == .argument }.map {
                ($0.name + ($0.isRepeated ? "..." : ""), $0.help)
            }
        )
    }

    private func optionRows(_ path: [String], _ command: Command) -> [String] {
        let declared = command.declarations.filter { $0.kind != .argument }.map {
            (Self.spelled($0), Self.described($0))
        }
        let version = path.count == 1 ? [("--version", "print the version and end")] : []
        return rows(declared + [("-h, --help", "print this text and end")] + version)
    }

    static func described(_ declaration: Declaration) -> String {
        var text = declaration.help
        if let defaultText = declaration.defaultText { text += " (default \(defaultText))" }
        if declaration.isRepeated { text += " (may be repeated)" }
        if declaration.isRequired { text += " (required)" }
        return text
    }

    private func notes(_ path: [String], _ command: Command) -> [String] {
        var paragraphs = command.notes
        if case .group = command.body {
            let name = path.joined(separator: " ")
            paragraphs.append("`\(name) help COMMAND` describes a command.")
        }
        let wrapped = paragraphs.map { TextLayout.wrapped($0, to: width) }
        return Array(wrapped.joined(separator: [""]))
    }

    /// Formats terms with their meanings beside them, or below a long term.
    private func rows(_ rows: [(term: String, meaning: String)]) -> [String] {
        let indent = 2
        let widestTerm = width / 3
        let column =
            rows.map { TextLayout.width(of: $0.term) }.filter { $0 <= widestTerm }.max() ?? 8
        let margin = String(repeating: " ", count: column + 2)
        return rows.flatMap { term, meaning in
            var lines = TextLayout.wrapped(meaning, to: width - indent - column - 2)
            let fits = TextLayout.width(of: term) <= column
            let first =
                fits ? term + TextLayout.padding(term, to: column + 2) + lines.removeFirst() : term
            return [first] + lines.map { margin + $0 }
        }
    }

    /// Wraps a line, with further lines indented to its first unit.
    private func hanging(_ name: String, _ units: [String]) -> [String] {
        let lines = TextLayout.wrapped(words: units, to: width - 2 - name.count - 1)
        let margin = String(repeating: " ", count: name.count + 1)
        return lines.enumerated().map { number, line in
            line.isEmpty ? name : (number == 0 ? name + " " : margin) + line
        }
    }
}

extension String {
    fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
        hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
    }
}
