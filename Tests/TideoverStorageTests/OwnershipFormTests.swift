import Testing
import TideoverCore
import TideoverJSON
import TideoverStorage

/// Owners are read as they were stored.
@Suite struct OwnershipFormTests {
    private static let instant = Instant(millisecondsSince1970: 1_777_000_000_000)

    private static let entries: [OwnershipEntry] = OwnershipEntry.Why.allCases.flatMap { why in
        ["anna", "an \"id\"", "ä"].compactMap { CustomerID($0) }.flatMap { customer in
            [Instant.distantPast, instant].flatMap { from in
                [nil, instant + .seconds(1)].map { later in
                    OwnershipEntry(
                        lineage: Lineage(store: .appStore, environment: .sandbox, id: "1"),
                        customer: customer,
                        from: from,
                        until: later,
                        why: why,
                        decidedAt: later
                    )
                }
            }
        }
    }

    @Test(arguments: entries)
    func `each entry is read from its form`(_ entry: OwnershipEntry) throws {
        #expect(try OwnershipEntry(stored: entry.form) == entry)
    }

    @Test(arguments: entries.filter { $0.customer.text == "anna" })
    func `a form without escapes is read without a document`(_ entry: OwnershipEntry) throws {
        let read = WrittenJSON.read(entry.form) { json throws(WrittenJSON.Mismatch) in
            try OwnershipEntry(written: &json)
        }
        #expect(read == entry)
    }

    @Test(arguments: entries.prefix(1))
    func `members in another order and white space are read too`(_ entry: OwnershipEntry) throws {
        let text = """
            { "why": "accountToken", "customer": "anna",
              "lineage": { "ownership": "purchased", "store": "appStore",
                           "environment": "sandbox", "id": "1" } }
            """
        #expect(try OwnershipEntry(stored: Array(text.utf8)) == entry)
    }

    @Test(arguments: entries.suffix(1))
    func `a form that is cut off is refused`(_ entry: OwnershipEntry) {
        for count in 0..<entry.form.count {
            #expect(throws: (any Error).self) {
                try OwnershipEntry(stored: Array(entry.form.prefix(count)))
            }
        }
    }
}
