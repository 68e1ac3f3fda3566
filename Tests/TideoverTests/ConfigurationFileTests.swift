import Foundation
import Testing
import TideoverCore
import TideoverTestProcesses

@testable import TideoverCommandLine
@testable import tideover

/// Tests which configuration and which of its apps a command uses.
@Suite final class ConfigurationFileTests: SuiteWithFolder {
    private struct Search {
        var named: String?
        var variable: String?
        var present: Set<String> = []
        let found: String?
    }

    private static let system = "/etc/tideover/tideover.json"

    private static let searches = [
        Search(named: "a.json", variable: "b.json", present: ["tideover.json"], found: "a.json"),
        Search(variable: "b.json", present: ["tideover.json", system], found: "b.json"),
        Search(variable: "", present: ["tideover.json", system], found: "tideover.json"),
        Search(present: ["tideover.json", system], found: "tideover.json"),
        Search(present: [system], found: system), Search(found: nil),
    ]

    @Test(arguments: ConfigurationFileTests.searches.indices)
    func `the named configuration is used, else the first one found`(index: Int) {
        let search = Self.searches[index]
        let found = ConfigurationFile.find(
            named: search.named,
            byVariable: search.variable,
            exists: { search.present.contains($0) }
        )
        #expect(found == search.found)
    }

    private func configuration(apps: [String: String]) throws -> String {
        let text = apps.keys.sorted().map { id in
            """
            { id: "\(id)", environments: ["\(apps[id] ?? "")"],
              appStore: { bundleId: "com.example.\(id)", appAppleId: 1 },
              products: { "a": { entitlements: ["premium"], period: "P1M" } } }
            """
        }
        let path = folder.path + "/tideover.json"
        try Data("{ apps: [\(text.joined(separator: ", "))] }".utf8).write(to: URL(filePath: path))
        return path
    }

    private func run(_ words: [String], config: String) async throws -> (ExitCode, Output) {
        let variables = [ConfigurationFile.variable: config]
        return await Tideover.run(words, variables: variables)
    }

    @Test func `the variable names the configuration without a notice`() async throws {
        let path = try configuration(apps: ["cards": "sandbox"])
        let (code, output) = try await run(["config"], config: path)
        #expect(code == .success)
        #expect(output.results.captured.contains("com.example.cards"))
        #expect(output.messages.captured.isEmpty)
    }

    @Test func `the only app and the only environment need no name`() async throws {
        let path = try configuration(apps: ["cards": "sandbox"])
        let (made, _) = try await run(["keys", "add", "--kind", "secret"], config: path)
        #expect(made == .success)
        let (code, output) = try await run(["explain", "u_42"], config: path)
        #expect(code == .success, "\(output.messages.captured)")
        #expect(output.results.captured.hasPrefix("u_42 in cards, sandbox, at "))
    }

    @Test func `the environment of a purchase to explain is checked, too`() async throws {
        let path = try configuration(apps: ["cards": "sandbox"])
        let words = ["explain", "--order", "GPA.1", "--environment", "production"]
        let (code, output) = try await run(words, config: path)
        #expect(code == .configuration)
        #expect(output.messages.captured.contains("the app cards is not served in production"))
    }

    @Test(
        arguments: [
            ([], "give `FILE`, `--offerings` or `--from-api`"),
            (["-"], "FILE cannot be `-`"),
            (["a.jsonl", "--key-file", "a.key"], "`--key-file` needs `--from-api` too"),
            (["a.jsonl", "--offerings", "a.json"], "`--offerings` and `FILE` cannot be combined"),
            (["a.jsonl", "--from-api", "p"], "`--from-api` and `FILE` cannot be combined"),
        ] as [([String], String)]
    )
    func `an import of RevenueCat's data without a usable source is wrong usage`(
        words: [String],
        message: String
    ) async throws {
        let path = try configuration(apps: ["cards": "sandbox"])
        let (code, output) = try await run(["import", "revenuecat"] + words, config: path)
        #expect(code == .usage)
        let messages = output.messages.captured
        #expect(messages.contains(message), "\(messages)")
    }

    @Test func `one of several apps must be named`() async throws {
        let path = try configuration(apps: ["books": "sandbox", "cards": "sandbox"])
        let (code, output) = try await run(["explain", "u_42"], config: path)
        #expect(code == .usage)
        #expect(output.messages.captured.contains("has several apps: books, cards"))
        #expect(output.messages.captured.contains("Name one with --app."))
    }

    @Test(arguments: [[], ["--policy"]])
    func `a policy to try is refused with the line, column and key of each problem`(
        option: [String]
    ) async throws {
        let path = try configuration(apps: ["cards": "sandbox"])
        let policy = folder.path + "/longer.json5"
        let text = "{\n  billingRetry: 7,\n  graceFor: '3d',\n}\n"
        try Data(text.utf8).write(to: URL(filePath: policy))
        let (code, output) = try await run(["policy", "try"] + option + [policy], config: path)
        #expect(code == .data)
        let messages = output.messages.captured
        #expect(messages.contains("\(policy):2:17: billingRetry: "), "\(messages)")
        #expect(messages.contains("\(policy):3:3: unknown key `graceFor`"), "\(messages)")
    }

    @Test(arguments: [[], ["longer.json5", "--policy", "longer.json5"]])
    func `a policy to try is named once`(names: [String]) async throws {
        let path = try configuration(apps: ["cards": "sandbox"])
        #expect(try await run(["policy", "try"] + names, config: path).0 == .usage)
    }

    @Test(arguments: [
        ("2026-05-06", true), ("2026-05-06T10:00:00Z", true), ("2026-13-06", false),
        ("2026-5-6", false), ("tomorrow", false),
    ])
    func `a date is accepted as a day`(text: String, isAccepted: Bool) async throws {
        let path = try configuration(apps: ["cards": "sandbox"])
        _ = try await run(["keys", "add", "--kind", "secret"], config: path)
        for option in ["--at", "--as-known-at"] {
            let (code, _) = try await run(["explain", "u_42", option, text], config: path)
            #expect(code == (isAccepted ? .success : .usage), "\(option) \(text)")
        }
    }

    @Test(arguments: [
        (EdgeOfDay.start, "2026-02-28T00:00:00.000Z"), (.end, "2026-03-01T00:00:00.000Z"),
    ])
    func `a date means the requested edge of its day`(edge: EdgeOfDay, instant: String) {
        #expect(ValueForm<Instant>.instant(ofDay: edge).read("2026-02-28")?.rfc3339 == instant)
    }
}
