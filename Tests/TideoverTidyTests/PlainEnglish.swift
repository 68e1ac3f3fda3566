/// Finds the idioms that the project refuses in documents, comments and string literals.
/// `scripts/plain-english.py` counts more of them, also those that can be plain.
enum PlainEnglish {
    /// Words to replace, with the plain ones.
    static let words: [String: String] = {
        let list = [
            ("tell tells told telling", "report, state, name"),
            ("nobody somebody", "no customer, a person"),
            ("stands stood", "is, applies, appears"),
            ("hears heard unheard", "receive, know"),
            ("speaks spoke spoken", "report, state"),
            ("nought", "zero"),
            ("whomever whoever", "the customer that, anyone who"),
        ]
        return list.reduce(into: [:]) { words, entry in
            for word in entry.0.split(separator: " ") { words[String(word)] = entry.1 }
        }
    }()

    /// Two words that must not follow each other, with the plain ones.
    static let pairs = [
        "hold to": "check against", "holds to": "checks against", "held to": "checked against",
        "that which": "what", "lets go": "releases", "let go": "release",
    ]

    /// The idioms that a file may contain, because they are names of data.
    static let exceptions: [String: Set<String>] = [
        "Benchmarks/TideoverBenchmarks/Measures/GrownDatabase.swift": ["told"],
        "Benchmarks/TideoverBenchmarks/Measures/OnPostgreSQL.swift": ["told"],
        "Fuzz/TideoverFuzz/Fuzzers/ExportFuzzer.swift": ["told"],
        "Sources/TideoverSandbox/Scenario/ScenarioPace.swift": ["tell"],
        "Sources/TideoverConfiguration/ConfigurationSchema.swift": ["told"],
        "Sources/TideoverServer/Operations/Replay.swift": ["told"],
        "Sources/tideover/Commands/ImportRevenueCat.swift": ["told"],
        "Sources/TideoverPostgreSQL/SQL.swift": ["told"],
        "Sources/TideoverPostgreSQL/Schema/Migration0001.swift": ["told"],
        "Sources/TideoverStorage/CommonSQL.swift": ["told"],
        "Sources/TideoverSQLite/SQL.swift": ["told"],
        "Sources/TideoverSQLite/Schema/Migration0003.swift": ["told"],
        "Sources/TideoverSQLite/Schema/Migration0010.swift": ["told"],
        "Tests/TideoverSQLiteTests/EngineTests.swift": ["told"],
        "Tests/TideoverServerSerialTests/ExportTests.swift": ["told"],
        "Tests/TideoverServerSerialTests/RevenueCatProgramTests.swift": ["told"],
        "Trials/Backfill/BackfillTraces.swift": ["told"],
    ]

    /// The files that define and test this rule.
    private static let own: Set<String> = [
        "Tests/TideoverTidyTests/PlainEnglish.swift",
        "Tests/TideoverTidyTests/HouseRuleTests.swift",
    ]

    static func idioms(_ file: SourceFile) -> [String] {
        guard !own.contains(file.path) else { return [] }
        let allowed = exceptions[file.path] ?? []
        return english(of: file).flatMap { index, text in
            idioms(in: text).filter { !allowed.contains($0.idiom) }.map { found in
                file.violation(index, "\"\(found.idiom)\": write plainly, such as \(found.plain)")
            }
        }
    }

    static func idioms(in text: String) -> [(idiom: String, plain: String)] {
        let spoken = text.lowercased().split { !$0.isLetter && $0 != "'" && $0 != "-" }
        var found = spoken.compactMap { word in
            words[String(word)].map { (idiom: String(word), plain: $0) }
        }
        for (first, second) in zip(spoken, spoken.dropFirst()) {
            let pair = "\(first) \(second)"
            if let plain = pairs[pair] { found.append((pair, plain)) }
        }
        return found
    }

    /// The lines of a file that people read, without quoted code.
    private static func english(of file: SourceFile) -> [(Int, String)] {
        if file.isSwift {
            return file.written.all.indices.flatMap { index in
                let literal = file.literals.all[index]
                // One word is a value, and no sentence.
                let texts = literal.split(separator: " ").count > 1 ? [literal] : []
                return ([file.comments.all[index]] + texts).map { (index, withoutCode($0)) }
            }
        }
        if file.path == SourceTree.routes {
            return file.written.all.enumerated().map { index, line in
                let texts = line.split(separator: "\"", omittingEmptySubsequences: false)
                return (
                    index, withoutCode(texts.filter { $0.contains(" ") }.joined(separator: " "))
                )
            }
        }
        guard file.path.hasSuffix(".md") else { return [] }
        var isFenced = false
        return file.written.all.enumerated().compactMap { index, line in
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isFenced.toggle()
                return nil
            }
            return isFenced ? nil : (index, withoutCode(line))
        }
    }

    /// Removes the parts in backticks, and the addresses of links.
    private static func withoutCode(_ line: String) -> String {
        line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset.isMultiple(of: 2) }.map { String($0.element) }
            .joined(separator: " ")
    }
}
