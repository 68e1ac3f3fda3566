import Foundation

/// The project's own files, found from this file.
enum SourceTree {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// What a build, an editor or version control leaves beside the files that are ours.
    private static let foreign: Set<String> = [
        ".build", ".git", ".swiftpm", "DerivedData", "dist", "node_modules",
    ]

    /// The description of the routes, which is served.
    static let routes = "Sources/CTideoverOpenAPI/openapi.json"

    /// Every file of ours that people read, hidden folders included; data files are left out, because
    /// chance can write any word into them.
    static let files: [SourceFile] = {
        let readable: Set<String> = [
            "", "c", "css", "h", "html", "js", "md", "modulemap", "service", "sh", "supp", "swift",
            "ts", "yml",
        ]
        return paths()
            .filter { readable.contains(URL(filePath: $0).pathExtension) || $0 == routes }
            .compactMap { path in
                try? SourceFile(
                    path: path,
                    text: String(contentsOf: root.appending(path: path), encoding: .utf8)
                )
            }
    }()

    /// The Swift files of what users get.
    static let sources = files.filter { $0.path.hasPrefix("Sources/") && $0.isSwift }

    /// The names of the modules, which are the folders under `Sources`.
    static let modules: [String] = {
        let folder = root.appending(path: "Sources")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { !$0.hasPrefix(".") }.sorted()
    }()

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }

    static func file(_ path: String) -> SourceFile? {
        files.first { $0.path == path }
    }

    private static func paths() -> [String] {
        guard let walk = FileManager.default.enumerator(atPath: root.path) else { return [] }
        var paths: [String] = []
        for case let path as String in walk {
            if foreign.contains(URL(filePath: path).lastPathComponent) {
                walk.skipDescendants()
            } else {
                paths.append(path)
            }
        }
        return paths.sorted()
    }
}

/// A file of the project, or one that a test made up.
struct SourceFile: Sendable {
    /// Relative to the project.
    let path: String
    /// As it is.
    let written: Lines
    /// The code without comments and contents of string literals; empty if it is not Swift.
    let code: Lines
    /// Only the contents of string literals; empty if it is not Swift.
    let literals: Lines

    /// Only its comments; empty for other languages than Swift.
    let comments: Lines

    init(path: String, text: String) {
        self.path = path
        written = Lines(text)
        let parts = path.hasSuffix(".swift") ? SwiftText.parts(of: text) : SwiftText.Parts()
        code = Lines(parts.code)
        literals = Lines(parts.literals)
        comments = Lines(parts.comments)
    }

    var isSwift: Bool { path.hasSuffix(".swift") }

    /// The module that a file under `Sources` belongs to.
    var module: String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
    }

    func violation(_ index: Int, _ sentence: String) -> String {
        "\(path):\(index + 1): \(sentence)"
    }
}

/// A text and its lines, counted from 0.
struct Lines: Sendable {
    let text: String
    let all: [String]

    init(_ text: String) {
        self.text = text
        all = text.components(separatedBy: "\n")
    }

    /// The lines that contain a word. A word that begins or ends with a letter does not count inside a
    /// longer name.
    func containing(_ word: String) -> [Int] {
        guard text.contains(word) else { return [] }
        return all.indices.filter { Self.has(word, all[$0]) }
    }

    private static func has(_ word: String, _ line: String) -> Bool {
        var rest = line[...]
        while let found = rest.range(of: word, options: .literal) {
            let beginsInside = isName(word.first) && isName(line[..<found.lowerBound].last)
            let endsInside = isName(word.last) && isName(line[found.upperBound...].first)
            if !beginsInside, !endsInside { return true }
            rest = line[found.upperBound...]
        }
        return false
    }

    private static func isName(_ character: Character?) -> Bool {
        character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
    }
}
