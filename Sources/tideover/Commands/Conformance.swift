import TideoverCommandLine
import TideoverCore
import TideoverJSON
import TideoverServer

/// `tideover conformance`: compares the rules with tables of cases, built-in or from files.
enum Conformance {
    private static let files = Parameter.arguments(
        "FILE",
        "Tables in the format of Conformance/README.md, or - for standard input"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "conformance",
        summary: "check the rules against tables of cases",
        examples: [
            Example("tideover conformance Conformance/*.json", "every table of the project"),
            Example("tideover conformance my-cases.json --json", "your own, for a machine to read"),
        ],
        parameters: [files, json],
        notes: [
            "Exit code 0 if every case passes; 1 if one fails or contains messages of a "
                + "store that is not supported here; 65 if a table or a case is malformed. The "
                + "other cases are run in any case."
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        var tables: [Played] = []
        for path in arguments[files] {
            let bytes = try FileInput.read(path, atMost: JSONLimits.local.maxBytes)
            tables.append(Played(bytes, path))
        }
        if arguments[json] {
            write(tables, output)
        } else {
            print(tables, output)
        }
        if tables.contains(where: \.isMalformed) { return .data }
        return tables.allSatisfy(\.allPassed) ? .success : .failure
    }

    /// One file and its result.
    private struct Played {
        let path: String
        let result: Result<ConformanceReport, ConformanceFault>

        init(_ bytes: [UInt8], _ path: String) {
            self.path = path
            do {
                let table = try ConformanceTable(bytes)
                result = .success(table.run(translating: ConformanceMessages.translation))
            } catch {
                result = .failure(error)
            }
        }

        var report: ConformanceReport { (try? result.get()) ?? ConformanceReport() }
        var fault: ConformanceFault? {
            if case .failure(let fault) = result { fault } else { nil }
        }
        var isMalformed: Bool { fault != nil || report.malformed > 0 }
        var allPassed: Bool { fault == nil && report.passed == report.outcomes.count }
    }

    // MARK: For people

    private static func print(_ tables: [Played], _ output: Output) {
        for table in tables { printTroubles(of: table, output) }
        var rows = Table([
            .init("file"), .init("cases", .trailing), .init("passed", .trailing),
            .init("failed", .trailing), .init("malformed", .trailing), .init("not run", .trailing),
        ])
        for table in tables {
            let report = table.report
            rows.add(
                .init(table.path),
                table.fault == nil ? "\(report.outcomes.count)" : .init("malformed", .bad),
                "\(report.passed)",
                count(report.failed),
                count(report.malformed),
                count(report.notRun)
            )
        }
        output.print(rows)
        let cases = tables.reduce(0) { $0 + $1.report.outcomes.count }
        let passed = tables.reduce(0) { $0 + $1.report.passed }
        output.print("\n\(passed) of \(TextLayout.counted(cases, "case")) passed")
    }

    private static func count(_ number: Int) -> Table.Cell {
        number == 0 ? "0" : .init("\(number)", .bad)
    }

    private static func printTroubles(of table: Played, _ output: Output) {
        let path = TextLayout.visible(table.path)
        let bad = { output.resultTerminal.styled($0, .bad) }
        if let fault = table.fault {
            output.print("\(bad("malformed"))  \(place(fault, path)): \(said(fault))\n")
        }
        for outcome in table.report.outcomes {
            switch outcome.result {
            case .passed: continue
            case .failed(let differences):
                output.print("\(bad("failed"))  \(TextLayout.visible(outcome.name))")
                output.print("  from \(TextLayout.visible(outcome.source))")
                for difference in differences {
                    output.print("  \(path):\(difference.line): \(said(difference))")
                }
            case .malformed(let fault):
                output.print("\(bad("malformed"))  \(TextLayout.visible(outcome.name))")
                output.print("  \(place(fault, path)): \(said(fault))")
            case .notRun(let store):
                output.print("\(bad("not run"))  \(TextLayout.visible(outcome.name))")
                output.print(
                    "  \(path):\(outcome.line): messages of \(store) are not supported here"
                )
            }
            output.print()
        }
    }

    private static func place(_ fault: ConformanceFault, _ path: String) -> String {
        "\(path):\(fault.line):\(fault.column)"
    }

    private static func said(_ trouble: some CustomStringConvertible) -> String {
        TextLayout.visible(trouble.description)
    }

    // MARK: For machines

    private static func write(_ tables: [Played], _ output: Output) {
        var writer = JSONWriter(pretty: true)
        writer.object { writer in
            writer.field("format", ConformanceTable.format)
            writer.field("cases", tables.reduce(0) { $0 + $1.report.outcomes.count })
            writer.field("passed", tables.reduce(0) { $0 + $1.report.passed })
            writer.field("isMalformed", tables.contains(where: \.isMalformed))
            writer.field("files", array: { for table in tables { write(table, to: &$0) } })
        }
        output.write(writer.bytes + [UInt8(ascii: "\n")])
    }

    private static func write(_ table: Played, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("file", table.path)
            if let fault = table.fault { writer.field("fault", object: fault.writeMembers) }
            table.report.writeMembers(to: &writer)
        }
    }
}
