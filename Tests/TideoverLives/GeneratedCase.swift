import TideoverCore
import TideoverJSON

/// One boundary of a generated life as a conformance case, with the fewest facts that keep it.
///
/// The rule on one side of the boundary and the rule on the other give different answers, so that
/// neither can stand in for the other. Access on both sides is also what the generator knows to be
/// true of the life.
package struct GeneratedCase: Sendable {
    package let seed: UInt64
    package let kind: Kind
    let life: Life
    let edge: Instant
    let before: Standing
    let from: Standing

    /// Who reports the life.
    package enum Kind: String, CaseIterable, Sendable {
        case appStore = "App Store"
        case relay = "App Store purchase that RevenueCat reports"
        case playReads = "Google Play, read"
        case playNotices = "Google Play, notifications alone"
        case appStoreWithLosses = "App Store, a message lost"
        case playWithLosses = "Google Play, a read missed"
    }

    /// Cases with the same signature show the same thing: the same two answers from as many facts
    /// that say the same.
    package var signature: String {
        let facts = life.facts.map(\.assertion.gist).sorted().joined(separator: " ")
        return "\(change): \(facts)"
    }

    /// Who reports which change of the answer. What a life with losses shows, one without may too.
    package var change: String {
        let reporter = kind == .playNotices ? "notifications" : life.lineage.store.rawValue
        return "\(reporter) \(life.lineage.ownership) \(before.told) > \(from.told)"
    }

    /// The cases that a seed yields, with at most one for each boundary of each life.
    package static func cases(seed: UInt64) -> [GeneratedCase] {
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
                GeneratedCase(seed, kind, life, edge, isEntitled)
            }
        }
    }

    private init?(
        _ seed: UInt64,
        _ kind: Kind,
        _ life: Life,
        _ edge: Instant,
        _ isEntitled: (Instant) -> Bool
    ) {
        let answers = life.answers(around: edge)
        guard answers.areDistinct, answers.before.access == isEntitled(edge.justBefore),
            answers.from.access == isEntitled(edge)
        else { return nil }
        let smallest = life.smallest { $0.answers(around: edge) == answers }
        // What few facts still show is a case; a whole life is a story.
        guard smallest.facts.count <= 8 else { return nil }
        (self.seed, self.kind, self.life, self.edge) = (seed, kind, smallest, edge)
        (before, from) = (answers.before, answers.from)
    }
}

/// The standing on both sides of a boundary.
private struct EdgeAnswers: Equatable {
    let before: Standing
    let from: Standing
    let after: Standing

    /// Whether two rules decide, and differently.
    var areDistinct: Bool {
        before.rule != from.rule && from.told == after.told
            && (before.state, before.reason) != (from.state, from.reason)
    }

    /// Which facts an answer rests on, and when it changes next, may differ.
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

    /// The life without every fact that a property does not need, left out one by one.
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

    /// The life without everything that was said at one instant, chosen by the seed.
    fileprivate func losing(_ seed: UInt64) -> Life {
        var random = SeededRandom(seed: seed)
        let instants = Set(facts.map(\.assertedAt)).sorted().dropFirst()
        guard let lost = instants.randomElement(using: &random) else { return self }
        var lossy = self
        lossy.facts.removeAll { $0.assertedAt == lost }
        return lossy
    }

    /// The same purchase where the store itself was never asked.
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

extension GeneratedCase {
    /// A conformance table of cases, a fact and an expectation a line.
    package static func table(of cases: [GeneratedCase]) -> String {
        let catalogue = JSONValue { Life().catalogue.write(to: &$0) }
        return """
            {
              "format": "tideover-conformance/1",
              "source": "Tideover, generated lives: access on each side is true of the life by its generator; rule, reason and dates follow docs/rules.md",
              "note": "Written by `TideoverLaws cases`. Each case is one boundary of the life that its seed makes, with the fewest facts that keep it.",
              "catalogue": \(catalogue.line),
              "cases": [
            \(cases.map(\.text).joined(separator: ",\n"))
              ]
            }

            """
    }

    private var text: String {
        let shared = Set(life.facts.map(\.evidence)).count < life.facts.count
        let ordered = life.facts.sorted {
            ($0.assertedAt, $0.evidence) < ($1.assertedAt, $1.evidence)
        }
        let facts = ordered.map { "        \($0.conformance(namingEvidence: shared).line)" }
        let name =
            "\(kind.rawValue), seed \(seed): \(before.summary) becomes \(from.summary) "
            + "at \(edge.rfc3339)"
        let sides = JSONValue.object([
            "edge": .string(edge.rfc3339), "before": before.expectation, "from": from.expectation,
        ])
        return """
                {
                  "name": \(JSONValue.string(name).line),
                  "source": "Generated life, seed \(seed)",
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
    /// What it says that rules decide on, without dates and names.
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
        case .reversal, .grant, .inquiry, .pending, .playPurchase, .playVoidedOrder,
            .playReplacement, .unrecognised:
            []
        }
    }
}

extension Fact {
    /// The fact in its one form, without the members that a table fills in.
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

    /// An object without the members that are null.
    fileprivate var withoutNulls: JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(
            members.reduce(into: JSONObject()) { if !$1.value.isNull { $0[$1.key] = $1.value } }
        )
    }
}
