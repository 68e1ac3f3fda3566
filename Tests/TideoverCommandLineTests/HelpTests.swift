import Testing

@testable import TideoverCommandLine

@Suite struct HelpTests {
    private static let paths = [
        ["tideover"], ["tideover", "demo"], ["tideover", "inspect"], ["tideover", "sandbox"],
        ["tideover", "sandbox", "run"],
    ]

    @Test func `the help of a command begins with examples`() {
        let expected = """
            tideover inspect: says what a message is, whether it is believed, and what it
            would change

            Examples
              tideover inspect note.json --app cards
                  judge a message as the server would
              pbpaste | tideover inspect - --root root.der --json
                  judge what was copied

            Usage
              tideover inspect FILE|- --app ID [--json]
              tideover inspect FILE|- --root DER...
                               --environment production|sandbox|simulated [--app-apple-id N]
                               [--json]

            Arguments
              FILE  the message; `-` reads standard input

            Options
              --app ID            the app the message was sent for
              --root DER          a root certificate that vouches for the environment,
                                  beside the built-in one (may be repeated)
              --environment NAME  what the root vouches for (default production)
              --app-apple-id N    Apple's number for the app
              --json              print the answer as JSON
              -h, --help          print this text and end

            The exit code is 0 when the message is accepted and 1 when it is refused.
            """
        #expect(Sample.program.helpText(for: ["tideover", "inspect"]) == expected)
    }

    @Test func `the help of the program lists its commands`() {
        let expected = """
            tideover: answers whether a customer may use this right now, until when, and why

            Examples
              tideover demo
                  see the whole system play a story

            Usage
              tideover COMMAND ...

            Commands
              serve    answers over HTTP
              demo     plays the story of a failed renewal on a simulated store
              inspect  says what a message is, whether it is believed, and what it would
                       change
              sandbox  a store on your own machine

            Options
              -h, --help  print this text and end
              --version   print the version and end

            `tideover help COMMAND` describes a command.
            """
        #expect(Sample.program.helpText(for: ["tideover"]) == expected)
    }

    @Test(arguments: paths, [40, 57, 80, 200])
    func `no help line is wider than the terminal or 80 columns`(path: [String], width: Int) {
        let terminal = Terminal(isInteractive: true, usesColour: false, width: width)
        for line in Sample.program.helpText(for: path, on: terminal).split(separator: "\n") {
            let isExample = line.contains("tideover ") && line.hasPrefix("  ")
            #expect(
                TextLayout.width(of: String(line)) <= (isExample ? 80 : min(width, 80)),
                "\(line)"
            )
        }
    }

    @Test(arguments: paths)
    func `colours add only escape sequences`(path: [String]) {
        let coloured = Terminal(isInteractive: true, usesColour: true, width: 80)
        let text = Sample.program.helpText(for: path, on: coloured)
        #expect(text.contains("\u{1B}[1mUsage\u{1B}[0m"))
        let bare = text.replacing("\u{1B}[1m", with: "").replacing("\u{1B}[0m", with: "")
        #expect(bare == Sample.program.helpText(for: path))
    }

    @Test func `the usage line shows required and repeated arguments`() {
        let help = Sample.program.helpText(for: ["tideover", "sandbox", "run"])
        #expect(help.contains("  tideover sandbox run SCENARIO... [--json]\n"))
        let serve = Sample.program.helpText(for: ["tideover", "serve"])
        #expect(serve.contains("  tideover serve --config FILE\n"))
        #expect(serve.contains("the configuration (required)\n"))
    }

    @Test(arguments: [
        ("FILE --app ID [--at INSTANT]", ["FILE", "--app ID", "[--at INSTANT]"]),
        ("[FILE [--a B]] --json [--c]", ["[FILE [--a B]]", "--json", "[--c]"]),
    ])
    func `a usage line breaks between its parts`(line: String, units: [String]) {
        #expect(Help.units(of: line) == units)
    }
}
