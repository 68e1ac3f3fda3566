import Foundation

/// Checks that the page on threats has every threat of the list, and that each named test exists.
enum ThreatPage {
    /// The threats that the page must contain.
    static let ids = [
        ("S", 8), ("T", 4), ("R", 2), ("I", 4), ("D", 10), ("E", 9), ("F", 1),
    ].flatMap { letter, count in (1...count).map { "\(letter)\($0)" } }

    /// The text in place of tests while that part of the server does not exist.
    static let excuse = "Nothing to attack yet: "

    /// The faults of a page. `exists` returns whether a named test or trial is in the tree.
    static func faults(in page: SourceFile, exists: (String) -> Bool) -> [String] {
        let threats = sections(of: page)
        let found = threats.map(\.id)
        let wrong = found == ids ? [] : ["\(page.path): has \(found), and should have \(ids)"]
        return wrong
            + threats.flatMap { threat in
                let named = threat.lines.filter { $0.hasPrefix("- `") && $0.hasSuffix("`") }
                    .map { String($0.dropFirst(3).dropLast()) }
                let isExcused = threat.lines.contains { $0.hasPrefix(excuse) }
                let silent =
                    named.isEmpty && !isExcused
                    ? [page.violation(threat.index, "\(threat.id): nothing shows it")] : []
                return silent
                    + named.filter { !exists($0) }.map {
                        page.violation(threat.index, "\(threat.id): there is no `\($0)`")
                    }
            }
    }

    private static func sections(
        of page: SourceFile
    ) -> [(id: String, index: Int, lines: [String])] {
        var sections: [(id: String, index: Int, lines: [String])] = []
        for (index, line) in page.written.all.enumerated() {
            if line.hasPrefix("### "), let colon = line.firstIndex(of: ":") {
                sections.append((String(line[..<colon].dropFirst(4)), index, []))
            } else if line.hasPrefix("#") {
                continue
            } else if !sections.isEmpty {
                sections[sections.count - 1].lines.append(line)
            }
        }
        return sections
    }

    /// Whether the tree has a test (`Target.Suite/name`), a trial (`trials NAME`), a fuzzer
    /// (`scripts/fuzz.sh NAME`) or a script.
    static func exists(_ name: String, in files: [SourceFile]) -> Bool {
        let words = name.split(separator: " ", maxSplits: 1).map(String.init)
        switch (words[0], words.dropFirst().first) {
        case ("trials", let trial?):
            return files.contains {
                $0.path.hasPrefix("Trials/") && $0.written.text.contains("name: \"\(trial)\"")
            }
        case ("scripts/fuzz.sh", let fuzzer?):
            return files.contains {
                $0.path.hasPrefix("Fuzz/")
                    && $0.written.text.contains("Fuzzer(\n        \"\(fuzzer)\",")
            }
        case (let script, nil) where script.hasPrefix("scripts/"):
            return files.contains { $0.path == script }
        default: return isTest(name, in: files)
        }
    }

    private static func isTest(_ name: String, in files: [SourceFile]) -> Bool {
        guard let point = name.firstIndex(of: "."),
            let slash = name[point...].firstIndex(of: "/")
        else { return false }
        let suite = name[name.index(after: point)..<slash]
        let test = name[name.index(after: slash)...]
        return files.contains { file in
            let text = file.written.text
            let names = [" \(suite) ", " \(suite):", " `\(suite)` "]
            return file.path.hasPrefix("Tests/\(name[..<point])/")
                && names.contains { text.contains("struct\($0)") || text.contains("class\($0)") }
                && text.contains("func `\(test)`")
        }
    }
}
