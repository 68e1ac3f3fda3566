import Foundation
import Testing
import TideoverAppStore
import TideoverCore
import TideoverJSON
import TideoverServer
import TideoverTestProcesses

@testable import TideoverTestServer

/// Checks the rules against each table of the folder `Conformance`.
@Suite struct ConformanceTableTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Conformance")

    static let files: [String] = {
        let all = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (all ?? []).filter { $0.hasSuffix(".json") }.sorted()
    }()

    private static func bytes(_ file: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: file)))
    }

    @Test func `the tables contain at least two hundred cases`() throws {
        let cases = try Self.files.map { try ConformanceTable(Self.bytes($0)).count }
        #expect(cases.allSatisfy { $0 > 0 })
        #expect(cases.reduce(0, +) >= 200)
    }

    @Test(arguments: files)
    func `every case of a table has its expected result`(file: String) throws {
        let table = try ConformanceTable(Self.bytes(file))
        let report = table.run(translating: ConformanceMessages.translation)
        #expect(!report.outcomes.isEmpty)
        for outcome in report.outcomes {
            #expect(outcome.result == .passed, "\(file):\(outcome.line): \(outcome.name)")
            let namesItsSection = outcome.source.contains(",")
            #expect(namesItsSection, "\(file):\(outcome.line): \(outcome.source)")
        }
    }

    // MARK: Completeness

    /// Returns the values of all members with a name, at any depth, in all tables.
    private func values(of name: String) throws -> Set<String> {
        var found: Set<String> = []
        for file in Self.files {
            let document = try JSONDocument(Self.bytes(file), limits: .local)
            Self.collect(name, in: JSONValue(document.root), into: &found)
        }
        return found
    }

    private static func collect(_ name: String, in value: JSONValue, into found: inout Set<String>)
    {
        switch value {
        case .object(let members):
            for member in members {
                if member.key == name, let text = member.value.string { found.insert(text) }
                collect(name, in: member.value, into: &found)
            }
        case .array(let elements):
            for element in elements { collect(name, in: element, into: &found) }
        case .null, .bool, .integer, .double, .string: break
        }
    }

    @Test func `every rule decides some case`() throws {
        let rules = try values(of: "rule")
        #expect(Rule.ID.allCases.filter { !rules.contains($0.rawValue) } == [])
    }

    @Test func `every type and subtype of the App Store's notifications has a case`() throws {
        let types = try values(of: "notificationType")
        let subtypes = try values(of: "subtype")
        #expect(
            AppStoreNotification.NotificationType.allCases
                .filter { !types.contains($0.rawValue) } == []
        )
        #expect(
            AppStoreNotification.Subtype.allCases.filter { !subtypes.contains($0.rawValue) } == []
        )
    }
}

/// `tideover conformance` as used by people and scripts.
@Suite(.withExecutable) final class ConformanceProgramTests: SuiteWithFolder {
    private func file(_ state: String, head: String = "") throws -> String {
        let text = """
            {"format": "tideover-conformance/1", "source": "a test", \(head)
            "cases": [{"name": "nothing is known", "source": "a test",
              "expect": [{"at": "2026-05-10", "state": "\(state)"}]}]}
            """
        return try write(text, to: "\(state).json")
    }

    @Test func `the command runs any table and succeeds when every case passes`() throws {
        let said = try Executable.run(["conformance", file("never")])
        #expect(said.code == 0, "\(said.messages)")
        #expect(said.results.contains("1 of 1 case passed"))
    }

    @Test func `a failed case is reported with its position and fails the command`() throws {
        let path = try file("active")
        let said = try Executable.run(["conformance", file("never"), path])
        #expect(said.code == 1)
        #expect(said.results.contains("\(path):3: "))
        #expect(said.results.contains(#"state should be "active", but is "never""#))
        #expect(said.results.contains("1 of 2 cases passed"))
    }

    @Test func `a malformed table is bad data, and the command runs the other tables`() throws {
        let said = try Executable.run([
            "conformance", file("active", head: "\"polcy\": {},"), file("never"), "--json",
        ])
        #expect(said.code == 65)
        let report = try JSONDocument(Array(said.results.utf8), limits: .local).root
        #expect(report["passed"]?.int64 == 1)
        #expect(report["files"]?[0]?["fault"]?["line"]?.int64 == 1)
        #expect(report["files"]?[0]?["fault"]?["sentence"]?.string?.contains("policy") == true)
        #expect(report["files"]?[1]?["outcomes"]?[0]?["result"]?.string == "passed")
    }
}
