import Glibc
import Testing

@testable import TideoverCommandLine

@Suite struct ProgramTests {
    @Test func `a command sets the exit code`() async {
        let ended = await Sample.run("demo", "--no-serve", "--json")
        #expect(ended.code == .success)
        #expect(ended.results == "{}\n")
        #expect(ended.messages.isEmpty)
        #expect(await Sample.run("demo").code == .failure)
    }

    @Test func `the version is written to standard output`() async {
        let ended = await Sample.run("--version")
        #expect(ended.code == .success)
        #expect(ended.results == "tideover 0.1.0\n")
    }

    @Test func `wrong usage exits with 2 and suggests the intended option`() async {
        let ended = await Sample.run("demo", "--no-serv")
        #expect(ended.code == .usage)
        #expect(ended.results.isEmpty)
        #expect(
            ended.messages == """
                tideover: there is no option `--no-serv`; did you mean `--no-serve`?
                usage: tideover demo [--no-serve] [--json]
                `tideover demo --help` has more.

                """
        )
    }

    @Test func `a command can report wrong usage itself`() async {
        let ended = await Sample.run("inspect", "f", "--app", "cards", "--root", "r.der")
        #expect(ended.code == .usage)
        #expect(ended.messages.hasPrefix("tideover: `--app` and `--root` cannot be combined\n"))
    }

    @Test func `a line without a command writes the help to standard error`() async {
        let ended = await Sample.run()
        #expect(ended.code == .usage)
        #expect(ended.results.isEmpty)
        #expect(ended.messages == Sample.program.helpText(for: ["tideover"]) + "\n")
    }

    @Test func `a failure prints its sentence and sets its exit code`() async {
        let ended = await Sample.run("serve", "--config", "tideover.json")
        #expect(ended.code == .configuration)
        #expect(ended.messages == "tideover: tideover.json: line 3: unknown key\n")
    }

    @Test func `an unexpected error is reported as an internal error`() async {
        struct Surprise: Error {}
        let program = Program(
            "tideover",
            version: "0",
            summary: "fails",
            commands: [Command("fail", summary: "fails", examples: []) { _, _ in throw Surprise() }]
        )
        let ended = await Sample.run("fail", program: program)
        #expect(ended.code == .software)
        #expect(ended.messages.contains("Surprise"))
    }

    @Test func `a process ends with the exit code of its command`() async {
        // The test runner's own arguments are not a valid command line.
        await #expect(processExitsWith: .exitCode(ExitCode.usage.rawValue)) {
            await Sample.program.main()
        }
    }

    @Test func `a file opened while standard output is closed is not written to`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            // Another thread of the runner can open a file in between, which takes the number.
            for _ in 0..<5 {
                close(STDIN_FILENO)
                close(STDOUT_FILENO)
                StandardStreams.prepare()
                let file = open("/dev/null", O_RDWR)
                let output = Output.standard()
                output.print("lost")
                let isTold = output.results.condition == .failed(EBADF)
                if file > STDERR_FILENO && isTold { exit(0) }
            }
            exit(1)
        }
    }

    @Test func `a closed pipe does not end the process`() async {
        await #expect(processExitsWith: .exitCode(3)) {
            StandardStreams.prepare()
            var ends: [Int32] = [-1, -1]
            pipe(&ends)
            close(ends[0])
            Sink(descriptor: ends[1]).write([0])
            exit(3)
        }
    }

    @Test func `control characters of the arguments are escaped in messages`() async {
        let ended = await Sample.run("de\u{1B}[31mmo\n")
        #expect(ended.messages.hasPrefix("tideover: there is no command `de\\u{1B}[31mmo\\n`\n"))
    }

    @Test func `every reason has a message`() {
        let unfit = UnfitValue(text: "x", expected: "a text", suggestion: nil)
        let reasons: [UsageError.Reason] = [
            .missingCommand, .unknownCommand("a", suggestion: "b"),
            .unknownOption("a", suggestion: nil), .optionBeforeCommand("--a"),
            .missingValue(option: "--a", valueName: "A"), .unexpectedValue(flag: "--a", value: "b"),
            .repeatedOption("--a"), .missingOption("--a", valueName: "A"), .missingArgument("A"),
            .unexpectedArgument("a"), .unfitValue(parameter: "--a", unfit),
            .conflict("--a", "--b"), .missingOneOf(["--a", "--b", "--c"]),
            .needs("--a", other: "--b"),
        ]
        let sentences = reasons.map(Words.sentence)
        #expect(Set(sentences).count == reasons.count)
        #expect(sentences.contains("give `--a`, `--b` or `--c`"))
    }

    @Test func `a valid declaration has no faults`() {
        #expect(Sample.program.faults == [])
    }

    @Test func `each fault of a declaration is found`() {
        let flag = Parameter.flag("--a", "a")
        let program = Program(
            "p",
            version: "0",
            summary: "s",
            commands: [
                Command(
                    "twice",
                    summary: "s",
                    examples: [],
                    parameters: [flag, flag],
                    run: { _, _ in .success }
                ),
                Command(
                    "order",
                    summary: "s",
                    examples: [Example("p order", "an argument is missing")],
                    parameters: [
                        Parameter.optionalArgument("A", "a"), Parameter.argument("B", "b"),
                    ],
                    run: { _, _ in .success }
                ),
                Command(
                    "usage",
                    summary: "s",
                    examples: [Example("q usage", "no such program"), Example("p help", "fine")],
                    usage: ["[--gone]"],
                    run: { _, _ in .success }
                ),
                Command(
                    "other",
                    summary: "s",
                    examples: [Example("p usage", "elsewhere")],
                    parameters: [Parameter.flag("short", "s"), Parameter.flag("--help", "h")],
                    run: { _, _ in .success }
                ),
            ]
        )
        #expect(
            program.faults == [
                "p twice: `--a` is there twice",
                "p twice: `--a` is there twice",
                "p order: `B` is required after `A`, which is not",
                "p order: `p order` fails: B is missing",
                "p usage: the usage names `--gone`, which is not declared",
                "p usage: `q usage` does not call `p`",
                "p other: `--help` is the program's own",
                "p other: `short` is not written as an option",
                "p other: `p usage` calls another command",
            ]
        )
    }

    @Test(arguments: [
        ("tideover inspect a.json", [["tideover", "inspect", "a.json"]]),
        (
            "tideover grant u --why 'a gift' > out",
            [["tideover", "grant", "u", "--why", "a gift"], ["out"]]
        ),
        ("tideover x --a=\"b c\"d ''", [["tideover", "x", "--a=b cd", ""]]),
        ("cat a | tideover b && c", [["cat", "a"], ["tideover", "b"], ["c"]]),
        ("", []),
    ])
    func `an example is split into words as a shell does`(line: String, commands: [[String]]) {
        #expect(ShellWords.commands(of: line) == commands)
    }
}
