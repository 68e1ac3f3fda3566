/// A line a person can type, and what it is for.
public struct Example: Hashable, Sendable {
    let line: String
    let purpose: String

    /// An example that begins with the program's name.
    public init(_ line: String, _ purpose: String) {
        self.line = line
        self.purpose = purpose
    }
}

/// One command of the program, or a group of them.
public struct Command: Sendable {
    /// What a command does with what it was given; it may throw a `ReportableFailure` or a
    /// `UsageError`.
    public typealias Action = @Sendable (Arguments, Output) async throws -> ExitCode

    indirect enum Body: Sendable {
        case action([any DeclaredParameter], Action)
        /// The second is meant where none of the first is named.
        case group([Command], Command?)
    }

    /// The word that calls it.
    public let name: String
    /// What it does, in a phrase without a full stop.
    public let summary: String
    let examples: [Example]
    let usage: [String]
    let notes: [String]
    let body: Body

    /// A command that does something.
    ///
    /// `usage` is what follows the command's name, a line for each way to call it, made from the
    /// parameters where it is left empty; `notes` are the paragraphs that close the help text.
    public init(
        _ name: String,
        summary: String,
        examples: [Example],
        parameters: [any DeclaredParameter] = [],
        usage: [String] = [],
        notes: [String] = [],
        run action: @escaping Action
    ) {
        self.name = name
        self.summary = summary
        self.examples = examples
        self.usage = usage
        self.notes = notes
        body = .action(parameters, action)
    }

    /// A group of commands; one of them may be meant where none is named.
    public init(
        _ name: String,
        summary: String,
        examples: [Example] = [],
        notes: [String] = [],
        subcommands: [Command],
        unlessNamed: Command? = nil
    ) {
        self.name = name
        self.summary = summary
        self.examples = examples
        self.usage = []
        self.notes = notes
        body = .group(subcommands, unlessNamed)
    }

    var subcommands: [Command] {
        switch body {
        case .group(let commands, _): commands
        case .action: []
        }
    }

    var parameters: [any DeclaredParameter] {
        switch body {
        case .group: []
        case .action(let parameters, _): parameters
        }
    }

    var declarations: [Declaration] { parameters.map(\.declaration) }
}

/// What a command was given; a parameter of the command reads its value here.
public struct Arguments: Sendable {
    /// The words that called the command, such as `["tideover", "sandbox", "run"]`.
    public let command: [String]
    /// The environment variables that it was called with.
    public internal(set) var variables: [String: String] = [:]
    let texts: [String: [String]]
    let declared: Set<String>

    /// The value of a parameter that the command declares.
    public subscript<Value>(_ parameter: Parameter<Value>) -> Value {
        let name = parameter.declaration.name
        precondition(declared.contains(name), "\(name) is declared by the command that reads it")
        do {
            return try parameter.read(texts[name] ?? [])
        } catch {
            preconditionFailure("the value of \(name) was checked when it was parsed")
        }
    }

    /// Whether a parameter was given at all, be it with its default value.
    public func has(_ parameter: some DeclaredParameter) -> Bool {
        texts[parameter.declaration.name] != nil
    }

    /// A usage error that only the command itself can find, such as two options that exclude each
    /// other.
    public func usageError(_ reason: UsageError.Reason) -> UsageError {
        UsageError(reason, command: command)
    }
}
