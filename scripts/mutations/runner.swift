import Glibc
import TideoverCore

// Reads one conformance table from standard input and prints its failing cases. Cases with messages of
// a store are skipped, because the copy has no code that translates them.

var text = ""
while let line = readLine(strippingNewline: false) { text += line }

do {
    let report = try ConformanceTable(Array(text.utf8)).run()
    for outcome in report.outcomes {
        switch outcome.result {
        case .passed, .notRun: continue
        case .failed(let differences): print("\(outcome.name): \(differences[0])")
        case .malformed(let fault): print("\(outcome.name): line \(fault.line): \(fault)")
        }
    }
    if report.failed + report.malformed > 0 { exit(1) }
} catch {
    print("line \(error.line): \(error)")
    exit(1)
}
