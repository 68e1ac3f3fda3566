import Testing
import TideoverCore
import TideoverLives

/// One customer with several IDs.
@Suite struct IdentityTests {
    private static let day1: Instant = "2026-05-01"
    private static let day5: Instant = "2026-05-05"
    private static let day9: Instant = "2026-05-09"

    private static func id(_ text: String) -> CustomerID {
        guard let id = CustomerID(text) else { preconditionFailure("\(text) is an id") }
        return id
    }

    private static let anna = id("anna")
    private static let phone = id("phone")
    private static let web = id("web")
    private static let ben = id("ben")

    /// Anna, with a phone that joined on the fifth and a browser on the ninth.
    private static let aliases = [
        CustomerAlias(alias: phone, customer: anna, from: day5, by: "k"),
        CustomerAlias(alias: web, customer: anna, from: day9, by: "k"),
    ]

    @Test(arguments: [
        ("anna", "phone", "2026-05-05"), ("anna", "web", "2026-05-09"),
        ("phone", "anna", "2026-05-05"), ("phone", "web", "2026-05-09"),
        ("web", "anna", "2026-05-09"), ("web", "phone", "2026-05-09"),
    ])
    func `two ids are joined from the instant the later one was linked`(
        _ asked: String,
        _ other: String,
        _ start: String
    ) {
        let identity = CustomerIdentity(Self.id(asked), aliases: Self.aliases)
        #expect(identity.start(of: Self.id(other)) == Instant(rfc3339: "\(start)T00:00:00Z"))
        #expect(identity.start(of: Self.id(asked)) == .distantPast)
        #expect(identity.start(of: Self.ben) == nil)
        #expect(identity.primary == Self.anna)
    }

    @Test func `purchases of an alias belong to the customer from the link on, not before`() {
        let lineage = Lineage(store: .appStore, environment: .production, id: "1")
        let owners = [
            OwnershipEntry(lineage: lineage, customer: Self.phone, from: Self.day1, why: .claimed)
        ]
        let anna = CustomerIdentity(Self.anna, aliases: Self.aliases)
        #expect(!anna.owns(owners, at: Self.day5 - Milliseconds(1)))
        #expect(anna.owns(owners, at: Self.day5))
        #expect(CustomerIdentity(Self.phone, aliases: Self.aliases).owns(owners, at: Self.day1))
        #expect(!CustomerIdentity(Self.ben).owns(owners, at: Self.day9))
        #expect(!anna.asKnown(at: Self.day1).owns(owners, at: Self.day9))
    }

    private func ruling(_ alias: CustomerIdentity, as customer: CustomerIdentity) -> AliasRuling {
        AliasRuling(alias, as: customer, at: Self.day9, by: "k")
    }

    @Test func `aliases form no chains and no cycles`() {
        let anna = CustomerIdentity(Self.anna, aliases: Self.aliases)
        let phone = CustomerIdentity(Self.phone, aliases: Self.aliases)
        let ben = CustomerIdentity(Self.ben)
        #expect(ruling(anna, as: anna) == .refused(.sameID))
        #expect(ruling(phone, as: anna) == .known)
        #expect(ruling(anna, as: phone) == .known)
        #expect(ruling(phone, as: ben) == .refused(.aliasOfAnother))
        #expect(ruling(anna, as: ben) == .refused(.hasAliases))
        // An alias of an alias resolves to the primary customer.
        let joined = CustomerAlias(alias: Self.ben, customer: Self.anna, from: Self.day9, by: "k")
        #expect(ruling(ben, as: phone) == .granted(joined))
        #expect(ruling(ben, as: anna) == .granted(joined))
    }

    @Test func `a customer has ten aliases at most`() {
        let many = (1...10).map {
            CustomerAlias(alias: Self.id("a\($0)"), customer: Self.anna, from: Self.day1, by: "k")
        }
        let ben = CustomerIdentity(Self.ben)
        let full = CustomerIdentity(Self.anna, aliases: many)
        let nearly = CustomerIdentity(Self.anna, aliases: Array(many.dropLast()))
        #expect(ruling(ben, as: full) == .refused(.tooMany))
        #expect(ruling(ben, as: nearly) != .refused(.tooMany))
    }
}
