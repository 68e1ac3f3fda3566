import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

@Suite struct FormTests {
    private func written(_ fact: Fact) -> [UInt8] {
        var writer = JSONWriter()
        fact.write(to: &writer)
        return writer.bytes
    }

    @Test func `every fact of many lives survives its JSON form`() throws {
        var random = SeededRandom(seed: 7)
        for _ in 0..<100 {
            for fact in GeneratedLife(&random).life.facts {
                #expect(try Fact(json: JSONDocument(written(fact)).root) == fact)
            }
        }
    }

    @Test func `unknown values of the store survive`() throws {
        var life = Life()
        life.term(
            "1",
            from: "2026-05-01",
            to: nil,
            plan: .unrecognised("Bundle"),
            offer: Offer(
                kind: .unrecognised("7"),
                discount: .unrecognised("FREE_FOREVER"),
                identifier: "x",
                period: Period(months: 1)
            )
        )
        life.condition(.unrecognised("9"), notice: .graceExpired, end: nil, signed: "2026-05-01")
        life.outlook(end: nil, signed: "2026-05-01", lapse: .unrecognised("6"))
        life.say(
            .revocation(
                Revocation(
                    term: TermKey("t:1"),
                    date: "2026-05-02",
                    cause: .unrecognised("WHIM"),
                    percentage: 50_000
                )
            ),
            at: "2026-05-02"
        )
        life.reverse("1", at: "2026-05-03")
        life.say(
            .unrecognised(Unrecognised(field: "notificationType", value: "SPLENDID")),
            at: "2026-05-03",
            envelope: "2026-05-04"
        )
        for fact in life.facts {
            #expect(try Fact(json: JSONDocument(written(fact)).root) == fact)
        }
    }

    @Test func `a malformed form is reported with the wrong field`() throws {
        var life = Life()
        life.term("1", from: "2026-05-01", to: "2026-06-01")
        let text = String(decoding: written(life.facts[0]), as: UTF8.self)
        func error(_ old: String, _ new: String) throws -> FormError? {
            let damaged = text.replacing(old, with: new)
            #expect(damaged != text)
            let root = try JSONDocument(Array(damaged.utf8)).root
            return #expect(throws: FormError.self) { try Fact(json: root) }
        }
        #expect(try error("\"rank\":2", "\"rank\":5") == .unknownWord(field: "rank", value: "5"))
        #expect(try error("\"rank\":2,", "") == .missing(field: "rank"))
        #expect(
            try error("\"autoRenewable\"", "\"autoMagic\"")
                == .unknownWord(field: "plan", value: "autoMagic")
        )
        #expect(try error("\"plan\":\"autoRenewable\"", "\"plan\":1") == .wrongType(field: "plan"))
    }

    @Test func `equal catalogues have equal texts`() {
        func text(_ catalogue: Catalogue) -> [UInt8] {
            var writer = JSONWriter()
            catalogue.write(to: &writer)
            return writer.bytes
        }
        let catalogue = Life().catalogue
        var rebuilt = Catalogue()
        for (id, product) in catalogue.products.sorted(by: { $0.key > $1.key }) {
            rebuilt.products[id] = product
        }
        #expect(text(catalogue) == text(rebuilt))
        rebuilt.products["monthly"]?.grace = Period(days: 3)
        #expect(text(catalogue) != text(rebuilt))
    }
}
