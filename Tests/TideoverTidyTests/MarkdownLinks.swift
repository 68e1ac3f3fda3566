import Foundation

/// Checks that what a document of ours links to inside the project is there.
enum MarkdownLinks {
    /// The relative links of documents that lead nowhere; `read` answers the text of a file, the empty
    /// text for a folder, and nil for what is not there.
    static func broken(_ files: [SourceFile], read: (String) -> String?) -> [String] {
        var known: [String: Set<String>] = [:]
        func anchors(at path: String) -> Set<String>? {
            if known[path] == nil { known[path] = read(path).map(Self.anchors(of:)) }
            return known[path]
        }
        return files.flatMap { file in
            prose(file.written.all).enumerated().flatMap { index, line in
                targets(in: line).filter { !leads($0, from: file, anchors(at:)) }.map {
                    file.violation(index, "the link to `\($0)` leads nowhere")
                }
            }
        }
    }

    /// The lines without code blocks and without code between back ticks.
    private static func prose(_ lines: [String]) -> [String] {
        var isCode = false
        return lines.map { line in
            if line.trimmingCharacters(in: .whitespaces).hasPrefix("```") {
                isCode.toggle()
                return ""
            }
            guard !isCode else { return "" }
            let parts = line.components(separatedBy: "`")
            return parts.enumerated().map { $0 % 2 == 0 ? $1 : "" }.joined(separator: "`")
        }
    }

    /// What `[text](target)` and `[name]: target` name on a line.
    static func targets(in line: String) -> [String] {
        var targets = line.components(separatedBy: "](").dropFirst().map { rest in
            String(rest.prefix { $0 != ")" && $0 != " " })
        }
        if line.hasPrefix("["), let colon = line.range(of: "]: ") {
            targets.append(String(line[colon.upperBound...].prefix { $0 != " " }))
        }
        return targets
    }

    private static func leads(
        _ target: String,
        from file: SourceFile,
        _ anchors: (String) -> Set<String>?
    ) -> Bool {
        guard !target.contains("://"), !target.hasPrefix("mailto:") else { return true }
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].isEmpty ? file.path : resolved(String(parts[0]), beside: file.path)
        guard let path, let anchors = anchors(path) else { return false }
        return parts.count == 1 || anchors.contains(String(parts[1]))
    }

    /// A path as seen from the project, or nil when it leaves the project.
    static func resolved(_ path: String, beside document: String) -> String? {
        var parts = document.split(separator: "/").dropLast().map(String.init)
        for part in path.split(separator: "/") where part != "." {
            if part == ".." {
                guard parts.popLast() != nil else { return nil }
            } else {
                parts.append(part.removingPercentEncoding ?? String(part))
            }
        }
        return parts.joined(separator: "/")
    }

    /// The names that a document's headings answer to.
    static func anchors(of text: String) -> Set<String> {
        Set(
            text.components(separatedBy: "\n").filter { $0.hasPrefix("#") }.map { line in
                let heading = line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces)
                let kept = heading.lowercased().filter {
                    $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_"
                }
                return kept.replacing(" ", with: "-")
            }
        )
    }
}
