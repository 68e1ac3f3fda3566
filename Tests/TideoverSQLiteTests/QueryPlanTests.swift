import Foundation
import Testing
import TideoverSQLite
import TideoverStorage
import TideoverTestProcesses

/// Each statement finds its rows by an index, so that it does not slow down as tables grow.
@Suite struct QueryPlanTests {
    /// Statements that may read all rows of one app: the table is small, or they end at the first,
    /// or after as many as their caller wants.
    private static let wholeApp: Set<String> = [
        "keys", "webhooks", "tallies", "policyVersions", "insertPolicy", "newestPolicy",
        "latestAudit", "latestEvent", "latestEvents", "pruneAudit", "pruneEvents", "eraseAudit",
        "eraseEvent", "unclaimedCount", "staleFigures",
        "anyFactByKey", "moveFacts", "removeMovedFacts", "anyEventByKey", "moveEvents",
        "removeMovedEvents", "pruneEventsByKey", "eraseEventByKey", "anyAlias", "anyDrift",
        "anyPrompt",
    ]

    /// Returns the statements of the storage by name.
    private func statements() throws -> [(name: String, sql: String)] {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let files = ["TideoverSQLite/SQL.swift", "TideoverStorage/CommonSQL.swift"]
        let text = try files.map {
            try String(contentsOf: root.appending(path: "Sources/\($0)"), encoding: .utf8)
        }.joined()
        let form = /static let (\w+): StaticString =\s*(?:"""\n((?:.|\n)*?)"""|"(.*?)")/
        return text.matches(of: form).map { found in
            (String(found.1), String(found.2 ?? found.3 ?? ""))
        }
    }

    @Test func `each statement finds its rows by an index`() async throws {
        let folder = try TemporaryFolder()
        try await folder.open().close()
        let all = try statements()
        #expect(all.count > 100)
        let plans = try folder.plans(of: all)
        for (name, _) in all where !Self.wholeApp.contains(name) {
            let plan = try #require(plans[name], "no plan of \(name)")
            #expect(plan.filter(Self.isWalk) == [], "\(name)")
        }
    }

    /// Returns whether a line of a plan reads more than an index finds.
    private static func isWalk(_ line: String) -> Bool {
        // A subquery in memory, a row of constants, or a list in a parameter.
        if ["SCAN due", "SCAN some", "SCAN CONSTANT ROW"].contains(line) { return false }
        if line.hasPrefix("SCAN json_each VIRTUAL TABLE") { return false }
        return line.hasPrefix("SCAN ") || line.hasSuffix("(app=?)")
            || line.hasSuffix("(app=? AND environment=?)")
    }
}

extension TemporaryFolder {
    /// Returns the lines of each statement's plan, by name.
    fileprivate func plans(of statements: [(name: String, sql: String)]) throws -> [String:
        [String]]
    {
        let commands = statements.flatMap { [".print \($0.name)", "EXPLAIN QUERY PLAN \($0.sql)"] }
        let said = try ChildProcess.run(["/usr/bin/env", "sqlite3", database] + commands)
        #expect(said.code == 0, "\(said.messages)")
        var plans: [String: [String]] = [:]
        var name = ""
        for line in said.results.split(separator: "\n") where line != "QUERY PLAN" {
            if let start = line.range(of: "--") {
                plans[name, default: []].append(String(line[start.upperBound...]))
            } else {
                name = String(line)
                plans[name] = []
            }
        }
        return plans
    }
}
