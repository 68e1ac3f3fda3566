import TideoverAppStore
import TideoverCore
import TideoverJSON
import TideoverSignatures

extension Fuzzer {
    static let notification = Fuzzer(
        "notification",
        promise: """
            whatever the store signs is read or refused in its words; the facts read from it come back \
            from their JSON form; their standing exists at every instant, in any order of \
            arrival, and no answer changes before the instant it announces
            """,
        maximumByteCount: 8192,
        seeds: { SimulatedLife.seeds },
        words: SimulatedLife.words,
        mutate: SealedMutations.any,
        check: { NotificationChecks.check($0) }
    )
}

/// A message before it is signed: the contents of the notification, of the transaction and of the
/// renewal info. Changes happen before signing, because a changed signed document would always be
/// rejected.
struct Unsealed {
    /// The placeholders of the signed parts in the notification's content.
    static let placeholders = ["$transaction", "$renewal"]
    /// A byte that JSON text never contains.
    static let separator: UInt8 = 0x1E

    var parts: [[UInt8]]

    init(_ input: [UInt8]) {
        parts = Self.split(input, into: 3)
    }

    /// Returns the parts of an input; missing ones are empty.
    static func split(_ input: [UInt8], into count: Int) -> [[UInt8]] {
        let parts = input.split(
            separator: separator,
            maxSplits: count - 1,
            omittingEmptySubsequences: false
        ).map(Array.init)
        return parts + [[UInt8]](repeating: [], count: count - parts.count)
    }

    init(parts: [[UInt8]]) {
        self.parts = parts
    }

    var input: [UInt8] { Array(parts.joined(separator: [Self.separator])) }

    /// The posted body, with all its parts signed.
    var body: [UInt8] {
        Array(#"{"signedPayload":""#.utf8) + Seal.sealed(notification) + Array(#""}"#.utf8)
    }

    /// The notification's content, with the other parts signed.
    var notification: [UInt8] { filled(parts[0]) }

    /// Replaces the placeholders of a text by the signed parts.
    func filled(_ text: [UInt8], further: [String: [UInt8]] = [:]) -> [UInt8] {
        var text = text
        for (placeholder, part) in zip(Self.placeholders, parts.dropFirst()) {
            text.replace(Array(placeholder.utf8), with: Seal.sealed(part), maxReplacements: 4)
        }
        for (placeholder, sealed) in further {
            text.replace(Array(placeholder.utf8), with: sealed, maxReplacements: 4)
        }
        return text
    }
}

/// A simulated signature: a digest of the signed content, which no input contains by chance.
enum Seal {
    static func sealed(_ payload: [UInt8]) -> [UInt8] {
        let input = Array("e30.".utf8) + Base64.encode(payload, .urlSafe)
        return input + [dot] + Base64.encode(digest(of: input[...]), .urlSafe)
    }

    private static func digest(of input: ArraySlice<UInt8>) -> [UInt8] {
        SHA256.hash(Array("the fuzzer's own seal".utf8) + input)
    }

    struct Broken: Error {}

    static func check(_ compact: ArraySlice<UInt8>) throws -> VerifiedPayload {
        let jws = try JWS(compact)
        guard jws.signature == digest(of: jws.signingInput) else { throw Broken() }
        return VerifiedPayload(payload: try JSONDocument(jws.payload), authority: .appStore)
    }
}

private enum NotificationChecks {
    private static let reader = AppStoreReader(
        app: AppStoreIdentity(
            bundleId: SimulatedLife.bundleId,
            appAppleId: SimulatedLife.appAppleId,
            environments: [.production, .sandbox]
        )
    )
    /// 2026-06-01T00:00:00Z.
    private static let learnedAt = Instant(millisecondsSince1970: 1_780_272_000_000)

    static func check(_ input: [UInt8]) {
        let body = Unsealed(input).body
        guard let reading = reading(of: body) else { return }
        let facts = reading.facts(
            learnedAt: learnedAt,
            source: .appStoreNotification,
            evidence: EvidenceID(hex: "00")
        )
        expect(reading.signedAt <= reading.latestSignedAt, "signed later than its latest signature")
        expect(!reading.dedupeKey.isEmpty, "without a key for detecting repeats")
        for fact in facts { FactChecks.form(of: fact) }
        if !facts.isEmpty { FactChecks.standing(facts + SimulatedLife.usualFacts) }
    }

    private static func reading(of body: [UInt8]) -> AppStoreReading? {
        do {
            return try reader.readNotification(body: body, check: Seal.check)
        } catch let refusal as AppStoreRefusal {
            expect(!refusal.description.isEmpty, "a refusal without words")
        } catch is JSONError {
        } catch is SignatureRefusal {
        } catch is Seal.Broken {
        } catch {
            Failure.stop("refused in words that are nobody's: \(error)")
        }
        return nil
    }
}

enum FactChecks {
    static func form(of fact: Fact) {
        let text = written(fact)
        let again = unfailing("what was written of a fact is refused") {
            try Fact(json: try JSONDocument(text, limits: .local).root)
        }
        expect(again == fact, "a fact reads as another: \(String(decoding: text, as: UTF8.self))")
        expect(written(again) == text, "a fact is written in two ways")
    }

    private static func written(_ fact: Fact) -> [UInt8] {
        var writer = JSONWriter()
        fact.write(to: &writer)
        return writer.bytes
    }

    static let catalogue = Catalogue(products: [
        "cards.pro.monthly": Product(
            entitlements: ["premium"],
            group: "pro",
            period: Period(months: 1)
        )
    ])

    static func standing(_ facts: [Fact]) {
        for lineage in Set(facts.map(\.lineage)) {
            let own = facts.filter { $0.lineage == lineage }
            let history = LineageHistory(lineage: lineage, facts: own, catalogue: catalogue)
            let other = LineageHistory(
                lineage: lineage,
                facts: own.reversed() + own,
                catalogue: catalogue
            )
            for instant in probes(own) {
                let standing = history.standing(at: instant, policy: Policy())
                expect(
                    standing == other.standing(at: instant, policy: Policy()),
                    "the order of facts matters at \(instant.rfc3339)"
                )
            }
            announced(own, history)
        }
    }

    private static func probes(_ facts: [Fact]) -> [Instant] {
        let dates = facts.flatMap { [$0.effectiveAt, $0.assertedAt] } + facts.compactMap(\.end)
        let near = Set(dates).sorted().prefix(6).flatMap { [$0 - Milliseconds(1), $0] }
        return [.distantPast, Instant(millisecondsSince1970: 0)] + near + [.distantFuture]
    }

    /// A snapshot is valid until its announced instant.
    private static func announced(_ facts: [Fact], _ history: LineageHistory) {
        guard let customer = CustomerID("anna") else { Failure.stop("anna is not a customer id") }
        let owner = OwnershipEntry(
            lineage: history.lineage,
            customer: customer,
            from: .distantPast,
            why: .granted
        )
        let customerHistory = CustomerHistory(
            customer: customer,
            environment: history.lineage.environment,
            lineageRecords: [OwnedHistory(history: history, owners: [owner])],
            catalogue: Versioned(catalogue),
            policy: Versioned(Policy())
        )
        for instant in Set([facts.map(\.effectiveAt).min(), facts.map(\.assertedAt).max()]) {
            guard let instant,
                let now = customerHistory.snapshot(at: instant)["premium"],
                let change = now.nextChange
            else { continue }
            expect(change > instant, "a change is announced for the past, \(change.rfc3339)")
            let before = customerHistory.snapshot(at: change - Milliseconds(1))["premium"]
            expect(
                before?.standing.state == now.standing.state
                    && before?.standing.reason == now.standing.reason,
                "an answer of \(instant.rfc3339) changes before \(change.rfc3339)"
            )
        }
    }
}

extension Fact {
    /// The end of the fact, if it has one.
    fileprivate var end: Instant? {
        switch assertion {
        case .term(let term): term.end
        case .outlook(let outlook): outlook.graceEnd ?? outlook.renewalDate
        default: nil
        }
    }
}

/// Changes to a message inside its signatures.
enum SealedMutations {
    @Sendable static func any(_ input: [UInt8], _ most: Int, _ dice: inout Dice) -> [UInt8] {
        var message = Unsealed(input)
        let place = dice.number(below: 3)
        if dice.one(in: 10) {
            message.parts[place] = Unsealed(dice.pick(SimulatedLife.seeds)).parts[place]
        } else {
            message.parts[place] = Mutations.json(message.parts[place], most, &dice)
        }
        return message.input
    }
}
