extension Program {
    /// The names of all man pages, each with the names of its command.
    package var manPages: [(name: String, path: [String])] {
        func pages(_ command: Command, _ path: [String]) -> [(String, [String])] {
            let path = path + [command.name]
            return [(path.joined(separator: "-"), path)]
                + command.subcommands.flatMap { pages($0, path) }
        }
        return pages(root, [])
    }

    /// Returns the man page (section 1, roff) of the command with these names.
    package func manPage(for path: [String]) -> String {
        let command = command(at: path)
        let title = path.joined(separator: "-")
        let sections = [
            [".TH \(Roff.quoted(title.uppercased())) 1 \"\" \(Roff.quoted("\(name) \(version)"))"],
            [".SH NAME", Roff.line("\(title) - \(command.summary)")],
            synopsis(path, command),
            description(command),
            rows("ARGUMENTS", command.declarations.filter { $0.kind == .argument }),
            rows("OPTIONS", command.declarations.filter { $0.kind != .argument }),
            subcommands(path, command),
            examples(command),
        ]
        return sections.flatMap { $0 }.joined(separator: "\n") + "\n"
    }

    private func synopsis(_ path: [String], _ command: Command) -> [String] {
        let usage = Help(program: self, terminal: .plain).usage(path, command)
        return [".SH SYNOPSIS", ".nf"] + usage.map(Roff.line) + [".fi"]
    }

    private func description(_ command: Command) -> [String] {
        guard !command.notes.isEmpty else { return [] }
        return [".SH DESCRIPTION"] + command.notes.flatMap { [".PP", Roff.line($0)] }
    }

    private func rows(_ title: String, _ declarations: [Declaration]) -> [String] {
        guard !declarations.isEmpty else { return [] }
        return [".SH \(title)"]
            + declarations.flatMap { declaration in
                [
                    ".TP", ".B \(Roff.quoted(Help.spelled(declaration)))",
                    Roff.line(Help.described(declaration)),
                ]
            }
    }

    private func subcommands(_ path: [String], _ command: Command) -> [String] {
        guard !command.subcommands.isEmpty else { return [] }
        return [".SH COMMANDS"]
            + command.subcommands.flatMap { subcommand in
                let page = (path + [subcommand.name]).joined(separator: "-")
                return [".TP", ".BR \(Roff.escaped(page)) (1)", Roff.line(subcommand.summary)]
            }
    }

    private func examples(_ command: Command) -> [String] {
        guard !command.examples.isEmpty else { return [] }
        return [".SH EXAMPLES"]
            + command.examples.flatMap { example in
                [".TP", ".nf", Roff.line(example.line), ".fi", Roff.line(example.purpose)]
            }
    }
}

/// Formats text for roff.
enum Roff {
    /// Escapes a line of text, so that it contains no request or escape.
    static func line(_ text: String) -> String {
        let line = escaped(text)
        return line.hasPrefix(".") || line.hasPrefix("'") ? "\\&\(line)" : line
    }

    static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("\n", with: " ")
    }

    /// Formats one argument of a request.
    static func quoted(_ text: String) -> String {
        "\"\(escaped(text).replacing("\"", with: "\\(dq"))\""
    }
}
