/// An example command line and its purpose.
package struct Example: Hashable, Sendable {
    let line: String
    let purpose: String

    /// Creates an example that begins with the program's name.
    package init(_ line: String, _ purpose: String) {
        self.line = line
        self.purpose = purpose
    }
}

/// One command of the program, or a group of commands.
package struct Command: Sendable {
    /// Runs a command with its arguments. May throw a `ReportableFailure` or a `UsageError`.
    package typealias Action = @Sendable (Arguments, Output) async throws -> ExitCode

    indirect enum Body: Sendable {
        case action([any DeclaredParameter], Action)
        /// Commands, and the default one if none is named.
        case group([Command], Command?)
    }

    /// The name that calls the command.
    package let name: String
    /// The command's purpose, in a phrase without a full stop.
    package let summary: String
    let examples: [Example]
    let usage: [String]
    let notes: [String]
    let body: Body

    /// Creates a command with an action.
    ///
    /// `usage` has one line for each form of the call, without the command's name. If it is empty,
    /// the parameters define it. `notes` are the last paragraphs of the help text.
    package init(
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

    /// Creates a group of commands. One of them may be the default if none is named.
    package init(
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

/// The arguments of a command. Each parameter of the command reads its value from them.
package struct Arguments: Sendable {
    /// The names that called the command, such as `["tideover", "sandbox", "run"]`.
    package let command: [String]
    /// The environment variables of the call.
    package internal(set) var variables: [String: String] = [:]
    let texts: [String: [String]]
    let declared: Set<String>

    /// The value of a parameter that the command declares.
    package subscript<Value>(_ parameter: Parameter<Value>) -> Value {
        let name = parameter.declaration.name
        precondition(declared.contains(name), "\(name) is declared by the command that reads it")
        do {
            return try parameter.read(texts[name] ?? [])
        } catch {
            preconditionFailure("the value of \(name) was checked when it was parsed")
        }
    }

    /// Whether a parameter was given, even with its default value.
    package func has(_ parameter: some DeclaredParameter) -> Bool {
        texts[parameter.declaration.name] != nil
    }

    /// Returns a usage error that only the command itself can detect, such as two conflicting
    /// options.
    package func usageError(_ reason: UsageError.Reason) -> UsageError {
        UsageError(reason, command: command)
    }
}
