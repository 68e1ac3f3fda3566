import TideoverCommandLine
import TideoverSandbox

/// The result of rehearsals in the XML format of CI systems. https://github.com/testmoapp/junitxml
struct JUnitReport {
    /// The beginning of every report.
    static let beginning = """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites
        """

    private let played: [PlayedScenario]

    init(_ played: [PlayedScenario]) {
        self.played = played
    }

    /// Writes the report, replacing an existing file: `FileOutput.check` looks at that first.
    func write(to path: String) throws(CommandFailure) {
        try FileOutput.write(Array(text.utf8), to: path)
    }

    /// The complete document.
    var text: String {
        let failures = played.count(where: \.failed)
        let errors = played.count { $0.fault != nil }
        let skipped = played.count { $0.omission != nil }
        let counts = #"tests="\#(played.count)" failures="\#(failures)" errors="\#(errors)""#
        var lines = [
            "\(Self.beginning) \(counts)>",
            #"  <testsuite name="tideover sandbox" \#(counts) skipped="\#(skipped)">"#,
        ]
        for scenario in played { lines += self.lines(of: scenario) }
        lines += ["  </testsuite>", "</testsuites>", ""]
        return lines.joined(separator: "\n")
    }

    private func lines(of scenario: PlayedScenario) -> [String] {
        let name = scenario.report?.scenario.name ?? scenario.path
        let start =
            #"    <testcase classname="\#(quoted(scenario.path))" name="\#(quoted(name))""#
        if let omission = scenario.omission {
            let reason = #"      <skipped message="\#(quoted(omission.words))"/>"#
            return [start + ">", reason, "    </testcase>"]
        }
        guard let first = scenario.troubles.first else { return [start + "/>"] }
        let kind = scenario.fault == nil ? "failure" : "error"
        return [
            start + ">", #"      <\#(kind) message="\#(quoted(first))">"#,
            quoted(scenario.troubles.joined(separator: "\n")), "      </\(kind)>",
            "    </testcase>",
        ]
    }

    /// Escapes text for XML 1.0 elements and attributes. Replaces characters that XML cannot
    /// contain.
    private func quoted(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "\n", "\t": String(scalar)
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": "\u{FFFD}"
            default: String(scalar)
            }
        }.joined()
    }
}
