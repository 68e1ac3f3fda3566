import Foundation
import Testing
import TideoverJSON
import TideoverTestProcesses
import TideoverUnionChecker

/// The checker of the SDKs' answers that is written in Python.
enum OtherChecker {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "scripts/revenuecat_union.py").path

    static func run(_ arguments: [String]) throws -> ChildProcess.Said {
        try ChildProcess.run(["/usr/bin/python3", "-B", script] + arguments)
    }

    /// Returns the JSON values of the lines that it prints.
    static func lines(_ arguments: [String]) throws -> [JSONNode] {
        let said = try run(arguments)
        try #require(said.code == 0, "\(said.messages)")
        return try said.results.split(separator: "\n").map { line in
            try JSONDocument(Array(line.utf8), limits: .local).root
        }
    }

    /// Returns what it concludes from each answer to a device, and why it refuses it.
    static func conclusions(from answers: [[UInt8]]) throws -> [JSONNode] {
        let file = FileManager.default.temporaryDirectory.appending(
            path: "tideover-union-\(UUID().uuidString).jsonl"
        )
        defer { try? FileManager.default.removeItem(at: file) }
        var lines: [UInt8] = []
        for answer in answers {
            let time = try #require(try JSONDocument(answer).root["request_date_ms"]?.int64)
            let headers: JSONValue = [
                "Content-Type": "application/json", "X-RevenueCat-Request-Time": .string("\(time)"),
            ]
            lines += #"{"response": {"status": 200, "headers": "#.utf8
            lines += headers.encoded() + Array(#", "body": "#.utf8) + answer + Array("}}\n".utf8)
        }
        try Data(lines).write(to: file)
        return try self.lines(["--conclusions", file.path])
    }
}

/// Tests that both checkers of the SDKs' answers say the same.
@Suite struct UnionAgreementTests {
    /// The faults are named by the other checker, each with the places where it refuses the answer.
    @Test func `both accept the same answers, and refuse planted faults at the same place`() throws
    {
        let cases = try OtherChecker.lines(["--planted-cases"])
        #expect(cases.count > 200)
        for one in cases {
            let name = one["name"]?.string ?? ""
            let refusals = try UnionChecker.Exchange(one).refusals
            #expect(refusals.isEmpty == (one["refused"]?.bool == false), "\(name): \(refusals)")
            let places = one["places"]?.elements.compactMap(\.string) ?? []
            #expect(Set(refusals.map(\.place)).isSubset(of: places), "\(name): \(refusals)")
        }
    }

    @Test(.enabled(if: RecordedExchange.present, "the vectors are not beside the project"))
    func `the other one concludes what the real decoders concluded`() throws {
        let said = try OtherChecker.run(["--self-test", RecordedExchange.folder.path])
        #expect(said.code == 0, "\(said.results)\(said.messages)")
        #expect(said.results.contains("golden files that agree: 41 of 41"))
    }
}
