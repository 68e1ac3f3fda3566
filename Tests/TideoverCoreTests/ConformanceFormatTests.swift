import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

/// The format of a conformance table, and the reports of its runner.
@Suite struct ConformanceFormatTests {
    private static let month =
        #"{"term": {"transactionId": "1", "productId": "monthly", "start": "2026-05-01", "#
        + #""end": "2026-06-01"}}"#

    /// A table with a case that begins on line 5.
    private func text(_ body: String, head: String = "") -> String {
        """
        {"format": "tideover-conformance/1", "source": "these tests",
        "catalogue": {"monthly": {"entitlements": ["premium"], "period": "P1M"}},
        \(head)
        "cases": [
        {"name": "a case", "source": "none", \(body)}
        ]}
        """
    }

    private func outcome(
        _ body: String,
        head: String = "",
        translating translate: ConformanceTranslation? = nil
    ) throws -> ConformanceOutcome.Result {
        let table = try ConformanceTable(Array(text(body, head: head).utf8))
        let report = table.run(translating: translate)
        #expect(report.outcomes.count == 1)
        return try #require(report.outcomes.first).result
    }

    private func differences(_ body: String, head: String = "") throws -> [String] {
        guard case .failed(let differences) = try outcome(body, head: head) else { return [] }
        return differences.map { "\($0.line): \($0)" }
    }

    @Test func `lists of facts that name each other again and again are refused`() throws {
        let doubled = (1...40).map { #""g\#($0)": ["g\#($0 - 1)", "g\#($0 - 1)"]"# }
        let given = #""given": {"g0": [\#(Self.month)], \#(doubled.joined(separator: ", "))},"#
        let error = #expect(throws: ConformanceFault.self) {
            try outcome(#""facts": [], "expect": [{"at": "2026-05-10"}]"#, head: given)
        }
        #expect(error?.description == "`g17` is no list of at most 100000 facts")
    }

    @Test func `an account token ends inference also if it names the inferred owner`() throws {
        let facts = [
            #"{"inferredOwner": {"customer": "ben", "from": "2026-05-01", "expired": "a"}}"#,
            #"{"term": {"transactionId": "1", "productId": "monthly", "start": "2026-05-03", "#
                + #""end": "2026-06-03", "accountToken": "ben"}}"#,
            #"{"inferredOwner": {"customer": "carl", "from": "2026-05-10", "expired": "a"}}"#,
        ]
        let expect = #""expect": [{"at": "2026-05-20", "owner": "ben"}]"#
        #expect(try outcome("\"facts\": [\(facts.joined(separator: ", "))], \(expect)") == .passed)
    }

    // MARK: Comparing

    @Test func `only the given members are compared`() throws {
        let facts = "\"facts\": [\(Self.month)]"
        let expect = #""expect": [{"at": "2026-05-10", "state": "active"}]"#
        #expect(try outcome("\(facts), \(expect)") == .passed)
        let more = #""expect": [{"at": "2026-05-10", "state": "active", "reason": "trial"}]"#
        #expect(
            try differences("\(facts), \(more)") == [
                #"5: at 2026-05-10T00:00:00.000Z reason should be "trial", but is "paid""#
            ]
        )
    }

    @Test func `an edge is evaluated a millisecond before, at and after its instant`() throws {
        let edge =
            #"{"edge": "2026-06-01", "before": {"state": "hold"}, "from": {"state": "hold"}}"#
        let found = try differences("\"facts\": [\(Self.month)], \"expect\": [\(edge)]")
        #expect(
            found.map { $0.prefix(31) } == [
                "5: at 2026-05-31T23:59:59.999Z ", "5: at 2026-06-01T00:00:00.000Z ",
                "5: at 2026-06-01T00:00:00.001Z ",
            ]
        )
    }

    @Test func `members outside of the sides of an edge hold on both sides`() throws {
        let edge =
            #"{"edge": "2026-06-01", "before": {}, "from": {}, "access": true, "#
            + #""rule": "in-term"}"#
        let found = try differences("\"facts\": [\(Self.month)], \"expect\": [\(edge)]")
        #expect(found.count == 2)
        #expect(found.allSatisfy { $0.contains(#"but is "renewal-due""#) })
    }

    @Test func `equal instants in different notations are equal`() throws {
        let expect =
            #""expect": [{"at": "2026-05-10T02:00:00+02:00", "#
            + #""accessUntil": "2026-06-01T01:00:00+01:00"}]"#
        #expect(try outcome("\"facts\": [\(Self.month)], \(expect)") == .passed)
    }

    @Test func `only the given members of an object are compared, and null means absent`() throws {
        let trial =
            #"{"term": {"transactionId": "1", "productId": "monthly", "start": "2026-05-01", "#
            + #""end": "2026-06-01", "offer": {"kind": "introductory", "discount": "freeTrial"}}}"#
        let good = #"[{"at": "2026-05-10", "trial": {"endsAt": "2026-06-01"}, "graceUntil": null}]"#
        #expect(try outcome("\"facts\": [\(trial)], \"expect\": \(good)") == .passed)
        let bad = #"[{"at": "2026-05-10", "trial": {"urgent": true}}]"#
        let found = try differences("\"facts\": [\(trial)], \"expect\": \(bad)")
        #expect(found.map { $0.hasSuffix("trial.urgent should be true, but is false") } == [true])
    }

    @Test func `facts learned later are excluded from an earlier view`() throws {
        let late = Self.month.dropLast() + #", "learnedAt": "2026-05-20"}"#
        let expect =
            #"[{"at": "2026-05-10", "state": "active"}, "#
            + #"{"at": "2026-05-10", "knownAt": "2026-05-19", "state": "never"}, "#
            + #"{"at": "2026-05-10", "knownAt": "2026-05-19", "entitlement": "premium", "#
            + #""state": "never"}]"#
        #expect(try outcome("\"facts\": [\(late)], \"expect\": \(expect)") == .passed)
    }

    @Test func `of two facts with one date the later in the list is the newer`() throws {
        let outlooks = [true, false].map {
            #"{"outlook": {"renewalDate": "2026-06-01", "willRenew": \#($0)}, "#
                + #""assertedAt": "2026-05-02"}"#
        }
        let facts = ([Self.month] + outlooks).joined(separator: ", ")
        let expect = #""expect": [{"at": "2026-05-10", "willRenew": false}]"#
        #expect(try outcome("\"facts\": [\(facts)], \(expect)") == .passed)
    }

    @Test func `a case can override the table's common values`() throws {
        let head = #""base": {"environment": "sandbox"}, "given": {"a month": [\#(Self.month)]},"#
        let expect = #""expect": [{"at": "2026-06-01T06:00:00Z", "state": "expired"}]"#
        let policy = #""policy": {"renewalLeeway": "0h"}"#
        #expect(
            try outcome("\"facts\": [\"a month\"], \(policy), \(expect)", head: head) == .passed
        )
        #expect(try differences("\"facts\": [\"a month\"], \(expect)", head: head).count == 1)
    }

    @Test func `a named customer owns their purchases, and an unnamed one owns all`() throws {
        let named = Self.month.replacing("\"end\"", with: "\"accountToken\": \"anna\", \"end\"")
        let expect =
            #"[{"at": "2026-05-10", "entitlement": "premium", "customer": "anna", "#
            + #""state": "active"}, {"at": "2026-05-10", "entitlement": "premium", "#
            + #""customer": "ben", "state": "never"}, {"at": "2026-05-10", "#
            + #""entitlement": "premium", "state": "active"}, {"at": "2026-05-10", "#
            + #""owner": "anna"}]"#
        #expect(try outcome("\"facts\": [\(named)], \"expect\": \(expect)") == .passed)
    }

    // MARK: Malformed tables

    private func fault(_ body: String, head: String = "") throws -> ConformanceFault? {
        guard case .malformed(let fault) = try outcome(body, head: head) else { return nil }
        return fault
    }

    @Test(arguments: [
        (#""expct": [{"at": "2026-05-10", "state": "active"}]"#, "did you mean `expect`?"),
        (#""facts": []"#, "`expect` is missing"),
        (#""expect": []"#, "`expect` has no element"),
        (#""expect": [{"at": "2026-05-10"}]"#, "nothing is expected of the answer"),
        (#""expect": [{"state": "active"}]"#, "`at` is missing"),
        (
            #""expect": [{"egde": "2026-05-10", "from": {"state": "active"}}]"#,
            "did you mean `edge`?"
        ),
        (#""expect": [{"at": "2026-5-1", "state": "active"}]"#, "`at` is no time"),
        (#""expect": [{"at": "2026-05-10", "stat": "active"}]"#, "did you mean `state`?"),
        (
            #""expect": [{"edge": "2026-05-10", "from": {"state": "active"}}]"#,
            "`before` is missing"
        ),
        (
            #""expect": [{"at": "2026-05-10", "before": {}, "state": "active"}]"#,
            "`before` means nothing here"
        ),
        (
            #""expect": [{"at": "2026-05-10", "entitlement": "premum", "state": "never"}]"#,
            "did you mean `premium`?"
        ),
        (
            #""facts": ["a year"], "expect": [{"at": "2026-05-10", "state": "active"}]"#,
            "no facts are given under the name `a year`"
        ),
        (
            #""policy": {"renewalLeway": "1h"}, "expect": [{"at": "2026-05-10", "state": "never"}]"#,
            "`renewalLeway` means nothing here"
        ),
        (
            #""catalogue": {"m": {"entitlements": [], "perod": "P1M"}}, "#
                + #""expect": [{"at": "2026-05-10", "state": "never"}]"#,
            "`m.perod` means nothing here"
        ),
        (
            #""notifications": [{"playStore": {}}], "#
                + #""expect": [{"at": "2026-05-10", "state": "never"}]"#,
            "`playStore` means nothing here"
        ),
    ])
    func `a malformed case is reported with its line and problem`(
        body: String,
        words: String
    ) throws {
        let fault = try #require(try fault(body))
        #expect(fault.line == 5)
        #expect("\(fault)".contains(words), "\(fault)")
    }

    @Test(arguments: [
        (#"{"outlook": {"wilRenew": true}, "assertedAt": "2026-05-01"}"#, "outlook.wilRenew"),
        (
            #"{"term": {"transactionId": "1", "productId": "monthly", "start": "2026-05-01", "#
                + #""isRevokd": false}}"#, "term.isRevokd"
        ),
        (#"{"reversal": {"term": "t:1"}, "assertdAt": "2026-05-01"}"#, "assertedAt"),
        (#"{"outlook": {"lapse": "bored"}, "assertedAt": "2026-05-01"}"#, "bored"),
        (#"{"assertedAt": "2026-05-01"}"#, "missing"),
    ])
    func `a typing error in a fact is reported`(fact: String, words: String) throws {
        let expect = #""expect": [{"at": "2026-05-10", "state": "never"}]"#
        let fault = try #require(try fault("\"facts\": [\(fact)], \(expect)"))
        #expect("\(fault)".contains(words), "\(fault)")
    }

    @Test func `members of a fact with default values are accepted`() throws {
        let plain = Self.month.replacing(
            "\"end\"",
            with: #""isUpgraded": false, "isRevoked": false, "origin": "unstated", "end""#
        )
        let expect = #""expect": [{"at": "2026-05-10", "state": "active"}]"#
        #expect(try outcome("\"facts\": [\(plain)], \(expect)") == .passed)
    }

    @Test(arguments: [
        ("", 1, "not JSON"), ("{\n\"format\": \"tideover-conformance/1\",\n}", 2, "not JSON"),
        ("[]", 1, "no object"), (#"{"source": "x", "cases": []}"#, 1, "`format` is missing"),
        ("{\"source\": \"x\",\n\"format\": \"tideover-conformance/9\"}", 2, "what is read here"),
        (#"{"format": "tideover-conformance/1", "source": "x", "cases": []}"#, 1, "no element"),
        (#"{"format": "tideover-conformance/1", "cases": [1]}"#, 1, "`source` is missing"),
    ])
    func `a malformed table is reported with its line and problem`(
        text: String,
        line: Int,
        words: String
    ) throws {
        let fault = #expect(throws: ConformanceFault.self) {
            try ConformanceTable(Array(text.utf8))
        }
        #expect(fault?.line == line)
        #expect(fault.map { "\($0)" }?.contains(words) == true, "\(String(describing: fault))")
    }

    @Test func `a second case with the same name is malformed`() throws {
        let one =
            #"{"name": "a", "source": "b", "expect": [{"at": "2026-05-10", "state": "never"}]}"#
        let text =
            #"{"format": "tideover-conformance/1", "source": "x", "cases": [\#(one),\#n\#(one)]}"#
        let report = try ConformanceTable(Array(text.utf8)).run()
        #expect(report.outcomes.map(\.line) == [1, 2])
        #expect((report.passed, report.malformed) == (1, 1))
    }

    // MARK: Messages

    private static let usual = #""usual": {"appStore": {"a": {"b": 1, "c": 2}, "d": 3}},"#
    private static let message =
        #""notifications": [{"appStore": {"a": {"b": "2026-05-01"}, "d": null}, "#
        + #""learnedAt": "2026-05-02"}], "expect": [{"at": "2026-05-10", "state": "active"}]"#

    @Test func `a message overrides the default one, and its facts count`() throws {
        let term = Term(
            transactionId: "1",
            productId: "monthly",
            start: "2026-05-01",
            end: "2026-06-01"
        )
        let result = try outcome(Self.message, head: Self.usual) { message in
            #expect(message.store == "appStore")
            #expect(message.learnedAt == "2026-05-02")
            #expect(message.content == ["a": ["b": "2026-05-01T00:00:00.000Z", "c": 2]])
            return [
                Fact(
                    lineage: Lineage(store: .appStore, environment: .production, id: "1000"),
                    assertion: .term(term),
                    effectiveAt: term.start,
                    assertedAt: term.start,
                    learnedAt: term.start,
                    source: .appStoreNotification,
                    evidence: message.evidence
                )
            ]
        }
        #expect(result == .passed)
    }

    @Test func `a message without a translator is skipped, and a refused one fails`() throws {
        #expect(try outcome(Self.message, head: Self.usual) == .notRun(store: "appStore"))
        struct Refusal: Error, CustomStringConvertible { let description = "no thanks" }
        let refused = try outcome(Self.message, head: Self.usual) { _ in throw Refusal() }
        #expect(refused == .failed([.refused(line: 5, reason: "no thanks")]))
    }

    // MARK: The report

    @Test func `the report contains each case, its result and its differences`() throws {
        let body =
            #""expect": [{"at": "2026-05-10", "state": "active"}, "#
            + #"{"at": "2026-05-10", "access": false}]"#
        let report = try ConformanceTable(Array(text(body).utf8)).run()
        let written = try JSONDocument(written(report)).root
        #expect(written["cases"]?.int64 == 1)
        #expect(written["failed"]?.int64 == 1)
        let outcome = try #require(written["outcomes"]?[0])
        #expect(outcome["name"]?.string == "a case")
        #expect(outcome["result"]?.string == "failed")
        let differences = Array(try #require(outcome["differences"]).elements)
        #expect(differences.map { $0["member"]?.string } == ["state"])
        #expect(differences.map { $0["expected"]?.string } == ["active"])
        #expect(differences.map { $0["got"]?.string } == ["never"])
        #expect(differences.map { $0["at"]?.string } == ["2026-05-10T00:00:00.000Z"])
    }

    private func written(_ report: ConformanceReport) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { report.writeMembers(to: &$0) }
        return writer.bytes
    }
}
