import Foundation

/// The rules of the house that no compiler checks, each a function from text to violations.
enum HouseRules {
    /// The modules by level, as ARCHITECTURE.md draws them: imports only go down.
    static let levels: [Set<String>] = [
        ["TideoverASN1", "TideoverCalendar", "TideoverJSON", "TideoverLocks"],
        ["TideoverCore", "TideoverSignatures", "TideoverHTTP", "TideoverStoreKitFile"],
        [
            "TideoverAppStore", "TideoverGooglePlay", "TideoverRevenueCat", "TideoverStorage",
            "TideoverHTTPServer", "TideoverHTTPClient", "TideoverSandbox", "TideoverDashboard",
        ],
        [
            "TideoverSQLite", "TideoverPostgreSQL", "TideoverKit", "TideoverConfiguration",
            "TideoverCommandLine",
        ],
        ["TideoverDoctor"],
        ["TideoverServer"],
        ["TideoverRehearsal"],
        ["tideover"],
    ]

    /// Who may use a library of the system.
    static let owners = [
        "CTideoverOpenSSL": "TideoverSignatures",
        "CTideoverSQLite": "TideoverSQLite",
        "CTideoverSQLiteLog": "TideoverSQLite",
        "CTideoverPostgreSQL": "TideoverPostgreSQL",
        "CTideoverMicrohttpd": "TideoverHTTPServer",
        "CTideoverCurl": "TideoverHTTPClient",
        "CTideoverBuild": "tideover",
        "CTideoverOpenAPI": "TideoverServer",
    ]

    /// What a module imports at most, where its level alone would allow more.
    static let narrow: [String: Set<String>] = [
        // Stores are read without crypto, without sockets and without disk.
        "TideoverAppStore": ["TideoverASN1", "TideoverCore", "TideoverHTTP", "TideoverJSON"],
        // What goes to the network goes by a handler.
        "TideoverGooglePlay": ["TideoverCore", "TideoverHTTP", "TideoverJSON"],
        "TideoverRevenueCat": ["TideoverCore", "TideoverHTTP", "TideoverJSON"],
        // A store that shared the decoder's types would agree with a wrong field.
        "TideoverSandbox": [
            "TideoverCalendar", "TideoverHTTP", "TideoverJSON", "TideoverLocks",
            "TideoverSignatures", "TideoverStoreKitFile",
        ],
        // Composition only: sockets and databases are handed in.
        "TideoverServer": [
            "TideoverAppStore", "TideoverConfiguration", "TideoverCore", "TideoverDashboard",
            "TideoverDoctor", "TideoverGooglePlay", "TideoverHTTP", "TideoverJSON",
            "TideoverLocks", "TideoverRevenueCat", "TideoverSignatures", "TideoverStorage",
        ],
        // Verdicts are functions of readings; stores are asked by handlers.
        "TideoverDoctor": [
            "TideoverAppStore", "TideoverConfiguration", "TideoverCore", "TideoverGooglePlay",
            "TideoverHTTP", "TideoverJSON", "TideoverRevenueCat", "TideoverSignatures",
            "TideoverStorage",
        ],
        // Files are read by functions that are handed in.
        "TideoverConfiguration": [
            "TideoverAppStore", "TideoverCore", "TideoverGooglePlay", "TideoverHTTP",
            "TideoverJSON", "TideoverSignatures", "TideoverStorage", "TideoverStoreKitFile",
        ],
        // Pages are functions of values.
        "TideoverDashboard": ["TideoverCore", "TideoverHTTP", "TideoverJSON"],
        "TideoverCommandLine": ["TideoverJSON", "TideoverLocks"],
        // An app's developer needs no library of the system.
        "TideoverKit": ["TideoverAppStore", "TideoverCore", "TideoverHTTP", "TideoverJSON"],
    ]

    /// Where Foundation may be imported: what only an Apple app needs of it.
    static let foundationFolder = "Sources/TideoverKit/Apple/"

    /// What an app embeds: built by compilers and for systems older than ours.
    static let kitVisible: Set<String> = [
        "TideoverASN1", "TideoverCalendar", "TideoverJSON", "TideoverCore", "TideoverAppStore",
        "TideoverHTTP", "TideoverKit",
    ]

    /// The modules of the library products. What these declare as public is a promise.
    static let promised: Set<String> = [
        "TideoverCore", "TideoverKit", "TideoverSandbox", "TideoverASN1", "TideoverHTTP",
        "TideoverJSON", "TideoverSignatures", "TideoverStoreKitFile",
    ]

    // MARK: - Imports

    /// The modules a file imports, with the line of each.
    static func imports(of file: SourceFile) -> [(index: Int, module: String)] {
        file.code.all.indices.compactMap { index in
            let words = file.code.all[index].split(separator: " ")
            guard let keyword = words.firstIndex(of: "import"),
                words[..<keyword].allSatisfy({ importModifiers.contains($0) || $0.hasPrefix("@") })
            else { return nil }
            let kinds: Set<Substring> = [
                "struct", "class", "enum", "protocol", "func", "var", "let",
            ]
            let name = words[words.index(after: keyword)...].first { !kinds.contains($0) }
            return name.map { (index, String($0.prefix { $0 != "." && $0 != ";" })) }
        }
    }

    private static let importModifiers: Set<Substring> = [
        "public", "package", "internal", "fileprivate", "private",
    ]

    static func wrongImports(_ file: SourceFile) -> [String] {
        guard let module = file.module else { return [] }
        return imports(of: file).compactMap { index, imported in
            let isApples = file.path.hasPrefix(foundationFolder) && imported == "Foundation"
            return isApples
                ? nil : objection(to: imported, in: module).map { file.violation(index, $0) }
        }
    }

    private static func objection(to imported: String, in module: String) -> String? {
        if imported.hasPrefix("Foundation") { return "\(module) has no use for \(imported)" }
        if imported.hasPrefix("CTideover") {
            return owners[imported] == module ? nil : "\(imported) is not for \(module)"
        }
        guard imported.lowercased().hasPrefix("tideover") else {
            let isPure = kitVisible.contains(module) && module != "TideoverKit"
            return isPure ? "\(module) imports \(imported), which is not ours" : nil
        }
        guard let own = level(of: module), let other = level(of: imported) else {
            return "\(module) or \(imported) has no level"
        }
        if other >= own { return "\(module) imports \(imported), which is not below it" }
        if let narrow = narrow[module], !narrow.contains(imported) {
            return "\(module) is not to know \(imported)"
        }
        return nil
    }

    private static func level(of module: String) -> Int? {
        levels.firstIndex { $0.contains(module) }
    }

    // MARK: - Words of the code

    static func impureCore(_ file: SourceFile) -> [String] {
        guard file.module == "TideoverCore" else { return [] }
        let words = [
            "Date(", "UUID(", "clock_gettime", "ContinuousClock", "SuspendingClock", "random",
            "randomElement", "shuffled", "SystemRandomNumberGenerator", "Task", "async", "await",
            "actor", "print(",
        ]
        return found(words, in: file) { "the core is pure; `\($0)` is not" }
    }

    /// Whether a file has the statements that SQLite and PostgreSQL both run.
    private static func isOfBothStorages(_ file: SourceFile) -> Bool {
        file.path == "Sources/TideoverStorage/CommonSQL.swift"
    }

    /// Statements that databases compatible with PostgreSQL, but distributed, lack or must not use.
    static func unportableSQL(_ file: SourceFile) -> [String] {
        guard file.module == "TideoverPostgreSQL" || isOfBothStorages(file) else { return [] }
        let words = [
            "SEQUENCE", "nextval", "SERIAL", "BIGSERIAL", "IDENTITY", "TRIGGER", "FUNCTION",
            "LISTEN",
            "NOTIFY", "pg_advisory_lock", "pg_advisory_xact_lock", "pg_try_advisory_lock", "ctid",
            "SERIALIZABLE", "LOCK TABLE",
        ]
        return words.flatMap { word in
            file.literals.containing(word).map {
                file.violation($0, "distributed databases lack `\(word)`, or pay dearly for it")
            }
        }
    }

    /// Statements of both storages with parameters that SQLite would number differently. It numbers
    /// them by their first use, and `$1::text` apart from `$1`. Each value would belong to another
    /// parameter, without an error.
    static func misnumberedParameters(_ file: SourceFile) -> [String] {
        guard isOfBothStorages(file) else { return [] }
        let statement = /: StaticString =\s*(?:"""\n((?:.|\n)*?)"""|"(.*?)")/
        return file.written.text.matches(of: statement).flatMap { found -> [String] in
            let sql = found.1 ?? found.2 ?? ""
            var used: [Substring] = []
            for parameter in sql.matches(of: /[$?]([0-9A-Za-z_:(]*)/).map(\.1)
            where !used.contains(parameter) {
                used.append(parameter)
            }
            let isInOrder = used.enumerated().allSatisfy { "\($0 + 1)" == $1 }
            guard sql.contains("?") || !isInOrder else { return [] }
            let line = file.written.text[..<found.range.lowerBound].count { $0 == "\n" }
            return [file.violation(line, "SQLite numbers these parameters differently")]
        }
    }

    static func tooNewForTheKit(_ file: SourceFile) -> [String] {
        guard let module = file.module, kitVisible.contains(module) else { return [] }
        let words = [
            "Synchronization", "Task.immediate", "InlineArray", "Span<", "RawSpan", "MutableSpan<",
            "Int128", "UInt128", "any AsyncSequence", "some AsyncSequence", "isolated deinit",
            "Task(name:", "#Playground",
            // StoreKit
            "winBackOffer", "appTransactionID", "currentEntitlements(for:", "Transaction.all(for:",
            "status(transactionID:", "StoreKit.SubscriptionStatus", "pricingTerms",
            "confirmIn viewController", "PurchaseIntent",
            // SwiftUI
            "@Entry", "MeshGradient", "onScrollGeometryChange", "glassEffect", "TextRenderer",
            "@Previewable", "subscriptionOfferView", "preferredSubscriptionOffer",
        ]
        return found(words, in: file) { "`\($0)` needs a system newer than the kit's oldest" }
    }

    static func publicOutsideProducts(_ file: SourceFile) -> [String] {
        guard let module = file.module, !promised.contains(module) else { return [] }
        return file.code.all.indices.filter { startsPublic(file.code.all[$0]) }.map {
            file.violation($0, "no product has \(module): `package` instead of `public`")
        }
    }

    private static func startsPublic(_ line: String) -> Bool {
        let modifiers: Set<Substring> = ["final", "static", "nonisolated", "indirect", "mutating"]
        return line.split(separator: " ").first { word in
            !word.hasPrefix("@") && !modifiers.contains(word)
        } == "public"
    }

    static func crashesWithoutAReason(_ file: SourceFile) -> [String] {
        guard file.module != nil else { return [] }
        return found(["fatalError("], in: file) {
            "`\($0)`: say what was violated by `precondition`"
        }
    }

    /// Lines that can end the process, beyond those that the page on traps argues for. Its tables have
    /// rows of a file under `Sources`, in backticks, a count of lines, and a reason.
    static func unarguedTraps(_ files: [SourceFile], page: SourceFile) -> [String] {
        var argued: [String: Int] = [:]
        for (index, line) in page.written.all.enumerated() {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 3, cells[0].hasPrefix("`"), let count = Int(cells[1]) else {
                continue
            }
            let path = "Sources/" + cells[0].trimmingCharacters(in: ["`"])
            guard argued.updateValue(count, forKey: path) == nil, !cells[2].isEmpty else {
                return [page.violation(index, "`\(path)` is listed twice or without a reason")]
            }
        }
        let strangers = argued.keys.filter { path in !files.contains { $0.path == path } }
        return strangers.sorted().map { "\(page.path): there is no `\($0)`" }
            + files.filter { $0.module != "TideoverSandbox" }.flatMap { file in
                let traps = Set(Self.traps.flatMap(file.code.containing)).sorted()
                let most = argued[file.path] ?? 0
                return traps.count <= most
                    ? []
                    : [file.violation(traps[most], "\(page.path) argues for \(most) traps here")]
            }
    }

    private static let traps = [
        "precondition(", "preconditionFailure(", "assert(", "assertionFailure(", "fatalError(",
    ]

    static func invisibleLocks(_ file: SourceFile) -> [String] {
        found(["Mutex(", "Mutex<"], in: file) {
            "`\($0)`: the thread sanitizer takes what it guards for a race; `Locked` it sees"
        }
    }

    static func foundationsProcesses(_ file: SourceFile) -> [String] {
        found([" Process("], in: file) {
            "`\($0.dropFirst())`: Foundation's reads past a folder's entries; `ChildProcess` does not"
        }
    }

    static func unexplainedEscapes(_ file: SourceFile) -> [String] {
        ["@unchecked Sendable", "nonisolated(unsafe)"].flatMap { word in
            file.code.containing(word).filter { !isExplained($0, file) }.map {
                file.violation($0, "`\(word)` without its reason on this line or the one before")
            }
        }
    }

    private static func isExplained(_ index: Int, _ file: SourceFile) -> Bool {
        let before =
            index > 0 ? file.written.all[index - 1].trimmingCharacters(in: .whitespaces) : ""
        return before.hasPrefix("//") || file.written.all[index].contains("//")
    }

    static func strayStatements(_ file: SourceFile) -> [String] {
        guard let module = file.module, !isOfBothStorages(file),
            !["TideoverSQLite", "TideoverPostgreSQL"].contains(module)
        else { return [] }
        let words = [
            "SELECT", "INSERT INTO", "INSERT OR", "DELETE FROM", "CREATE TABLE", "CREATE INDEX",
            "CREATE UNIQUE INDEX", "ALTER TABLE", "DROP TABLE", "PRAGMA",
        ]
        return words.flatMap { word in
            file.literals.containing(word).map {
                file.violation($0, "`\(word)`: SQL statements belong in the database's module")
            }
        }
    }

    /// Markup in a string literal, which would bypass the types that escape. Only the writer of HTML
    /// may create markup.
    static func writtenMarkup(_ file: SourceFile) -> [String] {
        let isPage =
            file.module == "TideoverDashboard"
            || file.path.hasPrefix("Sources/TideoverServer/Dashboard/")
        guard isPage, !file.path.hasSuffix("/HTML/HTMLWriter.swift") else { return [] }
        return file.literals.all.indices.filter { index in
            file.literals.all[index].contains("<") || file.literals.all[index].contains("&#")
        }.map { file.violation($0, "markup in a text: use `HTML`, which escapes") }
    }

    private static func found(
        _ words: [String],
        in file: SourceFile,
        _ sentence: (String) -> String
    ) -> [String] {
        words.flatMap { word in
            file.code.containing(word).map { file.violation($0, sentence(word)) }
        }
    }

    // MARK: - Words anywhere

    /// Put together here, so that this file does not hold what it looks for.
    private static let unfinished = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
    private static let machinePaths = ["/wo" + "rk/", "/tmp" + "/w/"]

    static func unfinishedWork(_ file: SourceFile) -> [String] {
        unfinished.flatMap { word in
            file.written.containing(word).map { file.violation($0, "unfinished: \(word)") }
        }
    }

    static func pathsOfOneMachine(_ file: SourceFile) -> [String] {
        machinePaths.flatMap { path in
            file.written.all.indices.filter { file.written.all[$0].contains(path) }.map {
                file.violation($0, "`\(path)` exists on one machine only")
            }
        }
    }

    // MARK: - Names

    /// The names of the targets that a manifest declares, by the words it declares them with.
    static func targets(of manifest: SourceFile) -> [(index: Int, name: String)] {
        let openings = [
            "library(", "synchronous(", "tests(", ".target(", ".testTarget(", ".systemLibrary(",
            ".executableTarget(", ".plugin(", ".macro(",
        ]
        return manifest.written.all.indices.compactMap { index in
            let line = manifest.written.all[index].trimmingCharacters(in: .whitespaces)
            guard openings.contains(where: line.hasPrefix) else { return nil }
            let rest = manifest.written.all[index...].prefix(3).joined(separator: "\n")
            guard let opening = rest.firstIndex(of: "("),
                let name = firstLiteral(in: rest[opening...])
            else { return nil }
            return (index, name)
        }
    }

    private static func firstLiteral(in text: Substring) -> String? {
        guard let quote = text.firstIndex(of: "\"") else { return nil }
        // `name: name` is the helper's own parameter: the name is given where it is called.
        let lead = text[text.index(after: text.startIndex)..<quote]
        guard ["", "name:"].contains(lead.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            return nil
        }
        return String(text[text.index(after: quote)...].prefix { $0 != "\"" })
    }

    static func foreignTargetNames(_ manifest: SourceFile) -> [String] {
        let prefixes = ["Tideover", "CTideover", "tideover"]
        return targets(of: manifest).filter { target in
            !prefixes.contains(where: target.name.hasPrefix)
        }.map {
            manifest.violation(
                $0.index,
                "`\($0.name)` may be a target in a user's package graph too"
            )
        }
    }

    static func undrawnModules(_ architecture: String, modules: [String]) -> [String] {
        let file = SourceFile(path: "ARCHITECTURE.md", text: architecture)
        return modules.filter { file.written.containing($0).isEmpty }
            .map { "ARCHITECTURE.md: does not name \($0)" }
    }
}
