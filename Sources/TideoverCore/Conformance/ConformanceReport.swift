public import TideoverJSON

/// The results of the cases of a table.
public struct ConformanceReport: Sendable {
    /// One for each case, in the order of the table.
    public let outcomes: [ConformanceOutcome]

    public init(outcomes: [ConformanceOutcome] = []) {
        self.outcomes = outcomes
    }

    public var passed: Int { outcomes.count { $0.result == .passed } }
    public var failed: Int { outcomes.count { $0.result.isFailed } }
    public var malformed: Int { outcomes.count { $0.result.isMalformed } }
    public var notRun: Int { outcomes.count { $0.result.isNotRun } }
}

/// The result of one case.
public struct ConformanceOutcome: Sendable {
    public let name: String
    /// The source of its expectations.
    public let source: String
    /// The line in the file where it begins, counted from 1.
    public let line: Int
    public let result: Result

    public enum Result: Hashable, Sendable {
        case passed
        case failed([ConformanceDifference])
        case malformed(ConformanceFault)
        /// No translation is available for messages of this store.
        case notRun(store: String)

        var isFailed: Bool { if case .failed = self { true } else { false } }
        var isMalformed: Bool { if case .malformed = self { true } else { false } }
        var isNotRun: Bool { if case .notRun = self { true } else { false } }
    }
}

/// A difference from a case's expectation.
public enum ConformanceDifference: Hashable, Sendable {
    /// A member of an answer; `line` is the line of the expectation.
    case answer(line: Int, at: Instant, member: String, expected: JSONValue, got: JSONValue)
    /// A message was rejected, with the reason as text.
    case refused(line: Int, reason: String)
}

extension ConformanceDifference: CustomStringConvertible {
    /// The difference in one sentence.
    public var description: String {
        switch self {
        case .answer(_, let instant, let member, let expected, let got):
            "at \(instant.rfc3339) \(member) should be \(expected.text), but is \(got.text)"
        case .refused(_, let reason): "a message was refused: \(reason)"
        }
    }

    /// The line of the expectation in the file, counted from 1.
    public var line: Int {
        switch self {
        case .answer(let line, _, _, _, _), .refused(let line, _): line
        }
    }
}

extension JSONValue {
    fileprivate var text: String { String(decoding: encoded(), as: UTF8.self) }
}

// MARK: - Running

extension ConformanceTable {
    /// Runs every question of every case, and compares the expected members.
    ///
    /// `translate` turns a store's messages into facts. Without it, cases with messages are not
    /// run.
    public func run(translating translate: ConformanceTranslation? = nil) -> ConformanceReport {
        let refuse: ConformanceTranslation = { throw ConformanceUntranslated(store: $0.store) }
        return ConformanceReport(
            outcomes: entries.map { entry in
                ConformanceOutcome(
                    name: entry.name,
                    source: entry.source,
                    line: entry.line,
                    result: Self.result(of: entry.content, translate ?? refuse)
                )
            }
        )
    }

    private static func result(
        of content: Result<ConformanceCase, ConformanceFault>,
        _ translate: ConformanceTranslation
    ) -> ConformanceOutcome.Result {
        switch content {
        case .failure(let fault): .malformed(fault)
        case .success(let found): found.result(translate)
        }
    }
}

extension ConformanceCase {
    fileprivate func result(_ translate: ConformanceTranslation) -> ConformanceOutcome.Result {
        var known = facts
        for message in messages {
            do {
                known += try translate(message)
            } catch let error as ConformanceUntranslated {
                return .notRun(store: error.store)
            } catch {
                return .failed([.refused(line: message.line, reason: "\(error)")])
            }
        }
        do throws(ConformanceFault) {
            var differences: [ConformanceDifference] = []
            for question in questions { differences += try question.differences(known, self) }
            return differences.isEmpty ? .passed : .failed(differences)
        } catch {
            return .malformed(error)
        }
    }
}

extension ConformanceQuestion {
    fileprivate func differences(
        _ facts: [Fact],
        _ asked: ConformanceCase
    ) throws(ConformanceFault) -> [ConformanceDifference] {
        let answer = answer(by: facts, in: asked)
        var found: [ConformanceDifference] = []
        for (name, value) in expected {
            guard let got = answer[name] else {
                let closest = closestName(to: name, among: answer.map(\.key))
                throw ConformanceFault(.unknownMember(name, closest: closest), at: node)
            }
            compare(value.withWholeTimes, got, as: name, &found)
        }
        return found
    }

    /// Compares objects by the expected members only, and lists element by element.
    private func compare(
        _ expected: JSONValue,
        _ got: JSONValue,
        as name: String,
        _ found: inout [ConformanceDifference]
    ) {
        switch (expected, got) {
        case (.object(let members), .object):
            for member in members {
                compare(member.value, got[member.key] ?? .null, as: "\(name).\(member.key)", &found)
            }
        case (.array(let mine), .array(let theirs)) where mine.count == theirs.count:
            for (index, pair) in zip(mine, theirs).enumerated() {
                compare(pair.0, pair.1, as: "\(name)[\(index)]", &found)
            }
        case _ where !expected.isSame(as: got):
            let shown = got.keepingMembers(of: expected)
            found.append(
                .answer(
                    line: node.position.line,
                    at: instant,
                    member: name,
                    expected: expected,
                    got: shown
                )
            )
        default: break
        }
    }
}

extension JSONValue {
    /// Whether two values are equal. Times are equal if they name the same instant.
    fileprivate func isSame(as other: JSONValue) -> Bool {
        guard let mine = string.flatMap({ Instant(rfc3339: $0) }),
            let theirs = other.string.flatMap({ Instant(rfc3339: $0) })
        else { return self == other }
        return mine == theirs
    }

    /// Returns a list of objects reduced to the members that occur in another list, to make the
    /// differences visible.
    fileprivate func keepingMembers(of other: JSONValue) -> JSONValue {
        let names = Set((other.array ?? []).flatMap { $0.object?.map(\.key) ?? [] })
        guard !names.isEmpty, let elements = array else { return self }
        return .array(elements.map { $0.object.map { .object($0.keeping(names)) } ?? $0 })
    }
}
