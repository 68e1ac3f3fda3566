import Foundation
import Testing
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// The server, docs/problems.md and the sources describe the same problem types.
@Suite struct ProblemTypeTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func page() throws -> [String] {
        try String(contentsOf: root.appending(path: "docs/problems.md"), encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }

    /// The Swift files of the program, without the one that only lists the types.
    private static func sources() throws -> [String] {
        let folder = root.appending(path: "Sources").path()
        return try FileManager.default.subpathsOfDirectory(atPath: folder)
            .filter {
                $0.hasSuffix(".swift") && !$0.hasSuffix("/ProblemTypes.swift")
            }
            .map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
    }

    /// Every text between two quotation marks in any source.
    private static let betweenQuotes = Result {
        try Set(
            sources().flatMap { $0.utf8.split(separator: UInt8(ascii: "\"")) }
                .map { String(Substring($0)) }
        )
    }

    @Test func `the type of a problem is a URL that describes it`() async throws {
        let server = try TestServer()
        let refused = try await server.get("/v1/apps/cards/events?after=x")
        let problem = try JSONDocument(refused.body).root
        let url = try #require(problem["type"]?.string)
        #expect(url == "/problems/bad-cursor")
        let described = try await server.ask("GET", url)
        #expect(described.status == 200)
        let type = try JSONDocument(described.body).root
        #expect(type["code"]?.string == "bad-cursor")
        #expect(type["status"]?.int64 == Int64(refused.status))
        #expect(type["title"]?.string == problem["title"]?.string)
        #expect(type["meaning"]?.string == "The cursor is invalid.")
        #expect(type["action"]?.string == "Send `next` of the page before, unchanged.")
        #expect(try await server.ask("GET", "/problems/no-such").status == 404)
        await server.close()
    }

    @Test func `the page has one row and one anchor for each type with the server's text`() throws {
        let rows = try Self.page().filter { $0.hasPrefix("| <a id=") }
        let expected = ProblemType.all.map { type in
            "| <a id=\"\(type.code)\"></a>`\(type.code)` | \(type.status) "
                + "| \(type.meaning) | \(type.action) |"
        }
        for (row, type) in zip(rows, expected) { #expect(row == type) }
        #expect(rows.count == expected.count)
    }

    @Test func `every problem in the sources has a type`() throws {
        let literal = /\bProblem\(\s*"([a-z0-9-]+)"/
        let found = try Self.sources().flatMap { source in
            source.matches(of: literal).map { String($0.1) }
        }
        #expect(found.count > 60)
        for code in found { #expect(ProblemType.named(code) != nil, "\(code)") }
    }

    @Test func `a problem with a status and a title has those of its type`() throws {
        let literal = /Problem\(\s*"([a-z0-9-]+)",\s*status: (\d+),\s*title: "([^"]*)"/
        let found = try Self.sources().flatMap { source in
            source.matches(of: literal).map { match in
                (String(match.1), Int(match.2), String(match.3))
            }
        }
        #expect(found.count > 10)
        for (code, status, title) in found {
            let type = ProblemType.named(code)
            #expect(type?.status == status, "\(code)")
            #expect(type?.title == title, "\(code)")
        }
    }

    @Test func `the page lists every reason to reject signed data`() throws {
        let page = try Self.page().filter { $0.hasPrefix("| <a id=") || $0.hasPrefix("- `") }
        let names = Set(page.flatMap { $0.matches(of: /`([a-z0-9-]+)`/).map { String($0.1) } })
        // No route accepts these documents.
        let internalOnly: Set = ["document-type", "signing-key"]
        for path in [
            "TideoverSignatures/RefusalWords.swift", "TideoverAppStore/Reading/Words.swift",
            "TideoverGooglePlay/Reading/PlayRefusal.swift",
            "TideoverGooglePlay/Push/PushRefusal.swift",
            "TideoverRevenueCat/Reading/Words.swift", "TideoverJSON/JSONError.swift",
        ] {
            let file = Self.root.appending(path: "Sources/\(path)")
            let source = try String(contentsOf: file, encoding: .utf8)
            let codes = source.matches(of: /case \.[^\n]*: "([a-z0-9]+(?:-[a-z0-9]+)*)"\n/)
            #expect(!codes.isEmpty, "\(path)")
            for code in codes.map({ String($0.1) }) where !internalOnly.contains(code) {
                #expect(names.contains(code), "\(path): \(code)")
            }
        }
    }

    @Test(arguments: ProblemType.all)
    func `every problem type is used`(type: ProblemType) throws {
        #expect(try Self.betweenQuotes.get().contains(type.code))
    }
}
