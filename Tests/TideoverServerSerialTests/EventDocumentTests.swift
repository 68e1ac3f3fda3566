import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// The content of `docs/events.md`.
struct EventPage {
    struct Section {
        var kind: String
        /// The members of `data` in its table.
        var members: Set<String> = []
        var example = ""
    }

    private(set) var sections: [Section] = []
    /// The members of all transitions, and those of all events.
    private var transition: Set<String> = []
    private let common: Set<String> = ["app", "customer", "environment", "answer"]

    static let page = Result { try EventPage() }

    init() throws {
        let file = ConfigurationDocumentTests.root.appending(path: "docs/events.md")
        var isExample = false
        var isOfTransitions = false
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("## ") {
                isOfTransitions = line.hasPrefix("## Members of transitions")
            }
            if line.hasPrefix("### `") {
                sections.append(Section(kind: String(line.dropFirst(5).dropLast())))
            } else if line.hasPrefix("```") {
                isExample = line == "```json"
            } else if isExample, !sections.isEmpty {
                sections[sections.count - 1].example += line
            } else if line.hasPrefix("| `") {
                let names = line.split(separator: "|")[0].matches(of: /`([A-Za-z]+)`/)
                    .map { String($0.output.1) }
                if isOfTransitions { transition.formUnion(names) }
                if !sections.isEmpty { sections[sections.count - 1].members.formUnion(names) }
            }
        }
    }

    /// Returns the members of an event's `data` that the page does not document.
    func undocumented(in event: JSONValue) -> [String] {
        let kind = event["kind"]?.string ?? ""
        let names = event["data"]?.object?.map(\.key) ?? []
        guard let section = sections.first(where: { $0.kind == kind }) else { return names }
        let isTransition = Transition.Kind(rawValue: kind) != nil
        let known = section.members.union(common).union(isTransition ? transition : [])
        return names.filter { !known.contains($0) }
    }
}

@Suite struct EventDocumentTests {
    private static let kinds =
        ["entitlement_changed"] + Transition.Kind.allCases.map(\.rawValue)
        + [Deadline.Kind.trialEnding, .graceEnding].map(\.rawValue)
        + [PlannedMessage.eventKind, PurchaseMove.eventKind, Corrections.Correction.kind]

    private func document() async throws -> JSONDocument {
        let server = try TestServer()
        let document = try JSONDocument(try await server.get("/openapi.json").body)
        await server.close()
        return document
    }

    @Test func `each kind has a section, and a schema that the discriminator selects`() async throws
    {
        #expect(Set(try EventPage.page.get().sections.map(\.kind)) == Set(Self.kinds))
        let event = try await document().root["components"]?["schemas"]?["Event"]
        let mapping = event?["discriminator"]?["mapping"]?.members.map(\.key) ?? []
        #expect(Set(mapping) == Set(Self.kinds))
        #expect(try EventPage.page.get().sections.count == Self.kinds.count)
        // Those that a webhook's filter can name without a notice.
        #expect(WebhookFilter.kinds == Set(Self.kinds))
    }

    @Test func `each example is an event of its kind, with an answer`() async throws {
        let schemas = Schemas(try await document())
        let page = try EventPage.page.get()
        for section in page.sections {
            let example = try JSONDocument(Array(section.example.utf8))
            #expect(example.root["kind"]?.string == section.kind)
            #expect(schemas.faults(of: example.root, named: "Event") == [], "\(section.kind)")
            #expect(example.root["data"]?["answer"] != nil, "\(section.kind)")
            #expect(page.undocumented(in: JSONValue(example.root)) == [], "\(section.kind)")
        }
    }
}
