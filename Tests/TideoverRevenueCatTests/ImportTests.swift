import Testing
import TideoverCore
import TideoverJSON
import TideoverRevenueCat

/// Tests an import file of responses, line by line.
@Suite struct ImportTests {
    static func line(_ id: String, asked: String? = nil) -> [UInt8] {
        let subscription = SubscriberWire.subscription(["store_transaction_id": .string(id)])
        return SubscriberWire.answer(
            ["cards.pro.monthly": .object(subscription)],
            ["app_user_id": asked.map { .string($0) } ?? .null]
        )
    }

    static func lines(_ file: [UInt8], by size: Int) -> [ImportedLine] {
        var reading = RevenueCatImport(reader: RevenueCatWire.reader)
        var all: [ImportedLine] = []
        for start in stride(from: 0, to: file.count, by: size) {
            all += reading.take(file[start..<min(start + size, file.count)])
        }
        return all + [reading.finish()].compactMap(\.self)
    }

    static func outcome(_ line: ImportedLine) -> String {
        switch line.verdict {
        case .read(let reading):
            "\(line.number) \(reading.customer?.text ?? "-") "
                + reading.lineages.map(\.key).sorted().joined(separator: ",")
        case .refused(let refusal): "\(line.number) \(refusal.code)"
        }
    }

    /// Six lines: two valid, one broken, one blank, one without its customer, one without a line
    /// break.
    static let file: [UInt8] =
        line("700") + Array("\r\n".utf8) + Array("{\"request_date\": \n".utf8) + Array(" \n".utf8)
        + line("701", asked: "u_77") + Array("\n".utf8)
        + Array("{\"request_date\": \"2026-05-10T10:00:00Z\", \"subscriber\": {}}\n".utf8)
        + line("702")

    static let outcomes = [
        "1 u_42 appStore:700", "2 malformed-json", "4 u_77 appStore:701", "5 missing-member",
        "6 u_42 appStore:702",
    ]

    @Test(arguments: [1, 7, 100, 1_000_000])
    func `each line has its result, however the file is split`(_ size: Int) {
        #expect(Self.lines(Self.file, by: size).map(Self.outcome) == Self.outcomes)
    }

    @Test func `a refusal contains the line, the problem and the remedy`() {
        let lines = Self.lines(Self.file, by: 4096)
        #expect(lines[0].sentence == nil)
        #expect(
            lines[1].sentence
                == "Line 2: It is not valid JSON at column 18: write one whole RevenueCat "
                + "API response on each line."
        )
        #expect(
            lines[3].sentence
                == "Line 5: The member subscriber.original_app_user_id is missing. Ask RevenueCat "
                + "about this customer again, and import the line anew."
        )
    }

    static let apiV2: [String] = [
        #"{"object": "customer", "id": "u_42", "active_entitlements": {"object": "list"}}"#,
        #"{"object": "list", "items": [], "next_page": null, "url": "/v2/projects/p1/customers"}"#,
    ]

    @Test(arguments: apiV2)
    func `a response of API v2 is refused with the right export`(_ text: String) {
        let lines = Self.lines(Array(text.utf8), by: 4096)
        #expect(lines.map(Self.outcome) == ["1 revenuecat-api-v2"])
        #expect(
            lines.first?.sentence
                == "Line 1: This is a RevenueCat API v2 response. Export with API v1: "
                + "GET /v1/subscribers/{app_user_id}."
        )
    }

    @Test func `an import continues where it stopped`() {
        var first = RevenueCatImport(reader: RevenueCatWire.reader)
        let half = Self.file.count / 2
        let before = first.take(Self.file[..<half])
        let position = first.position
        #expect(position.line > 0 && position.bytes <= Int64(half))
        var second = RevenueCatImport(reader: RevenueCatWire.reader, from: position)
        let after = second.take(Self.file[Int(position.bytes)...])
        let last = [second.finish()].compactMap(\.self)
        #expect((before + after + last).map(Self.outcome) == Self.outcomes)
        #expect(second.position == ImportPosition(bytes: Int64(Self.file.count), line: 6))
    }

    @Test func `each line contains the position to continue from`() {
        let lines = Self.lines(Self.file, by: 50)
        for line in lines {
            let rest = Array(Self.file[Int(line.position.bytes)...])
            var reading = RevenueCatImport(reader: RevenueCatWire.reader, from: line.position)
            let others = reading.take(rest[...]) + [reading.finish()].compactMap(\.self)
            #expect(others == lines.filter { $0.number > line.number })
        }
    }

    @Test func `an endless line is not kept in memory and affects no other line`() {
        let good = Self.line("700")
        let long = Array(repeating: UInt8(ascii: " "), count: good.count + 1)
        for last in [Array("\n".utf8) + good, []] {
            var reading = RevenueCatImport(
                reader: RevenueCatWire.reader,
                longestLine: good.count
            )
            var lines = reading.take(long[...]) + reading.take(last[...])
            lines += [reading.finish()].compactMap(\.self)
            let more = last.isEmpty ? [] : ["2 u_42 appStore:700"]
            #expect(lines.map(Self.outcome) == ["1 too-long"] + more)
        }
    }

    @Test func `the facts of a line are a relay's and imported`() throws {
        let line = try #require(Self.lines(Self.line("700"), by: 4096).first)
        guard case .read(let reading) = line.verdict else {
            Issue.record("the line is refused")
            return
        }
        let facts = reading.facts(
            learnedAt: SubscriberWire.asked,
            source: .imported,
            evidence: EvidenceID(hex: "e")
        )
        #expect(!facts.isEmpty)
        #expect(Set(facts.map(\.rank)) == [.relayed])
        #expect(Set(facts.map(\.source)) == [.imported])
        #expect(Life(facts: facts).told(.day("2026-05-20")) == "active paid in-term presumed")
    }
}
