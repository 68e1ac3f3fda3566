import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// The reference and the example agree with the code.
@Suite struct ConfigurationDocumentTests: ConfigurationSuite {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Returns the key and the variable of each row of the table.
    static func rows() throws -> [(key: String, variable: String)] {
        try text("docs/configuration.md").split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.filter { $0 != "`" && $0 != " " } }
            return line.hasPrefix("| `") ? (cells[0], cells[3]) : nil
        }
    }

    /// Returns the documented defaults by key.
    static func defaults() throws -> [String: String] {
        let rows = try text("docs/configuration.md").split(separator: "\n").filter {
            $0.hasPrefix("| `")
        }
        let cells = rows.map { row in
            row.split(separator: "|").map { $0.filter { $0 != "`" && $0 != " " } }
        }
        return Dictionary(cells.map { ($0[0], $0[2]) }) { first, _ in first }
    }

    @Test func `the example loads, and every part of it is used`() throws {
        let configuration = try load(try Self.text("Examples/tideover.json"))
        #expect(configuration.notices == [])
        #expect(configuration.apps.map(\.catalogue.products.count) == [3])
    }

    @Test func `the server knows every variable of the reference`() throws {
        let variables = try Self.rows().map { row in
            row.variable.replacing("<APP>", with: "CARDS").replacing("<N>", with: "0")
                .replacing("<PRODUCT>", with: "CARDS_LIFETIME")
        }
        #expect(variables.count == 118)
        for variable in variables where variable != "none" {
            let configuration = try load(Self.designExample, [variable: ""])
            let notice = "\(variable) is empty and is treated as not set"
            #expect(configuration.notices.contains(notice), "\(variable)")
        }
        #expect(variables.filter { $0 == "none" }.count == 21)
    }

    @Test func `every key of the design's example is in the reference`() throws {
        let documented = Set(try Self.rows().map(\.key))
        let document = try JSONDocument(Self.designExample, syntax: .relaxed, limits: .local)
        let used = leaves(of: document.root, path: "")
        #expect(used.count > 30)
        for key in used { #expect(documented.contains(key), "\(key)") }
    }

    /// Returns the keys of all values except objects, in the notation of the reference.
    private func leaves(of node: JSONNode, path: String) -> Set<String> {
        if node.kind == .array, let first = node.elements.first(where: { _ in true }),
            first.kind == .object
        {
            return leaves(of: first, path: path + "[]")
        }
        guard node.kind == .object else { return [path] }
        return node.members.reduce(into: []) { found, member in
            let key = path.hasSuffix(".products") ? "*" : member.key
            found.formUnion(leaves(of: member.value, path: path.isEmpty ? key : "\(path).\(key)"))
        }
    }
}
