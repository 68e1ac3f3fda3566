import Testing
import TideoverCore

@Suite struct OwnershipTests {
    private let lineage = Lineage(store: .appStore, environment: .production, id: "1")

    private func term(_ id: String, from start: Int64, to customer: String, said: Int64) -> Fact {
        let start = Instant(millisecondsSince1970: start)
        let said = Instant(millisecondsSince1970: said)
        return Fact(
            lineage: lineage,
            assertion: .term(
                Term(
                    transactionId: id,
                    productId: "p",
                    start: start,
                    end: nil,
                    accountToken: CustomerID(customer)
                )
            ),
            effectiveAt: start,
            assertedAt: said,
            learnedAt: said,
            source: .appStoreNotification,
            evidence: EvidenceID(hex: id)
        )
    }

    /// Returns the owners at some instants if the facts arrive one by one.
    private func owners(_ facts: [Fact], at probes: [Int64] = [50, 150, 250, 350]) -> [String?] {
        var owners: [OwnershipEntry] = []
        for count in facts.indices {
            owners += owners.additions(for: facts[...count])
        }
        return probes.map { owners.owner(at: Instant(millisecondsSince1970: $0))?.text }
    }

    @Test func `a late message about an older term does not change the newest owner`() {
        let first = term("1", from: 100, to: "anna", said: 100)
        let second = term("2", from: 200, to: "ben", said: 200)
        let third = term("3", from: 300, to: "anna", said: 300)
        #expect(owners([first, third, second]) == [nil, "anna", "ben", "anna"])
    }

    @Test func `of two owners of one term the later asserted counts, though it arrives first`() {
        let before = term("1", from: 100, to: "anna", said: 100)
        let after = term("1", from: 100, to: "ben", said: 200)
        #expect(owners([before, after], at: [150]) == ["ben"])
        #expect(owners([after, before], at: [150]) == ["ben"])
    }

    private func read(
        _ token: String,
        _ state: PlaySubscription.State,
        of customer: String,
        replaces: String? = nil,
        said: Int64
    ) -> Fact {
        let said = Instant(millisecondsSince1970: said)
        let read = PlaySubscription(
            token: PlayToken(token),
            askedAt: said,
            state: state,
            startedAt: state == .active ? said : nil,
            replaces: replaces.map { PlayToken($0) },
            accountId: CustomerID(customer)
        )
        return Fact(
            lineage: Lineage(store: .googlePlay, environment: .production, id: "a"),
            assertion: .playSubscription(read),
            effectiveAt: said,
            assertedAt: said,
            learnedAt: said,
            source: .playAPI,
            evidence: EvidenceID(hex: "\(token)-\(said.millisecondsSince1970)")
        )
    }

    @Test(arguments: [PlaySubscription.State.pendingCancelled, .unrecognised("SOON"), .active])
    func `a replacement names the owner of its chain once it is paid`(
        state: PlaySubscription.State
    ) {
        let facts = [
            read("a", .active, of: "anna", said: 100),
            read("b", .pending, of: "ben", replaces: "a", said: 200),
            read("b", state, of: "ben", replaces: "a", said: 300),
        ]
        let last = state == .active ? "ben" : "anna"
        #expect(owners(facts) == [nil, "anna", "anna", last])
    }

    @Test func `a first purchase names its owner also before it is paid`() {
        #expect(owners([read("a", .pending, of: "anna", said: 100)], at: [150]) == ["anna"])
    }

    @Test func `a repeated owner adds no entry`() {
        let facts = [
            term("1", from: 100, to: "anna", said: 100), term("1", from: 100, to: "ben", said: 200),
            term("2", from: 100, to: "cleo", said: 300),
        ]
        let owners = [OwnershipEntry]().additions(for: facts)
        #expect(owners.additions(for: facts + [term("1", from: 100, to: "ben", said: 250)]) == [])
    }

    @Test func `a fact that names the owner or none adds no entry`() {
        let facts = [
            term("1", from: 100, to: "anna", said: 100), term("1", from: 100, to: "ben", said: 200),
            term("1", from: 100, to: "anna", said: 150), term("2", from: 200, to: "", said: 210),
            term("3", from: 300, to: "ben", said: 300),
        ]
        var checked = 0
        for order in Self.orders(of: facts) {
            var owners: [OwnershipEntry] = []
            for count in order.indices {
                let additions = owners.additions(for: order[...count])
                let name = order[count].claim
                if name.map({ owners.owner(at: $0.from) == $0.customer }) ?? true {
                    #expect(additions == [])
                    checked += 1
                }
                owners += additions
            }
        }
        #expect(checked > 0)
    }

    @Test func `the owners are the same for every order of facts`() {
        let facts = [
            term("1", from: 100, to: "anna", said: 100), term("2", from: 200, to: "ben", said: 200),
            term("2", from: 200, to: "anna", said: 290), term("3", from: 300, to: "ben", said: 300),
            term("1", from: 100, to: "ben", said: 310), term("3", from: 300, to: "anna", said: 320),
        ]
        let expected = owners(facts)
        #expect(expected == [nil, "ben", "anna", "anna"])
        for order in Self.orders(of: facts) { #expect(owners(order) == expected) }
    }

    private func move(to customer: String, from former: String, at: Int64) -> Fact {
        let now = Instant(millisecondsSince1970: at)
        let move = OwnershipMove(
            customer: CustomerID(customer).unsafelyUnwrapped,
            former: [CustomerID(former).unsafelyUnwrapped],
            from: now,
            why: "another account",
            by: "support"
        )
        return Fact(
            lineage: lineage,
            assertion: .move(move),
            effectiveAt: now,
            assertedAt: now,
            learnedAt: now,
            source: .operator,
            evidence: EvidenceID(hex: "move \(at)")
        )
    }

    @Test func `a move holds against its former owner's tokens in every order of facts`() {
        let facts = [
            term("1", from: 100, to: "anna", said: 100), move(to: "ben", from: "anna", at: 150),
            term("2", from: 200, to: "anna", said: 200),
            term("3", from: 300, to: "carl", said: 300),
            term("4", from: 400, to: "anna", said: 400),
        ]
        let probes: [Int64] = [50, 120, 180, 250, 350, 450]
        let expected = [nil, "anna", "ben", "ben", "carl", "carl"]
        // What is dated after the move is learned after it.
        let later = facts[2...]
        for order in Self.orders(of: facts) {
            guard let move = order.firstIndex(of: facts[1]),
                order[..<move].allSatisfy({ !later.contains($0) })
            else { continue }
            #expect(owners(order, at: probes) == expected)
        }
    }

    @Test func `only another move gives a purchase back to its former owner`() {
        let facts = [
            term("1", from: 100, to: "anna", said: 100), move(to: "ben", from: "anna", at: 150),
            term("2", from: 200, to: "anna", said: 200), move(to: "anna", from: "ben", at: 250),
            term("3", from: 300, to: "ben", said: 300),
        ]
        // Moves are known at once; what the store says of the time between them can arrive later.
        for order in [[0, 1, 2, 3, 4], [0, 1, 3, 4, 2]] {
            let owners = owners(order.map { facts[$0] }, at: [120, 220, 270, 350])
            #expect(owners == ["anna", "ben", "anna", "anna"])
        }
    }

    @Test func `a move applies where the first owner stays the owner`() {
        let facts = [
            term("1", from: 100, to: "anna", said: 100), move(to: "ben", from: "anna", at: 150),
            term("2", from: 200, to: "carl", said: 200),
        ]
        var owners: [OwnershipEntry] = []
        for count in 1...facts.count {
            owners += owners.additions(for: facts[..<count], under: .keep)
        }
        #expect(owners.map(\.customer.text) == ["anna", "ben"])
        #expect(owners.map(\.why) == [.accountToken, .moved])
    }

    private func inferred(_ customer: String, from start: Int64, said: Int64) -> Fact {
        let said = Instant(millisecondsSince1970: said)
        let owner = InferredOwner(
            customer: CustomerID(customer).unsafelyUnwrapped,
            from: Instant(millisecondsSince1970: start),
            expired: PlayToken("expired")
        )
        return Fact(
            lineage: lineage,
            assertion: .inferredOwner(owner),
            effectiveAt: owner.from,
            assertedAt: said,
            learnedAt: said,
            rank: .inferred,
            source: .server,
            evidence: EvidenceID(hex: "\(customer) \(start)")
        )
    }

    @Test func `an inferred owner counts only before a named one, in every order of facts`() {
        let facts = [
            inferred("anna", from: 100, said: 400), inferred("ben", from: 100, said: 500),
            inferred("carl", from: 300, said: 500),
        ]
        for order in Self.orders(of: facts) {
            #expect(owners(order) == [nil, "ben", "ben", "carl"])
        }
        let named = term("1", from: 100, to: "dora", said: 100)
        for order in Self.orders(of: facts + [named]) {
            #expect(owners(order) == [nil, "dora", "dora", "dora"])
        }
        let move = move(to: "dora", from: "ben", at: 250)
        for order in Self.orders(of: facts + [move]) {
            #expect(owners(order) == [nil, "ben", "dora", "dora"])
        }
        let later = term("2", from: 200, to: "ben", said: 200)
        for order in Self.orders(of: facts + [later]) {
            #expect(owners(order) == [nil, "ben", "ben", "ben"])
        }
        let late = term("3", from: 320, to: "dora", said: 600)
        for order in Self.orders(of: facts + [late]) {
            #expect(owners(order) == [nil, "ben", "ben", "dora"])
            #expect(owners(order, at: [310]) == ["carl"])
        }
    }

    @Test func `under keep a named owner outranks an inferred one too`() {
        let weak = [OwnershipEntry]().additions(
            for: [inferred("anna", from: 100, said: 400)],
            under: .keep
        )
        #expect(weak.map(\.why) == [.inferred])
        let facts = [
            inferred("anna", from: 100, said: 400), term("1", from: 100, to: "dora", said: 500),
        ]
        let owners = weak + weak.additions(for: facts, under: .keep)
        #expect(owners.owner(at: Instant(millisecondsSince1970: 150))?.text == "dora")
    }

    static let policies: [Policy.Transfer] = [
        .claim, .keep, .transferIfInactive, .transfer(coolDown: .days(30)),
    ]

    @Test(arguments: policies)
    func `a claim is ruled as if an inferred owner were none`(policy: Policy.Transfer) throws {
        let facts = [inferred("anna", from: 100, said: 400)]
        let now = Instant(millisecondsSince1970: 600)
        for customer in ["phone", "anna"] {
            let weak = [OwnershipEntry]().additions(for: facts, under: policy)
            let claimant = try #require(CustomerID(customer))
            let claim = OwnershipClaim(lineage: lineage, customer: claimant, at: now)
            let ruling = claim.ruling(facts: facts, owners: weak, policy: policy) { true }
            #expect(ruling == claim.ruling(facts: [], owners: [], policy: policy) { true })
            guard case .granted(let entry) = ruling else {
                Issue.record("the claim is not granted")
                continue
            }
            #expect(entry.why == .claimed)
            // The claim and the inference in either order give one owner at every instant.
            for owners in [weak + [entry], [entry] + [entry].additions(for: facts, under: policy)] {
                #expect(owners.owner(at: Instant(millisecondsSince1970: 150)) == claimant)
                #expect(owners.additions(for: facts, under: policy) == [])
            }
            // From now on it has an owner.
            let other = OwnershipClaim(
                lineage: lineage,
                customer: try #require(CustomerID("thief")),
                at: now + .seconds(1)
            )
            let second = other.ruling(facts: facts, owners: weak + [entry], policy: .claim) { true }
            #expect(second == .refused(.heldByAnother))
        }
    }

    @Test func `an operator's move from an inferred owner is no move from a customer`() throws {
        let facts = [
            inferred("anna", from: 100, said: 400), move(to: "ben", from: "anna", at: 500),
        ]
        let weak = [OwnershipEntry]().additions(for: facts.prefix(1))
        let owners = weak + weak.additions(for: facts)
        let ben = try #require(CustomerID("ben"))
        #expect(owners.map(\.why) == [.inferred, .moved])
        #expect(owners.giver(at: 1, to: CustomerIdentity(ben)) == nil)
    }

    private static func orders(of facts: [Fact]) -> [[Fact]] {
        guard !facts.isEmpty else { return [[]] }
        return facts.indices.flatMap { index in
            var rest = facts
            let taken = rest.remove(at: index)
            return orders(of: rest).map { [taken] + $0 }
        }
    }
}
