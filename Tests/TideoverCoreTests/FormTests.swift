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

    /// Reads a fact without a document; nil if its text is not as the writer writes it.
    static func writtenFact(_ form: [UInt8]) -> Fact? {
        WrittenJSON.read(form) { json throws(WrittenJSON.Mismatch) in try Fact(written: &json) }
    }

    @Test func `every fact of many lives survives its JSON form`() throws {
        var random = SeededRandom(seed: 7)
        for _ in 0..<100 {
            for fact in GeneratedLife(&random).life.facts + GeneratedPlayLife(&random).life.facts {
                let form = written(fact)
                #expect(try Fact(json: JSONDocument(form).root) == fact)
                #expect(Self.writtenFact(form) == fact)
            }
        }
    }

    /// Without a document, a text is never read as another fact than with one.
    @Test func `both ways to read a changed form agree`() throws {
        var random = SeededRandom(seed: 8)
        let marks = Array("0-\",:{}[]\\ nt1e.".utf8)
        var accepted = 0
        for fact in (0..<20).flatMap({ _ in GeneratedLife(&random).life.facts }) {
            let form = written(fact)
            for _ in 0..<20 {
                var changed = form
                let place = Int.random(in: form.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: changed[place] = UInt8.random(in: 0...255, using: &random)
                case 1: changed.remove(at: place)
                case 2: changed.insert(marks.randomElement(using: &random) ?? 0, at: place)
                default: changed.swapAt(place, Int.random(in: form.indices, using: &random))
                }
                guard let fact = Self.writtenFact(changed) else { continue }
                accepted += 1
                #expect(try Fact(json: JSONDocument(changed).root) == fact)
            }
        }
        #expect(accepted > 100)
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
