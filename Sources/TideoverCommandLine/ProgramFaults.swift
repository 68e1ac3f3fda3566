extension Program {
    /// Errors in the program's own declarations, one sentence each. A test expects none.
    ///
    /// The command must accept every example of its help text. Every option of a usage line must
    /// exist, and names must be unambiguous.
    package var faults: [String] {
        faults(of: root, [name])
    }

    private func faults(of command: Command, _ path: [String]) -> [String] {
        let own =
            nameFaults(command) + orderFaults(command) + usageFaults(command)
            + command.examples.flatMap { faults(of: $0, path) }
        return own.map { "\(path.joined(separator: " ")): \($0)" }
            + command.subcommands.flatMap { faults(of: $0, path + [$0.name]) }
    }

    private func nameFaults(_ command: Command) -> [String] {
        let names = command.declarations.map(\.name) + command.subcommands.map(\.name)
        let options = command.declarations.filter { $0.kind != .argument }.map(\.name)
        return names.filter { name in names.count { $0 == name } > 1 }.map {
            "`\($0)` is there twice"
        }
            + names.filter { ["help", "--help", "--version"].contains($0) }
            .map { "`\($0)` is the program's own" }
            + options.filter { !$0.hasPrefix("--") || $0.contains("=") }
            .map { "`\($0)` is not written as an option" }
    }

    private func orderFaults(_ command: Command) -> [String] {
        let arguments = command.declarations.filter { $0.kind == .argument }
        return zip(arguments, arguments.dropFirst()).compactMap { earlier, later in
            if earlier.isRepeated { return "`\(earlier.name)` leaves nothing to `\(later.name)`" }
            return !earlier.isRequired && later.isRequired
                ? "`\(later.name)` is required after `\(earlier.name)`, which is not" : nil
        }
    }

    private func usageFaults(_ command: Command) -> [String] {
        let names = Set(command.declarations.map(\.name))
        let marks: Set<Character> = [" ", "[", "]", "|", "."]
        return command.usage.flatMap { $0.split(whereSeparator: marks.contains) }
            .filter { $0.hasPrefix("--") && !names.contains(String($0)) }
            .map { "the usage names `\($0)`, which is not declared" }
    }

    private func faults(of example: Example, _ path: [String]) -> [String] {
        let calls = ShellWords.commands(of: example.line)
        guard let words = calls.first(where: { $0.first == name }) else {
            return ["`\(example.line)` does not call `\(name)`"]
        }
        if TextLayout.width(of: example.line) > Help.widest - 2 {
            return ["`\(example.line)` is wider than a line of help"]
        }
        do {
            switch try Interpreter(root: root).interpret(Array(words.dropFirst())) {
            case .run(_, let arguments) where !arguments.command.starts(with: path):
                return ["`\(example.line)` calls another command"]
            case .run, .help, .version: return []
            }
        } catch {
            return ["`\(example.line)` fails: \(Words.sentence(for: error.reason))"]
        }
    }
}

/// Splits an example like a shell, as far as examples need it.
enum ShellWords {
    /// Returns the words of each command on a line. Blanks separate words unless quoted; pipes, `&`
    /// and `;` separate commands. The target of a redirection is separated like a command.
    static func commands(of line: String) -> [[String]] {
        var commands: [[String]] = [[]]
        var word: String?
        var quote: Character?
        for character in line + ";" {
            if let open = quote {
                if character == open { quote = nil } else { word?.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if " |&;<>".contains(character) {
                if let complete = word { commands[commands.count - 1].append(complete) }
                word = nil
                if character != " " { commands.append([]) }
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return commands.filter { !$0.isEmpty }
    }
}
