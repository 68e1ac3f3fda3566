import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON
import TideoverRevenueCat
import TideoverServer

/// `tideover import revenuecat`: imports RevenueCat's answers about customers from a file of lines.
enum ImportRevenueCat {
    private static let file = Parameter.optionalArgument(
        "FILE",
        "The answers of RevenueCat's API, one on each line"
    )
    private static let offerings = Parameter.repeatedOption(
        "--offerings",
        "FILE",
        "Print the configuration of the offerings in a response of RevenueCat's API"
    )
    private static let project = Parameter.option(
        "--from-api",
        "PROJECT",
        "Print the configuration of the offerings of a project, requested from RevenueCat"
    )
    private static let keyFile = Parameter.option(
        "--key-file",
        "FILE",
        "The secret key for --from-api, in one line; without it, the variable REVENUECAT_API_KEY"
    )
    private static let keyVariable = "REVENUECAT_API_KEY"
    private static let dryRun = Parameter.flag(
        "--dry-run",
        "Print what would be imported, and store nothing"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "revenuecat",
        summary: "import RevenueCat's answers about customers",
        examples: [
            Example(
                "tideover import revenuecat answers.jsonl --dry-run",
                "check every line first"
            ),
            Example(
                "tideover import revenuecat answers.jsonl",
                "import them"
            ),
            Example(
                "tideover import revenuecat --offerings ios.json --offerings android.json",
                "print the offerings of both stores for the configuration"
            ),
            Example(
                "tideover import revenuecat --from-api proj1ab2c3d4 --key-file revenuecat.key",
                "request them from RevenueCat"
            ),
        ],
        parameters: [
            file, offerings, project, keyFile, AppAdminClient.app, ConfigurationFile.parameter,
            AdminClient.server, dryRun, json,
        ],
        notes: [
            "A line is an answer of RevenueCat's GET /v1/subscribers/{app_user_id}, without "
                + "line ends. Add the requested id as \"app_user_id\" beside \"subscriber\".",
            "It can be interrupted at any time: the same command continues there, and a line "
                + "that was imported before changes nothing. A rejected line is printed with its "
                + "number, and the others are imported.",
            "With --offerings nothing is imported, and no server is needed. Save the response of "
                + "GET /v2/projects/{project}/offerings?expand=items.package.product, or of "
                + "GET /v1/subscribers/{app_user_id}/offerings for each store. The output is the "
                + "content of revenueCat.sdk, beside the keys.",
            "With --from-api the same is printed from RevenueCat's own answers. The key is a secret "
                + "key of API version 2 that may read the project's configuration. It is sent to "
                + "RevenueCat alone, and not stored.",
            AdminClient.note,
            "Exit code 0 if every line was imported, 1 if one was rejected.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        if arguments.has(keyFile), !arguments.has(project) {
            throw arguments.usageError(.needs("--key-file", other: "--from-api"))
        }
        if let project = arguments[project] {
            return try await printOfferings(of: project, arguments, output)
        }
        guard !arguments.has(offerings) else { return try printOfferings(arguments, output) }
        guard let path = arguments[file] else {
            throw arguments.usageError(.missingOneOf(["FILE", "--offerings", "--from-api"]))
        }
        guard path != FileInput.standardInput else {
            throw CommandFailure(
                .usage,
                "FILE cannot be `-`. Name a file, because it is read twice."
            )
        }
        let asked = try AppAdminClient(arguments, output)
        let file = try LineFile(path)
        let isDryRun = arguments[dryRun]
        let sum = try await asked.adminClient.converse(makesDatabase: true) { ask in
            let work = FileImport(app: asked.app.id, file: file, isDryRun: isDryRun, ask: ask)
            return try await work.run(output, tellsLines: !arguments[json])
        }
        if arguments[json] {
            output.write(sum.form.encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            output.write(Array("\(sum.sentence(isDryRun: isDryRun))\n".utf8))
        }
        return sum.refused == 0 ? .success : .failure
    }
}

extension ImportRevenueCat {
    /// Prints the offerings of one or more responses, in the form of the configuration.
    private static func printOfferings(
        _ arguments: Arguments,
        _ output: Output
    ) throws -> ExitCode {
        guard arguments[file] == nil else {
            throw arguments.usageError(.conflict("--offerings", "FILE"))
        }
        var whole: RevenueCatOfferings?
        for path in arguments[offerings] {
            let read = try offerings(in: path)
            guard var merged = whole else {
                whole = read
                continue
            }
            do throws(RevenueCatOfferingsFault) {
                try merged.merge(read)
            } catch {
                throw CommandFailure(.data, "\(path): \(error.sentence)")
            }
            whole = merged
        }
        guard let whole else { return .failure }
        return printed(whole.configuration, output)
    }

    private static func printed(_ configuration: JSONValue, _ output: Output) -> ExitCode {
        output.write(configuration.encoded(pretty: true) + [UInt8(ascii: "\n")])
        return .success
    }

    /// Prints the offerings of a project, requested from RevenueCat.
    private static func printOfferings(
        of project: String,
        _ arguments: Arguments,
        _ output: Output
    ) async throws -> ExitCode {
        for (name, isGiven) in [
            ("FILE", arguments[file] != nil), ("--offerings", arguments.has(offerings)),
        ] where isGiven {
            throw arguments.usageError(.conflict("--from-api", name))
        }
        let key = try key(arguments)
        let client = try HTTPClient(userAgent: "tideover/\(Tideover.version)")
        let place = Destination(
            try HTTPURL(RevenueCatAPI.url),
            addresses: .any,
            limits: .storeAnswer
        )
        var download = OfferingsDownload(
            project: project,
            key: key,
            handler: client.handler(under: place)
        )
        return printed(try await download.configuration(), output)
    }

    /// Returns the secret key in the named file, else in the variable.
    private static func key(_ arguments: Arguments) throws -> String {
        let text: String
        if let path = arguments[keyFile] {
            text = String(decoding: try FileInput.read(path, atMost: 1 << 12), as: UTF8.self)
        } else {
            text = arguments.variables[keyVariable] ?? ""
        }
        let lines = text.split(whereSeparator: \.isWhitespace)
        guard lines.count == 1, let key = lines.first else {
            throw CommandFailure(
                .usage,
                "--from-api needs a secret key of RevenueCat\n"
                    + "Name a file with one line with --key-file, or set \(keyVariable)."
            )
        }
        return String(key)
    }

    private static func offerings(in path: String) throws -> RevenueCatOfferings {
        let limits = JSONLimits.storeAnswer
        let bytes = try FileInput.read(path, atMost: limits.maxBytes)
        do {
            return try RevenueCatOfferings(JSONDocument(bytes, limits: limits).root)
        } catch let fault as RevenueCatOfferingsFault {
            throw CommandFailure(.data, "\(path): \(fault.sentence)")
        } catch {
            throw CommandFailure(.data, "\(path): it is not strict JSON: \(error)")
        }
    }
}

/// Imports a file, batch by batch.
private struct FileImport {
    let app: String
    let file: LineFile
    let isDryRun: Bool
    let ask: AdminClient.Ask

    func run(_ output: Output, tellsLines: Bool) async throws -> ImportTotal {
        var total = ImportTotal()
        let behind = try await linesKept(output, &total)
        let progress = Progress("importing, bytes", total: file.size, on: output)
        defer { progress.finish() }
        var reached = behind
        do {
            try await file.eachBatch { batch in
                progress.advance(by: batch.bytes.count)
                guard batch.lastLine > behind else { return }
                let told = total.add(JSONValue(try await ask(request(batch))), batch)
                reached = batch.lastLine
                if tellsLines { for line in told { output.message("tideover: \(line)") } }
            }
            if !isDryRun { _ = try await ask(request(nil)) }
        } catch {
            if !isDryRun {
                output.message(
                    "tideover: imported up to line \(reached); repeat the command to continue"
                )
            }
            throw error
        }
        return total
    }

    /// Returns how many lines of this file an earlier run imported; zero if the file changed since.
    private func linesKept(_ output: Output, _ total: inout ImportTotal) async throws -> Int64 {
        guard !isDryRun, let mark = try await ask(Request(path: path))["mark"]?.string else {
            return 0
        }
        var lines: Int64 = 0
        try await file.eachBatch { batch in if batch.mark == mark { lines = batch.lastLine } }
        guard lines > 0 else { return 0 }
        total.linesBefore = lines
        output.message("tideover: continuing after line \(lines), where an earlier run stopped")
        return lines
    }

    private var path: String { "/v1/apps/\(app)/imports/revenuecat" }

    /// Returns the request for a batch. Without a batch, the file is complete and its stored
    /// position is removed.
    private func request(_ batch: LineBatch?) -> Request {
        var query: [QueryItem] = []
        if let batch {
            query.append(QueryItem(name: "linesBefore", value: "\(batch.linesBefore)"))
            query.append(QueryItem(name: "mark", value: batch.mark))
        }
        if isDryRun { query.append(QueryItem(name: "dryRun", value: "true")) }
        return Request(
            method: "POST",
            path: path,
            query: query,
            headers: ["Content-Type": "application/jsonl"],
            body: batch?.bytes ?? []
        )
    }
}

/// The totals of a file.
private struct ImportTotal {
    /// Lines that an earlier run imported.
    var linesBefore: Int64 = 0
    private var lines: Int64 = 0
    private var read: Int64 = 0
    private var known: Int64 = 0
    private(set) var refused: Int64 = 0
    private var newFacts: Int64 = 0
    private var told: [JSONValue] = []

    /// Adds an answer and returns the messages about single lines.
    mutating func add(_ answer: JSONValue, _ batch: LineBatch) -> [String] {
        var news = answer["lines"]?.array ?? []
        for line in batch.tooLong {
            news.append([
                "line": .integer(line), "verdict": "refused", "reason": "too-long",
                "detail": .string(
                    "Line \(line): It has more than \(LineBatch.longestLine) bytes: write each "
                        + "RevenueCat API response on a line of its own."
                ),
            ])
        }
        lines += batch.lastLine - batch.linesBefore
        read = read.addingSaturated(answer["read"]?.int64 ?? 0)
        known = known.addingSaturated(answer["known"]?.int64 ?? 0)
        refused = refused.addingSaturated(answer["refused"]?.int64 ?? 0)
            .addingSaturated(Int64(batch.tooLong.count))
        newFacts = newFacts.addingSaturated(answer["newFacts"]?.int64 ?? 0)
        told += news
        return news.compactMap { $0["detail"]?.string }.map(TextLayout.visible)
    }

    var form: JSONValue {
        [
            "linesBefore": .integer(linesBefore), "lines": .integer(lines),
            "read": .integer(read), "known": .integer(known), "refused": .integer(refused),
            "newFacts": .integer(newFacts), "told": .array(told),
        ]
    }

    func sentence(isDryRun: Bool) -> String {
        "lines \(lines), read \(read), known before \(known), refused \(refused); "
            + "\(isDryRun ? "facts that would be new" : "new facts") \(newFacts)"
    }
}
