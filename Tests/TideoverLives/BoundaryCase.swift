package import TideoverCore
import TideoverJSON

/// One boundary of a life as a conformance case, with the fewest facts that preserve it.
///
/// The rules on the two sides of the boundary give different answers, so that neither can replace
/// the other. Access on both sides also matches what the life's origin knows.
package struct BoundaryCase: Sendable {
    package let kind: Kind
    /// The beginning of the case's name.
    let title: String
    /// What produced the life: a seed, or a scenario.
    let source: String
    let life: Life
    let edge: Instant
    let before: Standing
    let from: Standing

    /// The source of the reports.
    package enum Kind: String, CaseIterable, Sendable {
        case appStore = "App Store"
        case relay = "App Store purchase that RevenueCat reports"
        case playReads = "Google Play, read"
        case playNotices = "Google Play, notifications alone"
        case appStoreWithLosses = "App Store, a message lost"
        case playWithLosses = "Google Play, a read missed"
        case scenario = "scenario"

        /// The kinds that a seed produces.
        package static let generated = allCases.filter { $0 != .scenario }
    }

    /// Cases with the same signature are equivalent: the same two answers from the same number of
    /// facts with the same content.
    package var signature: String {
        let facts = life.facts.map(\.assertion.gist).sorted().joined(separator: " ")
        return "\(change): \(facts)"
    }

    /// The source of the reports and the change of the answer. Both lives with losses and lives
    /// without may show it.
    package var change: String {
        let reporter = kind == .playNotices ? "notifications" : life.lineage.store.rawValue
        return "\(reporter) \(life.lineage.ownership) \(before.told) > \(from.told)"
    }

    /// Returns the cases of a seed, with at most one for each boundary of each life.
    package static func cases(seed: UInt64) -> [BoundaryCase] {
        var random = SeededRandom(seed: seed)
        let apple = GeneratedLife(&random)
        let play = GeneratedPlayLife(&random)
        let lives: [(Kind, Life, (Instant) -> Bool)] = [
            (.appStore, apple.life, { apple.product(at: $0) != nil }),
            (.relay, apple.life.relayed, { apple.product(at: $0) != nil }),
            (.playReads, play.life, { play.product(at: $0) != nil }),
            (.playNotices, play.unread, { play.product(at: $0) != nil }),
            (.appStoreWithLosses, apple.life.losing(seed), { apple.product(at: $0) != nil }),
            (.playWithLosses, play.life.losing(seed), { play.product(at: $0) != nil }),
        ]
        return lives.flatMap { kind, life, isEntitled in
            Set(life.history.boundaries(policy: life.policy)).sorted().compactMap { edge in
                BoundaryCase(
                    kind,
                    title: "\(kind.rawValue), seed \(seed)",
                    source: "Generated life, seed \(seed)",
                    life,
                    edge,
                    isEntitled: (isEntitled(edge.justBefore), isEntitled(edge))
                )
            }
        }
    }

    /// Creates a case unless both sides of the boundary are alike or differ from the truth.
    package init?(
        _ kind: Kind,
        title: String,
        source: String,
        _ life: Life,
        _ edge: Instant,
        isEntitled: (before: Bool, from: Bool)
    ) {
        let answers = life.answers(around: edge)
        guard answers.areDistinct, answers.before.access == isEntitled.before,
            answers.from.access == isEntitled.from
        else { return nil }
        let smallest = life.smallest { $0.answers(around: edge) == answers }
        // A case has few facts; a complete life is too long.
        guard smallest.facts.count <= 8 else { return nil }
        (self.kind, self.title, self.source) = (kind, title, source)
        (self.life, self.edge) = (smallest, edge)
        (before, from) = (answers.before, answers.from)
    }
}

/// The standing on both sides of a boundary.
private struct EdgeAnswers: Equatable {
    let before: Standing
    let from: Standing
    let after: Standing

    /// Whether two different rules decide, with different results.
    var areDistinct: Bool {
        before.rule != from.rule && from.told == after.told
            && (before.state, before.reason) != (from.state, from.reason)
    }

    /// Compares answers. Their evidence and their next change may differ.
    static func == (one: EdgeAnswers, other: EdgeAnswers) -> Bool {
        zip([one.before, one.from, one.after], [other.before, other.from, other.after])
            .allSatisfy { $0.compared == $1.compared }
    }
}

extension Standing {
    fileprivate var compared: [String?] {
        [
            told, productId, accessUntil?.rfc3339, graceUntil?.rfc3339,
            willRenew.map { String($0) },
        ]
    }
}

extension Life {
    fileprivate func answers(around edge: Instant) -> EdgeAnswers {
        let answers = standings([edge.justBefore, edge, edge + Self.step])
        return EdgeAnswers(before: answers[0], from: answers[1], after: answers[2])
    }

    private static let step = Milliseconds(1)

    /// Returns the life without every fact that a property does not need, removed one by one.
    func smallest(where holds: (Life) -> Bool) -> Life {
        var smallest = self
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            for position in smallest.facts.indices.reversed() where smallest.facts.count > 1 {
                var without = smallest
                without.facts.remove(at: position)
                guard holds(without) else { continue }
                smallest = without
                isSmaller = true
            }
        }
        return smallest
    }

    /// Returns the life without all facts asserted at one instant, chosen by the seed.
    fileprivate func losing(_ seed: UInt64) -> Life {
        var random = SeededRandom(seed: seed)
        let instants = Set(facts.map(\.assertedAt)).sorted().dropFirst()
        guard let lost = instants.randomElement(using: &random) else { return self }
        var lossy = self
        lossy.facts.removeAll { $0.assertedAt == lost }
        return lossy
    }

    /// The same purchase, if the store itself was never queried.
    fileprivate var relayed: Life {
        var relayed = self
        relayed.lineage.store = .revenueCat
        for position in relayed.facts.indices {
            relayed.facts[position].lineage = relayed.lineage
            relayed.facts[position].rank = .relayed
            relayed.facts[position].source = .revenueCatWebhook
        }
        return relayed
    }
}

// MARK: - As a table

extension BoundaryCase {
    /// Returns a conformance table of cases, with one fact or expectation a line.
    package static func table(of cases: [BoundaryCase]) -> String {
        let catalogue = JSONValue { Life().catalogue.write(to: &$0) }
        return """
            {
              "format": "tideover-conformance/1",
              "source": "Tideover, generated lives: access on each side is true of the life by its generator; rule, reason and dates follow docs/rules.md",
              "note": "Written by `TideoverLaws cases`. Each case is one boundary of the life that its seed makes, with the fewest facts that keep it.",
              "catalogue": \(catalogue.line),
              "cases": [
            \(cases.map { $0.text(catalogue: nil) }.joined(separator: ",\n"))
              ]
            }

            """
    }

    /// Returns a conformance table of scenarios' boundaries, each case with its products.
    package static func scenarioTable(of cases: [BoundaryCase]) -> String {
        let texts = cases.map { one in
            one.text(catalogue: JSONValue { one.life.catalogue.write(to: &$0) })
        }
        return """
            {
              "format": "tideover-conformance/1",
              "source": "Tideover, scenarios: access on each side is that of the simulated store; rule, reason and dates follow docs/rules.md",
              "note": "Written by `TideoverLaws boundaries`. Each case is one boundary of a customer's purchase in a scenario, with the fewest facts that keep it.",
              "cases": [
            \(texts.joined(separator: ",\n"))
              ]
            }

            """
    }

    private func text(catalogue: JSONValue?) -> String {
        let shared = Set(life.facts.map(\.evidence)).count < life.facts.count
        let ordered = life.facts.sorted {
            ($0.assertedAt, $0.evidence) < ($1.assertedAt, $1.evidence)
        }
        let facts = ordered.map { "        \($0.conformance(namingEvidence: shared).line)" }
        let name =
            "\(title): \(before.summary) becomes \(from.summary) "
            + "at \(edge.rfc3339)"
        let sides = JSONValue.object([
            "edge": .string(edge.rfc3339), "before": before.expectation, "from": from.expectation,
        ])
        let products = catalogue.map { "\n      \"catalogue\": \($0.line)," } ?? ""
        return """
                {
                  "name": \(JSONValue.string(name).line),
                  "source": \(JSONValue.string(source).line),\(products)
                  "base": \(life.base.line),
                  "facts": [
            \(facts.joined(separator: ",\n"))
                  ],
                  "expect": [
                    \(sides.line)
                  ]
                }
            """
    }
}

extension Standing {
    fileprivate var summary: String { "\(state.rawValue) by \(rule.rawValue)" }

    fileprivate var expectation: JSONValue {
        .object([
            "state": .string(state.rawValue), "reason": .string(reason.rawValue),
            "access": .bool(access), "confidence": .string(confidence.rawValue),
            "rule": .string(rule.rawValue), "productId": productId.map { .string($0) } ?? .null,
            "accessUntil": accessUntil.map { .string($0.rfc3339) } ?? .null,
            "graceUntil": graceUntil.map { .string($0.rfc3339) } ?? .null,
            "willRenew": willRenew.map { .bool($0) } ?? .null,
        ])
    }
}

extension Life {
    fileprivate var base: JSONValue {
        .object([
            "store": .string(lineage.store.rawValue), "id": .string(lineage.id),
            "ownership": .string(lineage.ownership.rawValue),
        ])
    }
}

extension Assertion {
    /// The content that rules use, without dates and names.
    fileprivate var gist: String {
        ([kind] + marks.compactMap(\.self)).joined(separator: "+")
    }

    private var marks: [String?] {
        switch self {
        case .term(let term):
            [
                term.isUpgraded ? "upgraded" : nil, term.isRevoked ? "revoked" : nil,
                term.offer.map { "\($0.kind)" },
            ]
        case .outlook(let outlook):
            [
                outlook.willRenew.map { $0 ? "renews" : "ends" },
                outlook.isRetrying == true ? "retrying" : nil,
                outlook.graceEnd.map { _ in "grace" },
                outlook.lapse.map { "\($0)" },
                outlook.renewsInto == outlook.productId ? nil : "changes",
            ]
        case .condition(let condition):
            [condition.status.map { "\($0)" }, condition.notice.map { "\($0)" }]
        case .revocation(let revocation): ["\(revocation.cause)"]
        case .playSubscription(let read):
            [
                "\(read.state)", read.cancellation.map { "\($0)" },
                read.replaces.map { _ in "replaces" }, read.items.first.map { "\($0.plan)" },
                read.items.first?.replacement.map { _ in "changes" },
            ]
        case .playNotice(let notice): ["\(notice.kind)"]
        case .reversal, .grant, .move, .inferredOwner, .inquiry, .pending, .playPurchase,
            .playVoidedOrder, .playReplacement, .unrecognised:
            []
        }
    }
}

extension Fact {
    /// Returns the fact in its JSON form, without the members that a table fills in.
    fileprivate func conformance(namingEvidence: Bool) -> JSONValue {
        let whole = JSONValue { write(to: &$0) }.object ?? JSONObject()
        let asserted = whole["assertedAt"]
        let began = ["start", "date", "from", "askedAt"].lazy
            .compactMap { date in whole.lazy.compactMap { $0.value[date] }.first }.first
        var said = JSONObject()
        for (name, value) in whole {
            switch name {
            case "lineage", "source": break
            case "effectiveAt": if value != began ?? asserted { said[name] = value }
            case "learnedAt": if value != asserted { said[name] = value }
            case "rank": if rank != .store { said[name] = value }
            case "evidence": if namingEvidence { said[name] = value }
            default: if !value.isNull { said[name] = value.withoutNulls }
            }
        }
        return .object(said)
    }
}

extension JSONValue {
    fileprivate var line: String { String(decoding: encoded(), as: UTF8.self) }

    /// An object without its null members.
    fileprivate var withoutNulls: JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(
            members.reduce(into: JSONObject()) { if !$1.value.isNull { $0[$1.key] = $1.value } }
        )
    }
}
