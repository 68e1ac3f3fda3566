import Foundation
import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLives
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

/// `boundaries`: boundaries of the purchases in scenarios as a conformance table.
enum Boundaries {
    private static let files = Parameter.arguments("SCENARIO", "Scenario files")
    private static let most = Parameter.option(
        "--most-alike",
        "N",
        "How many cases with the same change of the answer to write",
        as: ValueForm<Int>.integer(in: 1...1000),
        default: "6"
    )

    static let command = Command(
        "boundaries",
        summary: "write boundaries of scenarios as a conformance table",
        examples: [
            Example(
                "TideoverLaws boundaries Scenarios/*.json5 >Conformance/scenario-boundaries.json",
                "the table of the project"
            )
        ],
        parameters: [files, most],
        notes: [
            "A case is kept if a different rule gives a different answer on each side of the "
                + "boundary, and the simulated store confirms access on both sides.",
            "Exit code 1 if a scenario cannot be played.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        var known: Set<String> = []
        var shown: [String: Int] = [:]
        var cases: [GeneratedCase] = []
        for path in arguments[files].sorted() {
            do {
                for one in try await Self.cases(path)
                where shown[one.change, default: 0] < arguments[most]
                    && known.insert(one.signature).inserted
                {
                    shown[one.change, default: 0] += 1
                    cases.append(one)
                }
            } catch {
                output.message("\(path): \(error)")
                return .failure
            }
        }
        output.write(Array(GeneratedCase.scenarioTable(of: cases).utf8))
        output.message("\(cases.count) cases")
        return .success
    }

    private static func cases(_ path: String) async throws -> [GeneratedCase] {
        let scenario = try Scenario(reading: Array(try Data(contentsOf: URL(filePath: path))))
        // A relay has no record of its own of who was entitled.
        guard scenario.revenueCat == nil else { return [] }
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let rehearsal = try Rehearsal(scenario, in: folder.path, version: "cases")
        let stores = try await rehearsal.playKeepingStores().stores
        var cases: [GeneratedCase] = []
        for customer in scenario.customers {
            guard let life = try await life(of: customer, in: scenario, rehearsal) else { continue }
            let name = URL(filePath: path).lastPathComponent
            for edge in Set(life.history.boundaries(policy: life.policy)).sorted()
            where edge.millisecondsSince1970 <= stores.now {
                let instant = edge.millisecondsSince1970
                let before = await stores.isEntitled(customer.name, at: instant - 1)
                let from = await stores.isEntitled(customer.name, at: instant)
                let one = GeneratedCase(
                    .scenario,
                    title: "\(scenario.name) (\(customer.name))",
                    source: "Scenarios, \(name)",
                    life,
                    edge,
                    isEntitled: (before, from)
                )
                if let one { cases.append(one) }
            }
        }
        await rehearsal.close()
        return cases
    }

    /// Returns the facts about a customer with exactly one purchase.
    private static func life(
        of customer: StoreCustomer,
        in scenario: Scenario,
        _ rehearsal: Rehearsal
    ) async throws -> Life? {
        let id = customer.appAccountToken ?? customer.name
        let path = "/v1/apps/\(scenario.app.id)/customers/\(id)/explain?environment=simulated"
        let request = Request(method: "GET", target: path, headers: rehearsal.credentials, body: [])
        guard let request else { return nil }
        let answer = try JSONDocument(try await rehearsal.service.handler(request).body).root
        var facts: Set<Fact> = []
        for explanation in answer["entitlements"]?.members.map(\.value) ?? [] {
            for part in ["used", "setAside"] {
                for one in explanation[part]?.elements.map({ $0 }) ?? [] {
                    if let fact = one["fact"] { facts.insert(try Fact(json: fact)) }
                }
            }
        }
        guard let lineage = facts.first?.lineage, facts.allSatisfy({ $0.lineage == lineage })
        else { return nil }
        var life = Life()
        life.lineage = lineage
        life.catalogue = Catalogue(scenario)
        life.facts = facts.sorted { ($0.learnedAt, $0.evidence) < ($1.learnedAt, $1.evidence) }
        return life
    }
}
