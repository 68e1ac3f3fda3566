import Glibc
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer

/// `tideover export`: writes all stored data of an app as lines.
enum Export {
    private static let file = Parameter.optionalArgument(
        "FILE",
        "Where to write; - or nothing is standard output"
    )
    private static let answers = Parameter.flag(
        "--answers",
        "Only customers with their answers, for a database of your own"
    )

    static let command = Command(
        "export",
        summary: "write all stored data of an app as JSON Lines",
        examples: [
            Example(
                "tideover export cards.jsonl",
                "everything, for `tideover import`"
            ),
            Example(
                "tideover export --answers | gzip > answers.gz",
                "the latest answer for every customer"
            ),
        ],
        parameters: [
            file, AppAdminClient.app, ConfigurationFile.parameter, AppAdminClient.oneEnvironment,
            answers,
            AdminClient.server,
        ],
        notes: [
            "Each line is an object with its kind; see docs/export.md. The file contains no "
                + "API keys and no keys that sign passes. It contains signed purchases and "
                + "customers' ids: protect it like the database.",
            "The file appears when it is complete. An existing file is never replaced.",
            AdminClient.note,
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let asked = try AppAdminClient(arguments, output)
        let question = Question(
            app: asked.app.id,
            environments: try asked.environments(arguments),
            answers: arguments[answers]
        )
        let target = try ExportTarget(arguments[file] ?? FileInput.standardInput, output)
        let progress = Progress("exporting lines", on: output)
        do {
            try await asked.adminClient.converse { ask in
                try await write(question, to: target, progress, ask)
            }
        } catch {
            progress.finish()
            target.close()
            throw error
        }
        progress.finish()
        defer { target.close() }
        try target.publish()
        return .success
    }

    /// The app and the environments to export.
    private struct Question {
        let app: String
        let environments: [Environment]
        let answers: Bool

        func page(_ environment: Environment, after: String?) -> Request {
            Request(
                path: "/v1/apps/\(app)/export",
                query: [
                    QueryItem(name: "environment", value: environment.rawValue),
                    QueryItem(name: "answers", value: answers ? "true" : "false"),
                ] + [after.map { QueryItem(name: "after", value: $0) }].compactMap(\.self)
            )
        }
    }

    private static func write(
        _ question: Question,
        to target: ExportTarget,
        _ progress: Progress,
        _ ask: AdminClient.Ask
    ) async throws {
        var isBegun = false
        for environment in question.environments {
            var after: String?
            repeat {
                let page = try await ask(question.page(environment, after: after))
                if !isBegun, let header = page["header"] { try target.write([header]) }
                isBegun = true
                try target.write(page["lines"]?.elements.map(\.self) ?? [])
                progress.advance(by: page["lines"]?.count ?? 0)
                after = page["next"]?.string
            } while after != nil
        }
    }
}

/// The target of an export: standard output, or a file that appears only when it is complete.
private struct ExportTarget {
    private let sink: Sink
    private let path: String
    private let file: UnfinishedFile?

    init(_ path: String, _ output: Output) throws(CommandFailure) {
        guard path != FileInput.standardInput else {
            self.path = "standard output"
            sink = output.results
            file = nil
            return
        }
        guard access(path, F_OK) != 0 else { throw FileOutput.failure(path, EEXIST) }
        StopSignal.removeUnfinishedFiles()
        do {
            let file = try UnfinishedFile(for: path)
            self.path = path
            self.file = file
            sink = Sink(descriptor: file.descriptor)
        } catch {
            throw FileOutput.failure(error.path, error.code)
        }
    }

    func write(_ lines: [JSONNode]) throws(CommandFailure) {
        var text: [UInt8] = []
        for line in lines { text += line.source + [UInt8(ascii: "\n")] }
        sink.write(text)
        if case .failed(let number) = sink.condition { throw FileOutput.failure(path, number) }
    }

    /// Publishes the complete file.
    func publish() throws(CommandFailure) {
        do {
            try file?.publish()
        } catch {
            throw FileOutput.failure(error.path, error.code)
        }
    }

    /// Closes the file, and removes it if it is incomplete.
    func close() { file?.close() }
}
