import Testing

@testable import TideoverCommandLine

@Suite struct InterpreterTests {
    /// Returns the parsed arguments of a command line.
    private func arguments(_ line: [String]) throws -> Arguments {
        let interpretation = try Interpreter(root: Sample.program.root).interpret(line)
        guard case .run(_, let arguments) = interpretation else {
            throw CommandFailure(.failure, "\(line) asks for help")
        }
        return arguments
    }

    private func refusal(_ line: [String]) -> UsageError.Reason? {
        do {
            _ = try Interpreter(root: Sample.program.root).interpret(line)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(arguments: [
        ["inspect", "note.json", "--app", "cards", "--json"],
        ["inspect", "--app=cards", "--json", "note.json"],
        ["inspect", "--json", "note.json", "--app", "cards"],
        ["inspect", "--json", "--app", "cards", "--", "note.json"],
    ])
    func `options are accepted at any position`(line: [String]) throws {
        let arguments = try arguments(line)
        #expect(arguments[Sample.file] == "note.json")
        #expect(arguments[Sample.app] == "cards")
        #expect(arguments[Sample.json])
        #expect(arguments.command == ["tideover", "inspect"])
    }

    @Test func `an absent option has its default`() throws {
        let arguments = try arguments(["inspect", "-"])
        #expect(arguments[Sample.file] == "-")
        #expect(arguments[Sample.app] == nil)
        #expect(arguments[Sample.roots].isEmpty)
        #expect(arguments[Sample.environment] == .production)
        #expect(arguments[Sample.appleId] == nil)
        #expect(!arguments[Sample.json])
        #expect(!arguments.has(Sample.environment))
    }

    @Test func `values are read into their types`() throws {
        let arguments = try arguments([
            "inspect", "f", "--environment", "sandbox", "--app-apple-id=1234567890",
        ])
        #expect(arguments[Sample.environment] == .sandbox)
        #expect(arguments[Sample.appleId] == 1_234_567_890)
        #expect(arguments.has(Sample.environment))
    }

    @Test func `a repeated option keeps the order it was given in`() throws {
        let arguments = try arguments(["inspect", "--root", "a.der", "f", "--root=b.der"])
        #expect(arguments[Sample.roots] == ["a.der", "b.der"])
    }

    @Test func `two dashes end the options`() throws {
        let arguments = try arguments(["inspect", "--", "--json"])
        #expect(arguments[Sample.file] == "--json")
        #expect(!arguments[Sample.json])
    }

    @Test func `an attached value can begin with a dash and contain an equals sign`() throws {
        let arguments = try arguments(["inspect", "f", "--app=--a=b"])
        #expect(arguments[Sample.app] == "--a=b")
    }

    @Test func `a negative number is read as a value`() {
        let unfit = UnfitValue(
            text: "-5",
            expected: "a whole number from 1 to 9999999999",
            suggestion: nil
        )
        #expect(
            refusal(["inspect", "f", "--app-apple-id", "-5"])
                == .unfitValue(parameter: "--app-apple-id", unfit)
        )
    }

    @Test func `a command inside a group is found`() throws {
        let arguments = try arguments(["sandbox", "run", "grace", "retry"])
        #expect(arguments.command == ["tideover", "sandbox", "run"])
        #expect(arguments[Sample.scenarios] == ["grace", "retry"])
    }

    @Test(
        arguments: [
            ([], .missingCommand),
            (["sandbox"], .missingCommand),
            (["dmeo"], .unknownCommand("dmeo", suggestion: "demo")),
            (["frobnicate"], .unknownCommand("frobnicate", suggestion: nil)),
            (["version"], .unknownCommand("version", suggestion: "--version")),
            (["sandbox", "rnu"], .unknownCommand("rnu", suggestion: "run")),
            (["help", "dmeo"], .unknownCommand("dmeo", suggestion: "demo")),
            (["demo", "--no-serv"], .unknownOption("--no-serv", suggestion: "--no-serve")),
            (["demo", "--no"], .unknownOption("--no", suggestion: "--no-serve")),
            (["demo", "-j"], .unknownOption("-j", suggestion: nil)),
            (["demo", "--frobnicate=3"], .unknownOption("--frobnicate", suggestion: nil)),
            (["--verison"], .unknownOption("--verison", suggestion: "--version")),
            (["--json", "demo"], .optionBeforeCommand("--json")),
            (["inspect", "f", "--app"], .missingValue(option: "--app", valueName: "ID")),
            (["inspect", "f", "--app", "--json"], .missingValue(option: "--app", valueName: "ID")),
            (
                ["inspect", "f", "--app", "--", "x"],
                .missingValue(option: "--app", valueName: "ID")
            ),
            (["inspect", "f", "--app="], .missingValue(option: "--app", valueName: "ID")),
            (["inspect", "f", "--app", ""], .missingValue(option: "--app", valueName: "ID")),
            (["demo", "--json=yes"], .unexpectedValue(flag: "--json", value: "yes")),
            (["inspect", "f", "--app", "a", "--app", "b"], .repeatedOption("--app")),
            (["serve"], .missingOption("--config", valueName: "FILE")),
            (["inspect"], .missingArgument("FILE")),
            (["inspect", ""], .missingArgument("FILE")),
            (["sandbox", "run"], .missingArgument("SCENARIO")),
            (["inspect", "f", "g"], .unexpectedArgument("g")),
            (["demo", "now"], .unexpectedArgument("now")),
            (
                ["inspect", "f", "--environment", "prodution"],
                .unfitValue(
                    parameter: "--environment",
                    UnfitValue(
                        text: "prodution",
                        expected: "production, sandbox or simulated",
                        suggestion: "production"
                    )
                )
            ),
        ] as [([String], UsageError.Reason)]
    )
    func `each kind of wrong usage has its own error`(line: [String], reason: UsageError.Reason) {
        #expect(refusal(line) == reason)
    }

    @Test func `a flag can be given twice`() throws {
        #expect(try arguments(["demo", "--json", "--json"])[Sample.json])
    }

    @Test(arguments: [
        (["--help"], ["tideover"]),
        (["-h"], ["tideover"]),
        (["help"], ["tideover"]),
        (["help", "demo"], ["tideover", "demo"]),
        (["help", "sandbox", "run"], ["tideover", "sandbox", "run"]),
        (["sandbox", "help", "run"], ["tideover", "sandbox", "run"]),
        (["sandbox", "--help"], ["tideover", "sandbox"]),
        (["inspect", "--frobnicate", "--app", "-h"], ["tideover", "inspect"]),
    ])
    func `help is shown whatever else the line contains`(line: [String], path: [String]) throws {
        guard case .help(path) = try Interpreter(root: Sample.program.root).interpret(line) else {
            Issue.record("\(line) does not ask for the help of \(path)")
            return
        }
    }

    @Test func `help after two dashes is an argument`() throws {
        #expect(try arguments(["inspect", "--", "--help"])[Sample.file] == "--help")
    }
}
