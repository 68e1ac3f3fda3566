import Testing
import TideoverSandbox

@Suite struct AgendaTests {
    @Test func `an empty agenda has nothing due`() {
        var agenda = Agenda()
        #expect(agenda.first == nil)
        agenda.set(5, to: nil)
        #expect(agenda.first == nil)
    }

    @Test func `of several entries due at one instant the lowest number is first`() throws {
        var agenda = Agenda()
        for number in [6, 3, 9, 4] { agenda.set(number, to: 100) }
        var turns: [Int] = []
        while let first = agenda.first {
            turns.append(first.number)
            agenda.set(first.number, to: nil)
        }
        #expect(turns == [3, 4, 6, 9])
    }

    @Test func `a postponed entry is due only at its new instant`() throws {
        var agenda = Agenda()
        agenda.set(0, to: 10)
        agenda.set(1, to: 20)
        agenda.set(0, to: 30)
        #expect(try #require(agenda.first) == (20, 1))
        agenda.set(1, to: 40)
        #expect(try #require(agenda.first) == (30, 0))
    }

    /// For any number of items; an agenda avoids a scan of all of them.
    @Test(arguments: [1, 2, 3, 8, 13, 64, 100])
    func `the first entry equals the result of a full search`(count: Int) {
        var random = SeededRandom(seed: UInt64(count))
        var agenda = Agenda()
        var due: [Int: Int64] = [:]
        for _ in 0..<200 {
            let number = Int(random.number(in: 0...Int64(count - 1)))
            // Few instants, so that many are due at the same one.
            let instant = random.number(in: -5...5)
            due[number] = instant == 5 ? nil : instant
            agenda.set(number, to: due[number])
            let first = due.min { ($0.value, $0.key) < ($1.value, $1.key) }
            #expect(agenda.first?.at == first?.value)
            #expect(agenda.first?.number == first?.key)
        }
    }

    @Test func `a store renews customers at one instant in order of registration`() throws {
        let app = AppStoreApp(bundleId: "com.example.cards", products: [try .monthly()])
        var store = AppStoreMachine(app: app, seed: 1, now: 0)
        for name in ["ada", "ben", "cara"] {
            try store.register(StoreCustomer(name: name, appAccountToken: nil))
        }
        for name in ["cara", "ada", "ben"] {
            _ = try store.perform(
                .subscribe(product: "cards.pro.monthly", trial: .declined),
                by: name
            )
        }
        // The whole of January 1970.
        let said = store.advance(to: 31 * 86_400_000)
        #expect(said.map(\.customer) == ["ada", "ben", "cara"])
        let firstOfMarch: Int64 = 59 * 86_400_000
        #expect(store.nextEvent == firstOfMarch)
    }
}
