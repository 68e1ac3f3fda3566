import TideoverCommandLine

/// A small program with the structure of `tideover`: every kind of parameter, and a nested group.
enum Sample {
    enum Environment: String, CaseIterable, Sendable {
        case production, sandbox, simulated
    }

    static let json = Parameter.flag("--json", "print the answer as JSON")
    static let noServe = Parameter.flag("--no-serve", "end after the story instead of serving it")
    static let file = Parameter.argument("FILE", "the message; `-` reads standard input")
    static let app = Parameter.option("--app", "ID", "the app the message was sent for")
    static let roots = Parameter.repeatedOption(
        "--root",
        "DER",
        "a root certificate that vouches for the environment, beside the built-in one"
    )
    static let environment = Parameter.option(
        "--environment",
        "NAME",
        "what the root vouches for",
        as: ValueForm<Environment>.choice,
        default: "production"
    )
    static let appleId = Parameter.option(
        "--app-apple-id",
        "N",
        "Apple's number for the app",
        as: .integer(in: 1...9_999_999_999)
    )
    static let config = Parameter.requiredOption("--config", "FILE", "the configuration")
    static let scenarios = Parameter.arguments("SCENARIO", "what to play")
    static let target = Parameter.optionalArgument("TARGET", "where to deliver")

    static let demo = Command(
        "demo",
        summary: "plays the story of a failed renewal on a simulated store",
        examples: [Example("tideover demo --no-serve", "play the story and end")],
        parameters: [noServe, json]
    ) { arguments, output in
        output.print(arguments[json] ? "{}" : "played")
        return arguments[noServe] ? .success : .failure
    }

    static let inspect = Command(
        "inspect",
        summary: "says what a message is, whether it is believed, and what it would change",
        examples: [
            Example(
                "tideover inspect note.json --app cards",
                "judge a message as the server would"
            ),
            Example(
                "pbpaste | tideover inspect - --root root.der --json",
                "judge what was copied"
            ),
        ],
        parameters: [file, app, roots, environment, appleId, json],
        usage: [
            "FILE|- --app ID [--json]",
            "FILE|- --root DER... --environment production|sandbox|simulated [--app-apple-id N] [--json]",
        ],
        notes: ["The exit code is 0 when the message is accepted and 1 when it is refused."]
    ) { arguments, output in
        if arguments.has(app), !arguments[roots].isEmpty {
            throw arguments.usageError(.conflict("--app", "--root"))
        }
        output.print("\(arguments[file]) \(arguments[environment])")
        return .success
    }

    static let serve = Command(
        "serve",
        summary: "answers over HTTP",
        examples: [Example("tideover serve --config tideover.json", "serve until interrupted")],
        parameters: [config]
    ) { arguments, _ in
        throw CommandFailure(.configuration, "\(arguments[config]): line 3: unknown key")
    }

    static let sandbox = Command(
        "sandbox",
        summary: "a store on your own machine",
        subcommands: [
            Command(
                "run",
                summary: "plays scenarios",
                examples: [Example("tideover sandbox run grace", "play one scenario")],
                parameters: [scenarios, json]
            ) { arguments, output in
                output.print(arguments[scenarios].joined(separator: ","))
                return .success
            },
            Command(
                "control",
                summary: "steers a running store",
                examples: [Example("tideover sandbox control", "show its state")],
                parameters: [target]
            ) { arguments, output in
                output.print(arguments[target] ?? "everywhere")
                return .success
            },
        ]
    )

    static let program = Program(
        "tideover",
        version: "0.1.0",
        summary: "answers whether a customer may use this right now, until when, and why",
        examples: [Example("tideover demo", "see the whole system play a story")],
        commands: [serve, demo, inspect, sandbox]
    )

    /// Runs a command line. Returns the exit code and the output.
    static func run(
        _ line: String...,
        program: Program = program,
        terminal: Terminal = .plain
    ) async -> (code: ExitCode, results: String, messages: String) {
        let output = Output(capturingAs: terminal)
        let code = await program.run(line, output: output)
        return (code, output.results.captured, output.messages.captured)
    }
}
