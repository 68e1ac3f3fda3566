import Glibc
import TideoverCommandLine

/// `tideover completions`: prints the completion script of a shell.
enum Completions {
    private static let shell = Parameter.argument(
        "SHELL",
        "bash, zsh or fish",
        as: ValueForm<Shell>.choice
    )

    static let command: Command = Command(
        "completions",
        summary: "write a script that completes command lines",
        examples: [
            Example("source <(tideover completions bash)", "in this shell of bash"),
            Example(
                "tideover completions fish > tideover.fish",
                "for ~/.config/fish/completions"
            ),
        ],
        parameters: [shell]
    ) { arguments, output in
        output.write(Array(Tideover.program.completions(for: arguments[shell]).utf8))
        return .success
    }
}

/// `tideover man`: prints man pages, generated from the commands.
enum ManPages {
    private static let words = Parameter.arguments(
        "COMMAND",
        "The command, such as keys add; by default the program's own page",
        isRequired: false
    )
    private static let folder = Parameter.option(
        "--folder",
        "FOLDER",
        "Write the pages of all commands into this folder"
    )

    static let command: Command = Command(
        "man",
        summary: "write man pages",
        examples: [
            Example("tideover man keys add | man -l -", "read one page"),
            Example("tideover man --folder .", "a file for each command"),
        ],
        parameters: [words, folder],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let program = Tideover.program
        let pages = program.manPages
        if let folder = arguments[folder] {
            if !arguments[words].isEmpty {
                throw arguments.usageError(.conflict("COMMAND", "--folder"))
            }
            for page in pages {
                let text = program.manPage(for: page.path)
                try FileOutput.write(Array(text.utf8), to: "\(folder)/\(page.name).1")
            }
            output.message("tideover: wrote \(TextLayout.counted(pages.count, "page"))")
            return .success
        }
        let path = [program.name] + arguments[words]
        guard pages.contains(where: { $0.path == path }) else {
            throw CommandFailure(
                .usage,
                "there is no command `\(TextLayout.visible(arguments[words].joined(separator: " ")))`\n"
                    + "`tideover --help` lists the commands."
            )
        }
        output.write(Array(program.manPage(for: path).utf8))
        return .success
    }
}
