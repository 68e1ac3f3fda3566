import Testing
import TideoverJSON

@testable import tideover

/// Tests the comma-separated values of reports.
@Suite struct SheetTests {
    private func line(_ cells: JSONValue?...) -> String {
        Sheet.text(head: ["a"], rows: [cells])
    }

    @Test func `a text that a spreadsheet would compute gets an apostrophe`() {
        let cells = [
            "=1+1": "'=1+1", "+49170": "'+49170", "-2": "'-2", "@SUM(A1)": "'@SUM(A1)",
            "\tx": "\"'\tx\"", "=A(\"b\",1)": "\"'=A(\"\"b\"\",1)\"",
        ]
        for (formula, cell) in cells {
            #expect(line(.string(formula)) == "a\r\n\(cell)\r\n")
        }
    }

    @Test func `other texts and negative numbers are unchanged`() {
        let cells = line("u_42", "a=b", .integer(-3), .double(-0.5), nil)
        #expect(cells == "a\r\nu_42,a=b,-3,-0.5,\r\n")
        #expect(line("a,b", "a\"b") == "a\r\n\"a,b\",\"a\"\"b\"\r\n")
    }
}
