import Foundation
import Testing

/// Checks that the stand-in declares the same API as Apple's framework. Each of its public
/// declarations must be in the list of Apple's declarations, which is kept outside the repository.
@Suite struct StandInDeclarationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let list = root.deletingLastPathComponent()
        .appending(path: "shared/specs/storekit.md")
    private static let alternative = root.deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "shared/specs/storekit.md")

    private static var specification: String? {
        [list, alternative].lazy.compactMap { try? String(contentsOf: $0, encoding: .utf8) }.first
    }

    /// Returns the public members of the stand-in, one per line.
    private static func declarations() throws -> [String] {
        let folder = root.appending(path: "StandIns/StoreKit/Sources/StoreKit")
        let files = try FileManager.default.contentsOfDirectory(
            at: folder,
            includingPropertiesForKeys: nil
        )
        return try files.flatMap { file in
            try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap {
                line in
                let code = line.trimmingCharacters(in: .whitespaces)
                guard code.hasPrefix("public ") || isEnumerationCase(code) else { return nil }
                return code
            }
        }
    }

    /// Whether a line declares an enumeration case, rather than a branch of a `switch`.
    private static func isEnumerationCase(_ code: String) -> Bool {
        code.hasPrefix("case ") && !code.hasPrefix("case .")
    }

    /// Returns the name and type of a property, or the name and first labels of a function.
    private static func signature(_ declaration: String) -> String? {
        let words = declaration.replacing("public ", with: "").replacing("static ", with: "")
            .replacing("mutating ", with: "")
        for keyword in ["struct ", "enum ", "typealias "] where words.hasPrefix(keyword) {
            return keyword + words.dropFirst(keyword.count).prefix { $0.isLetter || $0.isNumber }
        }
        if words.hasPrefix("let ") || words.hasPrefix("var ") {
            let rest = words.dropFirst(4)
            let name = rest.prefix { $0.isLetter || $0.isNumber }
            // `static let subscribed = RenewalState(...)` has no explicit type: only its name is
            // checked.
            guard rest.dropFirst(name.count).hasPrefix(":") else { return String(name) }
            let type = rest.dropFirst(name.count + 1).prefix { $0 != "{" && $0 != "=" }
            return "\(name): \(type.trimmingCharacters(in: .whitespaces))"
        }
        if words.hasPrefix("case ") { return String(words.dropFirst(5)) }
        if words.hasPrefix("func ") {
            return String(words.prefix { $0 != "(" && $0 != "<" })
        }
        return nil
    }

    /// Returns the list with shorthand such as `a, b: T` expanded.
    private static func expanded(_ text: String) -> String {
        var expanded = text
        let shorthand = /let (\w+(?:, \w+)+): ([\w.?]+)/
        for match in text.matches(of: shorthand) {
            for name in match.1.split(separator: ", ") { expanded += "\n\(name): \(match.2)" }
        }
        return expanded
    }

    @Test(
        .enabled(
            if: StandInDeclarationTests.specification != nil,
            "the list of Apple's declarations is not beside this checkout"
        )
    )
    func `every declaration of the stand-in exists in Apple's framework`() throws {
        let specification = Self.expanded(try #require(Self.specification))
        let declarations = try Self.declarations().compactMap(Self.signature)
        #expect(declarations.count > 40)
        let own = ["rawValue: String", "rawValue: Int"]
        let names = declarations.flatMap {
            $0.contains(":") ? [$0] : $0.components(separatedBy: ", ")
        }
        let missing = names.filter { name in
            // A heading names a structure with its members listed below it.
            let heading = "\(name.replacing("struct ", with: "")) (struct"
            return !own.contains(name) && !specification.contains(name)
                && !specification.contains(heading)
        }
        #expect(missing == [])
    }
}
