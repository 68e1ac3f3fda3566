import Foundation
import Testing
import TideoverCore
import TideoverLives

/// `docs/rules.md` against the code's own tables.
@Suite struct RuleDocumentTests {
    struct Row {
        var rule: Rule
        var sentence: String
        var standing: String
    }

    /// The rows of the tables that begin with a rule's id.
    static func rows() throws -> [Row] {
        let here = URL(filePath: #filePath).resolvingSymlinksInPath()
        let root = here.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/rules.md"), encoding: .utf8)
        return try text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            let cells = line.split(separator: "|").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            try #require(cells.count == 5, "\(line)")
            let word = cells[0].trimmingCharacters(in: ["`"])
            let id = try #require(Rule.ID(rawValue: word), "\(word) is not a rule")
            let table = try #require(
                ["App Store": Rule.Table.terms, "Google Play": .playItems][cells[1]]
            )
            let rule = try #require(Rule.all.first { $0.id == id && $0.table == table })
            #expect(!cells[3].isEmpty)
            return Row(rule: rule, sentence: cells[2], standing: cells[4])
        }
    }

    @Test func `the document lists every rule in order of evaluation`() throws {
        #expect(try Self.rows().map(\.rule) == Rule.all)
    }

    @Test func `every sentence equals the code's`() throws {
        for row in try Self.rows() {
            #expect(row.sentence == row.rule.sentence, "\(row.rule.id.rawValue)")
        }
    }

    @Test func `every standing equals the rule's`() throws {
        let rows = try Self.rows()
        let cases =
            ExplanationTests.termCases.map { ($0, Rule.Table.terms) }
            + ExplanationTests.playCases.map { ($0, Rule.Table.playItems) }
        for (example, table) in cases {
            let answer = example.life.standing(example.instant)
            let row = try #require(
                rows.first { $0.rule.id == example.rule && $0.rule.table == table }
            )
            #expect(row.standing.hasPrefix("`\(answer.state.rawValue)`"), "\(example.rule)")
            #expect(row.standing.contains(answer.confidence.rawValue), "\(example.rule)")
            #expect(row.standing.contains("asks the store") == answer.asksStore, "\(example.rule)")
        }
    }
}
