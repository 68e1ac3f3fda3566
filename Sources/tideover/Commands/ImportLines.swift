import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover import FILE` or `tideover import lines FILE`: imports the lines of `tideover export`.
enum ImportLines {
    private static let file = Parameter.argument(
        "FILE",
        "The lines that `tideover export` wrote; - is standard input"
    )
    private static let dryRun = Parameter.flag(
        "--dry-run",
        "Try every line in a temporary empty database, and change nothing"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "lines",
        summary: "import the output of `tideover export`",
        examples: [
            Example(
                "tideover import cards.jsonl",
                "everything of an app, into this database"
            ),
            Example(
                "tideover import cards.jsonl --dry-run",
                "whether every line would be accepted"
            ),
        ],
        parameters: [
            file, AppAdminClient.app, ConfigurationFile.parameter, dryRun, AdminClient.server, json,
        ],
        notes: [
            "Signed data is verified again. A rejected line is printed with its number and "
                + "the reason, and the other lines are imported; exit code 1 if a line was "
                + "rejected.",
            "Existing data stays unchanged: run an interrupted import again.",
            AdminClient.note,
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let asked = try AppAdminClient(arguments, output)
        let lines = try LineInput(arguments[file])
        let progress = Progress("importing lines", on: output)
        let bring = { (ask: AdminClient.Ask) in
            try await Self.bring(lines, into: asked.app.id, progress, ask)
        }
        let told: Told
        do {
            told =
                arguments[dryRun]
                ? try await asked.adminClient.rehearse(bring)
                : try await asked.adminClient.converse(makesDatabase: true, bring)
        } catch {
            progress.finish()
            throw error
        }
        progress.finish()
        if arguments[json] {
            output.write(told.json(isTrial: arguments[dryRun]))
        } else {
            told.print(isTrial: arguments[dryRun], output)
        }
        return told.refused.isEmpty ? .success : .failure
    }

    // MARK: The lines

    /// The size of a batch; a server accepts 256 KiB in one request.
    private static let mostBytes = 192 << 10
    /// The number of rejected lines that are listed one by one.
    private static let mostTold = 1_000

    private static func bring(
        _ lines: LineInput,
        into app: String,
        _ progress: Progress,
        _ ask: AdminClient.Ask
    ) async throws -> Told {
        var told = Told()
        let header = try lines.next() ?? []
        var batch = Batch(header: header, first: 2)
        var number = 1
        func send() async throws {
            let request = Request(method: "POST", path: "/v1/apps/\(app)/import", body: batch.body)
            told.add(try await ask(request), batch)
            progress.advance(by: batch.count)
        }
        while let line = try lines.next() {
            number += 1
            if batch.count > 0, batch.body.count + line.count >= mostBytes {
                try await send()
                // A rejected header rejects everything.
                guard told.headerStands else { return told }
                batch = Batch(header: header, first: number)
            }
            batch.add(line)
        }
        try await send()
        return told
    }

    /// Lines that are sent together, after the header.
    struct Batch {
        private(set) var body: [UInt8]
        private(set) var count = 0
        /// The number of the first line after the header.
        let first: Int

        init(header: [UInt8], first: Int) {
            body = header
            self.first = first
        }

        mutating func add(_ line: [UInt8]) {
            body.append(UInt8(ascii: "\n"))
            body += line
            count += 1
        }

        /// Returns the line number in the file for a line number in the batch.
        func number(_ line: Int) -> Int {
            line == 1 ? 1 : first.addingSaturated(line).addingSaturated(-2)
        }
    }

    // MARK: Result

    struct Told {
        private var lines = 1
        private var added: [(String, Int)] = []
        private var known: [(String, Int)] = []
        private(set) var refused: [(line: Int, code: String, detail: String)] = []
        private var refusedCount = 0

        var headerStands: Bool { !refused.contains { $0.line == 1 } }

        mutating func add(_ answer: JSONNode, _ batch: Batch) {
            lines += batch.count
            Self.add(answer["added"], to: &added)
            Self.add(answer["known"], to: &known)
            for line in answer["refused"]?.elements.map(\.self) ?? [] {
                refusedCount += 1
                guard refused.count < ImportLines.mostTold else { continue }
                let number = batch.number(Int(line["line"]?.int64 ?? 0))
                let (code, detail) = (line["code"]?.string, line["detail"]?.string)
                refused.append((number, code ?? "", detail ?? ""))
            }
        }

        private static func add(_ counts: JSONNode?, to sums: inout [(String, Int)]) {
            for (kind, count) in counts?.members.map(\.self) ?? [] {
                let count = Int(count.int64 ?? 0)
                if let index = sums.firstIndex(where: { $0.0 == kind }) {
                    sums[index].1 = sums[index].1.addingSaturated(count)
                } else {
                    sums.append((kind, count))
                }
            }
        }

        func json(isTrial: Bool) -> [UInt8] {
            var writer = JSONWriter(pretty: true)
            writer.object { writer in
                writer.field("dryRun", isTrial)
                writer.field("lines", lines)
                for (name, counts) in [("added", added), ("known", known)] {
                    writer.field(
                        name,
                        object: { writer in
                            for (kind, count) in counts { writer.field(kind, count) }
                        }
                    )
                }
                writer.field("refusedCount", refusedCount)
                writer.field(
                    "refused",
                    array: { writer in
                        for (line, code, detail) in refused {
                            writer.object { writer in
                                writer.field("line", line)
                                writer.field("code", code)
                                writer.field("detail", detail)
                            }
                        }
                    }
                )
            }
            return writer.bytes + [UInt8(ascii: "\n")]
        }

        func print(isTrial: Bool, _ output: Output) {
            for (line, _, detail) in refused {
                output.message(TextLayout.visible("line \(line): \(detail)"))
            }
            let rest = refusedCount - refused.count
            if rest > 0 {
                let more = TextLayout.counted(rest, "more line")
                output.message("and \(more) \(rest == 1 ? "was" : "were") refused")
            }
            var words = [TextLayout.counted(lines, "line")]
            words += Self.words(added, isTrial ? "would be added" : "added")
            words += Self.words(known, "known already")
            if refusedCount > 0 { words.append("\(refusedCount) refused") }
            output.write(Array("\(words.joined(separator: "\n  "))\n".utf8))
        }

        private static func words(_ counts: [(String, Int)], _ what: String) -> [String] {
            guard !counts.isEmpty else { return [] }
            let list = counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
            return ["\(what): \(list)"]
        }
    }
}
