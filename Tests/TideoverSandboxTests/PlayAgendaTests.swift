import Testing
import TideoverJSON
import TideoverSandbox

/// Compares the next event of the simulated Google Play with a scan of all customers.
@Suite struct PlayAgendaTests {
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `many customers in one store get the same events as each alone, in order`(seed: UInt64)
        throws
    {
        var random = SeededRandom(seed: seed)
        var crowd = try Crowd(seed: seed)
        for _ in 0..<80 {
            for _ in 0..<random.number(in: 1...4) { try crowd.act(&random) }
            // Whole days, so that many events are due at the same instant.
            try crowd.pass(days: random.number(in: 1...12))
        }
        #expect(crowd.heard > 80)
        try crowd.compareResources()
    }

    @Test func `purchases of one customer renew at one instant in order of purchase`() throws {
        var store = GooglePlayMachine(app: try .cards(), seed: 1, now: 0)
        try store.register(.anna)
        for choice in [GooglePlayChoice.extra, .monthly, .plus] {
            _ = try store.perform(
                .subscribe(to: [choice], payment: .prompt, from: .app),
                by: "anna"
            )
        }
        for token in store.tokens(of: "anna") { _ = try store.write(.acknowledge(token: token)) }
        let firstOfFebruary: Int64 = 31 * 86_400_000
        #expect(store.nextEvent == firstOfFebruary)
        let said = store.advance(to: firstOfFebruary)
        let expected = store.tokens(of: "anna").map { token in
            GooglePlayEvent.subscription(.renewed, token: token)
        }
        #expect(said.map(\.event) == expected)
    }

    @Test func `a customer name is unique, and an unknown customer cannot act`() throws {
        var store = GooglePlayMachine(app: try .cards(), seed: 1, now: 0)
        try store.register(.anna)
        let taken = #expect(throws: GooglePlayRefusal.self) { try store.register(.anna) }
        #expect(taken?.reason == .customerExists)
        let unknown = #expect(throws: GooglePlayRefusal.self) {
            try store.perform(.failPayments, by: "ben")
        }
        #expect(unknown?.reason == .unknownCustomer)
        #expect(store.tokens(of: "ben").isEmpty)
        #expect(store.truth(of: "ben", at: 0) == .never)
    }
}

/// Customers of one store, each of whom also has a separate store with the same actions. A scan of
/// all separate stores finds the next one.
private struct Crowd {
    private static let names = ["ada", "ben", "cara", "dora", "emil"]
    private static let start: Int64 = 1_777_629_600_000  // 2026-05-01T10:00:00Z
    private static let day: Int64 = 86_400_000

    private var whole: GooglePlayMachine
    private var alone: [GooglePlayMachine] = []
    /// The customer's order in the separate store, for each order of the whole store.
    private var orders: [String: String] = [:]
    private(set) var heard = 0

    init(seed: UInt64) throws {
        let app = try GooglePlayApp.cards()
        whole = GooglePlayMachine(app: app, seed: seed, now: Self.start)
        for (number, name) in Self.names.enumerated() {
            let customer = GooglePlayCustomer(
                name: name,
                obfuscatedAccountId: "account of \(name)",
                isLicenceTester: name == "emil"
            )
            try whole.register(customer)
            let seed = seed + UInt64(number) + 1
            var store = GooglePlayMachine(app: app, seed: seed, now: Self.start)
            try store.register(customer)
            alone.append(store)
        }
    }

    // MARK: Acting

    /// Performs an action of a customer, or of the developer on a customer's purchase.
    mutating func act(_ random: inout SeededRandom) throws {
        let number = Int(random.number(in: 0...Int64(Self.names.count - 1)))
        let name = Self.names[number]
        let purchases = whole.tokens(of: name)
        if !purchases.isEmpty, random.number(in: 0...1) == 0 {
            let purchase = Int(random.number(in: 0...Int64(purchases.count - 1)))
            let kind = random.number(in: 0...3)
            try both(number) { store in try store.write(Self.write(kind, store, name, purchase)) }
        } else {
            let index = Int(random.number(in: 0...Int64(Self.actions.count - 1)))
            try both(number) { store in try store.perform(Self.actions[index], by: name) }
        }
        guard random.number(in: 0...9) > 0 else { return }
        for purchase in whole.tokens(of: name).indices {
            try both(number) { store in
                try store.write(.acknowledge(token: store.tokens(of: name)[purchase]))
            }
        }
    }

    private static let actions: [GooglePlayAction] = [
        .subscribe(to: [.monthly], payment: .prompt, from: .app),
        .subscribe(to: [.monthly], payment: .prompt, from: .app),
        .subscribe(to: [.monthly, .extra], payment: .prompt, from: .app),
        .subscribe(to: [.plus, .extra], payment: .delayed, from: .app),
        .subscribe(to: [.pro("yearly")], payment: .prompt, from: .playStore),
        .subscribe(to: [.pro("nograce")], payment: .prompt, from: .app),
        .subscribe(to: [.pro("prepaid-3-days")], payment: .prompt, from: .app),
        .replace(product: nil, with: .plus, mode: .deferred),
        .buy(product: "cards.coins", quantity: 2, payment: .prompt),
        .completePayment(product: nil), .topUp(product: nil),
        .failPayments, .fixPayments, .fixPayments, .fixPayments, .fixPayments,
        .cancel(product: nil, survey: nil), .restart(product: nil), .resume(product: nil),
        .refund(product: nil, .remorse, quantity: nil, revokes: true),
    ]

    private static func write(
        _ kind: Int64,
        _ store: GooglePlayMachine,
        _ name: String,
        _ purchase: Int
    ) -> GooglePlayWrite {
        let token = store.tokens(of: name)[purchase]
        return switch kind {
        case 0: .deferRenewal(token: token, milliseconds: 3 * day, etag: nil)
        default: .consume(token: token)
        }
    }

    /// Performs an action in both stores. Both must accept it, or refuse it for the same reason.
    private mutating func both(
        _ number: Int,
        _ body: (inout GooglePlayMachine) throws -> [GooglePlayNotification]
    ) throws {
        func told(_ store: inout GooglePlayMachine) throws -> (
            [GooglePlayNotification], GooglePlayRefusal?
        ) {
            do { return (try body(&store), nil) } catch let refusal as GooglePlayRefusal {
                return ([], refusal)
            }
        }
        let (said, refusal) = try told(&whole)
        let (expected, expectedRefusal) = try told(&alone[number])
        #expect(refusal?.reason == expectedRefusal?.reason)
        try compare(said, expected)
    }

    mutating func pass(days: Int64) throws {
        let instant = whole.now + days * Self.day
        var expected: [GooglePlayNotification] = []
        #expect(whole.nextEvent == earliest?.at)
        while let next = earliest, next.at <= instant {
            expected += alone[next.number].advance(to: next.at)
        }
        for number in alone.indices { _ = alone[number].advance(to: instant) }
        try compare(whole.advance(to: instant), expected)
    }

    /// At the same instant, the customer registered first comes first.
    private var earliest: (at: Int64, number: Int)? {
        let due = alone.enumerated().compactMap { number, store in
            store.nextEvent.map { (at: $0, number: number) }
        }
        return due.min { ($0.at, $0.number) < ($1.at, $1.number) }
    }

    // MARK: Comparing

    private mutating func compare(
        _ said: [GooglePlayNotification],
        _ expected: [GooglePlayNotification]
    ) throws {
        heard += said.count
        #expect(said.map(\.customer) == expected.map(\.customer))
        #expect(said.map(\.at) == expected.map(\.at))
        for (one, other) in zip(said, expected) {
            let name = try #require(one.customer)
            compare(.object(one.content), .object(other.content), of: name)
        }
    }

    /// Compares the resources of all purchases, without the etag, which is derived from the token.
    mutating func compareResources() throws {
        for (number, name) in Self.names.enumerated() {
            let (tokens, others) = (whole.tokens(of: name), alone[number].tokens(of: name))
            #expect(tokens.count == others.count)
            for (token, other) in zip(tokens, others) {
                var resource = whole.subscription(token: token) ?? whole.product(token: token)
                var expected =
                    alone[number].subscription(token: other) ?? alone[number].product(token: other)
                resource?["etag"] = nil
                expected?["etag"] = nil
                compare(
                    .object(try #require(resource)),
                    .object(try #require(expected)),
                    of: name
                )
            }
        }
    }

    /// Compares two values to the byte, after replacing the tokens and orders of one with those of
    /// the other.
    private mutating func compare(_ one: JSONValue, _ other: JSONValue, of name: String) {
        guard let number = Self.names.firstIndex(of: name) else { return }
        var text = String(decoding: one.encoded(), as: UTF8.self)
        let expected = String(decoding: other.encoded(), as: UTF8.self)
        for (token, own) in zip(whole.tokens(of: name), alone[number].tokens(of: name)) {
            text = text.replacing(token, with: own)
        }
        let form = /GPA\.\d{4}-\d{4}-\d{4}-\d{5}/
        let made = zip(text.matches(of: form), expected.matches(of: form)).map {
            (String($0.output), String($1.output))
        }
        for (order, own) in made {
            orders[order] = orders[order] ?? own
            text = text.replacing(order, with: orders[order] ?? own)
        }
        #expect(text == expected)
    }
}
