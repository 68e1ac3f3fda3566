import TideoverJSON

/// The meaning of a command line.
enum Interpretation: Sendable {
    /// Run a command.
    case run(Command.Action, Arguments)
    /// Show the help text of the command with these names.
    case help([String])
    /// Show the program's version.
    case version
}

/// Parses a command line with the commands of a program.
struct Interpreter {
    let root: Command

    static let helpFlags: Set<String> = ["-h", "--help"]

    func interpret(_ arguments: [String]) throws(UsageError) -> Interpretation {
        var path = [root.name]
        var command = root
        var rest = arguments[...]
        while case .group(let subcommands, let unlessNamed) = command.body {
            if let unlessNamed, let word = rest.first, !isCommand(word, of: subcommands) {
                command = unlessNamed
                path.append(command.name)
                continue
            }
            let word = rest.popFirst()
            if let word, Self.helpFlags.contains(word) { return .help(path) }
            if word == "--version", path.count == 1 { return .version }
            if word == "help" { return .help(try words(of: Array(rest), below: command, path)) }
            command = try subcommand(word, of: subcommands, path)
            path.append(command.name)
        }
        guard case .action(let parameters, let action) = command.body else {
            throw UsageError(.missingCommand, command: path)
        }
        if rest.prefix(while: { $0 != "--" }).contains(where: Self.helpFlags.contains) {
            return .help(path)
        }
        var reading = Reading(parameters: parameters, path: path)
        return .run(action, try reading.arguments(rest))
    }

    private func isCommand(_ word: String, of commands: [Command]) -> Bool {
        word == "help" || Self.helpFlags.contains(word) || commands.contains { $0.name == word }
    }

    private func subcommand(
        _ word: String?,
        of commands: [Command],
        _ path: [String]
    ) throws(UsageError) -> Command {
        guard let word else { throw UsageError(.missingCommand, command: path) }
        if let command = commands.first(where: { $0.name == word }) { return command }
        guard !word.hasPrefix("-") else {
            throw UsageError(misplaced(word, commands), command: path)
        }
        let names = commands.map(\.name) + ["help"] + (path.count == 1 ? ["--version"] : [])
        let suggestion = closestName(to: word, among: names)
        throw UsageError(.unknownCommand(word, suggestion: suggestion), command: path)
    }

    private func misplaced(_ word: String, _ commands: [Command]) -> UsageError.Reason {
        let name = word.prefix { $0 != "=" }
        if commands.contains(where: { $0.declarations.contains { $0.name == name } }) {
            return .optionBeforeCommand(String(name))
        }
        let suggestion = closestName(to: word, among: ["--help", "--version"])
        return .unknownOption(String(name), suggestion: suggestion)
    }

    /// Returns the names of the command after `help`.
    private func words(
        of asked: [String],
        below group: Command,
        _ path: [String]
    ) throws(UsageError) -> [String] {
        var path = path
        var command = group
        for word in asked where !Self.helpFlags.contains(word) {
            command = try subcommand(word, of: command.subcommands, path)
            path.append(command.name)
        }
        return path
    }
}

/// Parses the parameters of one command.
private struct Reading {
    let parameters: [any DeclaredParameter]
    let path: [String]
    private var texts: [String: [String]] = [:]
    private var words: [String] = []

    init(parameters: [any DeclaredParameter], path: [String]) {
        self.parameters = parameters
        self.path = path
    }

    mutating func arguments(_ given: ArraySlice<String>) throws(UsageError) -> Arguments {
        try sort(given)
        try placeWords()
        try check()
        let names = Set(parameters.map(\.declaration.name))
        return Arguments(command: path, texts: texts, declared: names)
    }

    /// Separates options from arguments.
    private mutating func sort(_ given: ArraySlice<String>) throws(UsageError) {
        var rest = given
        while let word = rest.popFirst() {
            if word == "--" {
                words += rest
                return
            }
            if Self.looksLikeOption(word) {
                try take(option: word, &rest)
            } else {
                words.append(word)
            }
        }
    }

    /// `-` is standard input and `-5` a number; every other argument with a leading dash is an
    /// option.
    private static func looksLikeOption(_ word: String) -> Bool {
        guard word.hasPrefix("-"), let next = word.dropFirst().first else { return false }
        return !("0"..."9").contains(next)
    }

    private mutating func take(
        option word: String,
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let attached = parts.count == 2 ? String(parts[1]) : nil
        let declaration = try declaration(ofOption: name)
        switch declaration.kind {
        case .option(let valueName):
            guard declaration.isRepeated || texts[name] == nil else {
                throw error(.repeatedOption(name))
            }
            let value = attached ?? Self.detachedValue(&rest)
            guard let value, !value.isEmpty else {
                throw error(.missingValue(option: name, valueName: valueName))
            }
            texts[name, default: []].append(value)
        case .flag, .argument:
            if let attached { throw error(.unexpectedValue(flag: name, value: attached)) }
            texts[name] = [""]
        }
    }

    private static func detachedValue(_ rest: inout ArraySlice<String>) -> String? {
        guard let next = rest.first, next != "--", !looksLikeOption(next) else { return nil }
        return rest.popFirst()
    }

    private func declaration(ofOption name: String) throws(UsageError) -> Declaration {
        let options = parameters.map(\.declaration).filter { $0.kind != .argument }
        if let found = options.first(where: { $0.name == name }) { return found }
        let names = options.map(\.name) + ["--help"]
        let suggestion = closestName(to: name, among: names)
        throw error(.unknownOption(name, suggestion: suggestion))
    }

    /// Assigns arguments in order of declaration. A repeated argument takes all remaining ones.
    private mutating func placeWords() throws(UsageError) {
        var rest = words[...]
        for argument in parameters.map(\.declaration) where argument.kind == .argument {
            let taken = argument.isRepeated ? rest : rest.prefix(1)
            guard !taken.contains("") else { throw error(.missingArgument(argument.name)) }
            rest = rest.dropFirst(taken.count)
            if !taken.isEmpty { texts[argument.name] = Array(taken) }
        }
        if let surplus = rest.first { throw error(.unexpectedArgument(surplus)) }
    }

    private func check() throws(UsageError) {
        for parameter in parameters {
            let declaration = parameter.declaration
            let given = texts[declaration.name] ?? []
            if given.isEmpty, declaration.isRequired { throw error(missing(declaration)) }
            do {
                try parameter.check(given)
            } catch {
                throw self.error(.unfitValue(parameter: declaration.name, error))
            }
        }
    }

    private func missing(_ declaration: Declaration) -> UsageError.Reason {
        guard case .option(let valueName) = declaration.kind else {
            return .missingArgument(declaration.name)
        }
        return .missingOption(declaration.name, valueName: valueName)
    }

    private func error(_ reason: UsageError.Reason) -> UsageError {
        UsageError(reason, command: path)
    }
}
