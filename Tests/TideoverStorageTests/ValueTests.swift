import Testing
import TideoverCore
import TideoverStorage

@Suite struct `An event's id` {
    private func instant(_ milliseconds: Int64) -> Instant {
        Instant(millisecondsSince1970: milliseconds)
    }

    @Test func `is a UUID of version 7`() {
        let id = EventID.next(after: nil, at: instant(0x0123_4567_89AB), random: .max)
        #expect(id.description == "01234567-89ab-7000-bfff-ffffffffffff")
        #expect(EventID(id.description) == id)
    }

    @Test func `increases as a value and as text, however the clock moves`() {
        var random = SplitMix(seed: 1)
        var latest: EventID?
        for _ in 0..<10_000 {
            let now = instant(.random(in: 1_000...1_004, using: &random))
            let next = EventID.next(after: latest, at: now, random: random.next())
            if let latest {
                #expect(latest < next && latest.description < next.description)
            }
            latest = next
        }
    }

    @Test(arguments: [Int64.min, -1, 0, 1 << 48, .max])
    func `increases at the ends of time too`(milliseconds: Int64) {
        var latest = EventID.next(after: nil, at: instant(milliseconds), random: .max)
        for _ in 0..<5_000 {
            let next = EventID.next(after: latest, at: instant(milliseconds), random: 0)
            #expect(latest < next)
            latest = next
        }
    }

    @Test func `has neighbours, except at the ends`() throws {
        let first = try #require(EventID("00000000-0000-0000-0000-000000000001"))
        #expect(first.predecessor == first)
        let last = try #require(EventID("ffffffff-ffff-ffff-ffff-ffffffffffff"))
        #expect(last.successor == last)
        #expect(!last.isCountable)
        let id = EventID.next(after: nil, at: instant(5), random: 0)
        #expect(id.predecessor < id && id < id.successor)
        #expect(id.predecessor.successor == id)
        #expect(id.isCountable)
    }

    @Test(arguments: [
        "", "x", "01234567-89ab-7000-bfff-fffffffffff", "01234567-89ab-7000-bfff-fffffffffffff",
        "01234567-89AB-7000-bfff-ffffffffffff", "01234567089ab-7000-bfff-ffffffffffff",
        "+1234567-89ab-7000-bfff-ffffffffffff", "0123456789ab7000bfffffffffffffff",
    ])
    func `is read from its own text only`(text: String) {
        #expect(EventID(text) == nil)
    }
}

@Suite struct `What goes into a storage` {
    @Test func `a count's name is truncated, since it can come from outside`() {
        let long = String(repeating: "e\u{301}", count: 1_000)
        let tally = Tally(environment: nil, kind: "unrecognised", name: long)
        #expect(tally.name.unicodeScalars.count == 64)
        #expect(
            Tally(environment: nil, kind: "refusal", name: "badSignature").name == "badSignature"
        )
    }

    @Test func `evidence is named by its digest`() {
        #expect(
            EvidenceID(of: Array("abc".utf8)).hex
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
    }

    @Test func `an error contains the problem and the remedy`() {
        let locked = StorageError(.locked(holder: 42), place: "/srv/tideover.db")
        #expect(
            locked.description == """
                /srv/tideover.db is in use by process 42. \
                Stop that process, or ask the running server instead.
                """
        )
        let full = StorageError(.full, place: "/srv/tideover.db", detail: "disk is full")
        #expect(
            full.description == """
                No space is left for /srv/tideover.db (disk is full). \
                Free some space or allow a greater size; reading goes on, nothing is lost.
                """
        )
    }
}

@Suite struct `A bookmark that is a record` {
    @Test func `is in one of the ranges, which are in the order of bytes`() {
        let prefixes = BookmarkRecord.prefixes
        for (earlier, later) in zip(prefixes, prefixes.dropFirst()) {
            #expect(earlier.utf8.lexicographicallyPrecedes(later.utf8))
        }
        #expect(BookmarkRecord.ranges(after: "").map(\.first) == prefixes)
        let rest = BookmarkRecord.ranges(after: "revenueCat:logIn:anna")
        #expect(
            rest.map(\.first) == [
                "revenueCat:logIn:anna", "revenueCat:transfer:", "storeAction:",
            ]
        )
        #expect(
            rest.map(\.last) == ["revenueCat:logIn;", "revenueCat:transfer;", "storeAction;"]
        )
    }

    @Test(
        arguments: [
            "consumption:0", RemovedEvents.name, "revenueCat:logIn:5f0c",
            "revenueCat:transfer:anna",
        ]
    )
    func `has a name after one of the beginnings`(name: String) {
        #expect(BookmarkRecord.includes(name))
    }

    @Test(arguments: ["consumption:", "revenueCat:logIn:", "silence", "replay", ""])
    func `has no other name`(name: String) {
        #expect(!BookmarkRecord.includes(name))
    }
}
