import Testing
import TideoverCore

/// The page for translators agrees with the table of messages.
@Suite struct WordsDocumentTests {
    @Test func `the page lists every key with its arguments and its English`() throws {
        let rows = try ConfigurationDocumentTests.text("docs/words.md").split(separator: "\n")
            .filter { $0.hasPrefix("| `") && $0.contains(" | ") }.map(String.init)
        let table = MessageText.all.map { phrase in
            let arguments = phrase.arguments.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            return "| `\(phrase.key.rawValue)` | \(arguments) | \(phrase.title) | "
                + "\(phrase.message) | \(phrase.label ?? "") |"
        }
        #expect(Array(rows.suffix(table.count)) == table)
        let listed = rows.dropLast(table.count).joined()
        for argument in MessageText.Argument.allCases {
            #expect(listed.contains("`\(argument.rawValue)`"))
        }
    }
}
