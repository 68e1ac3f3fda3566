import Foundation
import Testing

/// Checks that the stand-in declares the same API as Apple's framework: names, labels, types,
/// isolation and availability. The list of Apple's declarations is kept outside the repository.
@Suite struct StandInDeclarationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static var list: AppleDeclarations? {
        let beside = root.deletingLastPathComponent()
        return [beside, beside.deletingLastPathComponent()].lazy.compactMap { folder in
            let file = folder.appending(path: "shared/specs/storekit.md")
            return try? String(contentsOf: file, encoding: .utf8)
        }.first.map { AppleDeclarations($0) }
    }

    /// Declarations of the stand-in that Apple's list abbreviates.
    private static let abbreviated: Set<String> = [
        "public init(rawValue: String)", "public init(rawValue: Int)",
        "public mutating func next() async -> Message?",
    ]

    private static func declarations() throws -> [StandInDeclaration] {
        let folder = root.appending(path: "StandIns/StoreKit/Sources/StoreKit")
        let files = try FileManager.default.contentsOfDirectory(
            at: folder,
            includingPropertiesForKeys: nil
        )
        return try files.filter { $0.lastPathComponent != "StoreBackend.swift" }.flatMap { file in
            StandInDeclaration.all(in: try String(contentsOf: file, encoding: .utf8))
        }
    }

    @Test(
        .enabled(
            if: StandInDeclarationTests.list != nil,
            "the list of Apple's declarations is not beside this checkout"
        )
    )
    func `every declaration of the stand-in is one of Apple's framework`() throws {
        let list = try #require(Self.list)
        let declarations = try Self.declarations().filter { !Self.abbreviated.contains($0.head) }
        #expect(declarations.count > 70)
        #expect(declarations.filter { !list.contain($0) }.map(\.head) == [])
    }

    @Test func `a difference in labels, types, isolation or availability is found`() {
        let list = AppleDeclarations(
            """
            public struct Message : Sendable, Hashable { // 16
            @MainActor public func display(in scene: UIWindowScene) throws
            public let environment: AppStore.Environment      // 16.0
            public static let generic, other: Reason
            public enum Fault : Error { case first, second }
            """
        )
        func isApples(_ text: String) -> Bool {
            StandInDeclaration.all(in: text).allSatisfy(list.contain)
        }
        let display = "@MainActor\npublic func display(\n    in scene: UIWindowScene\n) throws {"
        #expect(isApples(display))
        #expect(!isApples(display.replacing("in scene", with: "on scene")))
        #expect(!isApples(display.replacing("UIWindowScene", with: "UIScene")))
        #expect(!isApples(display.replacing("throws", with: "async throws")))
        #expect(!isApples(display.replacing("@MainActor\n", with: "")))
        let environment = "@available(iOS 16.0, *)\npublic let environment: AppStore.Environment"
        #expect(isApples(environment))
        #expect(!isApples(environment.replacing("16.0", with: "15.0")))
        #expect(!isApples(environment.replacing("@available(iOS 16.0, *)\n", with: "")))
        #expect(!isApples(environment.replacing("AppStore.Environment", with: "String")))
        let message = "@available(iOS 16.0, *)\npublic struct Message: Sendable {"
        #expect(isApples(message))
        #expect(isApples("\(message)\n    public static let generic = Reason(rawValue: 0)\n}"))
        #expect(!isApples(message.replacing("Sendable", with: "Sendable, Codable")))
        #expect(isApples("case first, second"))
        #expect(!isApples("case first, third"))
    }
}

/// A public declaration of the stand-in.
private struct StandInDeclaration: Hashable {
    /// The text before its body or its value.
    let head: String
    let isOnMainActor: Bool
    /// The version of iOS in its own attribute.
    let ownVersion: Double?
    /// The version of iOS in its own attribute or in one of an enclosing declaration.
    let version: Double

    static func all(in text: String) -> [StandInDeclaration] {
        var found: [StandInDeclaration] = []
        var attributes: [Substring] = []
        var enclosing: [(indent: Int, version: Double)] = []
        var unfinished: String?
        for line in text.split(separator: "\n") {
            let indent = line.prefix { $0 == " " }.count
            let code = line.dropFirst(indent)
            if code.hasPrefix("@") {
                attributes.append(code)
                continue
            }
            let whole = (unfinished.map { $0 + " " } ?? "") + code
            guard unfinished != nil || code.hasPrefix("public ") || isCase(code) else {
                attributes = []
                continue
            }
            // The parameters of a function may be on lines of their own.
            guard !whole.contains(" func ") || whole.contains("{") else {
                unfinished = whole
                continue
            }
            unfinished = nil
            enclosing.removeAll { $0.indent >= indent }
            let own = attributes.compactMap(version).first
            let outer = enclosing.map(\.version).max() ?? 15
            let version = own ?? outer
            if !whole.contains(" import ") {
                found.append(
                    StandInDeclaration(
                        head: head(of: whole),
                        isOnMainActor: attributes.contains("@MainActor"),
                        ownVersion: own,
                        version: version
                    )
                )
            }
            if whole.hasSuffix("{") { enclosing.append((indent, version)) }
            attributes = []
        }
        return found
    }

    private static func isCase(_ code: Substring) -> Bool {
        code.hasPrefix("case ") && !code.hasPrefix("case .")
    }

    /// Returns the version in `@available(iOS 16.0, ...)`.
    private static func version(_ attribute: Substring) -> Double? {
        attribute.firstMatch(of: /^@available\(iOS (\d+(?:\.\d+)?)/).flatMap { Double($0.1) }
    }

    private static func head(of code: String) -> String {
        let beforeBody = code.prefix { $0 != "{" }
        let isFunction = code.contains(" func ")
        let end = isFunction ? beforeBody : beforeBody.prefix { $0 != "=" }
        return end.trimmingCharacters(in: .whitespaces)
    }
}

/// The list of Apple's declarations, with remarks on their availability.
private struct AppleDeclarations {
    private let lines: [Substring]
    private let squeezed: String

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        squeezed = Self.squeezed(text)
    }

    private static func squeezed(_ text: some StringProtocol) -> String {
        String(text.filter { !$0.isWhitespace })
    }

    func contain(_ declaration: StandInDeclaration) -> Bool {
        let head = declaration.head
        if head.hasPrefix("case ") {
            return head.dropFirst(5).components(separatedBy: ", ").allSatisfy { name in
                lines(with: name).contains { isAvailable(declaration, on: $0) }
            }
        }
        if head.contains(" func ") {
            let text = Self.squeezed(head)
            return isIsolated(text, declaration.isOnMainActor)
                && lines.indices.contains { index in
                    Self.squeezed(lines[index]).contains(text)
                        && isAvailable(declaration, on: index)
                }
        }
        return candidates(for: head).contains { isAvailable(declaration, on: $0) }
    }

    /// Whether a function is in the list with this isolation.
    private func isIsolated(_ text: String, _ isOnMainActor: Bool) -> Bool {
        if isOnMainActor { return squeezed.contains("@MainActor\(text)") }
        return squeezed.ranges(of: text).contains {
            !squeezed[..<$0.lowerBound].hasSuffix("@MainActor")
        }
    }

    /// Returns the lines with a property of this type, or with a type of these conformances.
    private func candidates(for head: String) -> [Int] {
        if let match = head.firstMatch(of: /(?:struct|enum) (\w+)(?:<\w+>)?(?:: (.+))?$/) {
            let conformances = match.2?.components(separatedBy: ", ") ?? []
            return lines(with: String(match.1)).filter { index in
                lines[index].contains(/struct|enum/)
                    && conformances.allSatisfy { lines[index].contains($0) }
            }
        }
        if let match = head.firstMatch(of: /(?:let|var) (\w+): (.+)$/) {
            return lines.indices.filter { lines[$0].contains("\(match.1): \(match.2)") }
        }
        let name = head.firstMatch(of: /(?:let|typealias) (\w+)/)?.1 ?? ""
        return lines(with: String(name)).filter { lines[$0].contains("public ") }
    }

    private func lines(with word: String) -> [Int] {
        lines.indices.filter { index in
            lines[index].ranges(of: word).contains { range in
                let before = lines[index][..<range.lowerBound].last
                let after = lines[index][range.upperBound...].first
                return ![before, after].contains { $0?.isLetter ?? false }
            }
        }
    }

    /// Whether the remark on a line states the declaration's availability. Without a remark, the
    /// declaration has none of its own but the framework's first.
    private func isAvailable(_ declaration: StandInDeclaration, on index: Int) -> Bool {
        guard let version = version(on: index) else { return declaration.ownVersion ?? 15 == 15 }
        return version == declaration.version
    }

    private func version(on index: Int) -> Double? {
        let remark = /(?:\/\/|\/\*)\s*(?:iOS )?(\d+(?:\.\d+)?)/
        if let match = lines[index].firstMatch(of: remark) { return Double(match.1) }
        guard index > 0 else { return nil }
        let attribute = /^\s*@available\(iOS (\d+(?:\.\d+)?)/
        return lines[index - 1].firstMatch(of: attribute).flatMap { Double($0.1) }
    }
}
