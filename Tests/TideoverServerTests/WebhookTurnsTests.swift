import Testing
import TideoverCore
import TideoverServer
import TideoverStorage

/// Which webhooks may deliver at an instant.
@Suite struct WebhookTurnsTests {
    private let start = Instant(millisecondsSince1970: 1_800_000_000_000)

    private func key(_ number: Int) -> WebhookKey { WebhookKey(app: "cards", id: "hook-\(number)") }

    @Test func `a webhook delivers once at a time`() {
        var turns = WebhookTurns()
        let key = key(1)
        #expect(turns.begin(key, failingSince: nil, at: start) == true)
        #expect(turns.begin(key, failingSince: nil, at: start) == false)
        turns.end(key, failingSince: nil, attempted: true, at: start)
        #expect(turns.begin(key, failingSince: nil, at: start) == true)
    }

    @Test(arguments: [
        (Milliseconds.seconds(0), Milliseconds.seconds(5)), (.seconds(40), .seconds(5)),
        (.seconds(100), .seconds(10)), (.minutes(10), .minutes(1)), (.days(4), .minutes(1)),
    ])
    func `a failing webhook pauses for a tenth of its failing time, 5 to 60 seconds`(
        failing: Milliseconds,
        pause: Milliseconds
    ) {
        var turns = WebhookTurns()
        let (key, since) = (key(1), start - failing)
        #expect(turns.begin(key, failingSince: since, at: start) == true)
        turns.end(key, failingSince: since, attempted: true, at: start)
        let end = start + pause
        #expect(turns.begin(key, failingSince: since, at: end - Milliseconds(1)) == false)
        #expect(turns.begin(key, failingSince: since, at: end) == true)
    }

    @Test func `a search without an attempt does not extend the pause`() {
        var turns = WebhookTurns()
        let key = key(1)
        #expect(turns.begin(key, failingSince: start, at: start) == true)
        turns.end(key, failingSince: start, attempted: false, at: start)
        #expect(turns.begin(key, failingSince: start, at: start) == true)
    }

    @Test func `a receiver's wish to wait holds until then, or until an operator ends it`() {
        let key = key(1)
        let (later, end) = (start + .seconds(6), start + .seconds(60))
        // Whether the receiver fails, and its state at the next look.
        let cases: [(fails: Bool, isActive: Bool, since: Instant?, seen: Instant, ends: Bool)] = [
            (false, true, nil, later, false), (true, true, start, later, false),
            (false, false, nil, later, true), (true, false, start, later, true),
            // Disabled and enabled between two looks.
            (true, true, nil, later, true),
            // Read before the wait began.
            (true, true, nil, start, false),
        ]
        for (fails, isActive, since, seen, ends) in cases {
            var turns = WebhookTurns()
            let first = fails ? start : nil
            #expect(turns.begin(key, failingSince: nil, at: start) == true)
            turns.end(key, failingSince: first, waitsUntil: end, attempted: true, at: start)
            turns.noteState(of: key, isActive: isActive, failingSince: since, at: seen)
            #expect(turns.begin(key, failingSince: nil, at: later) == ends)
            if !ends { #expect(turns.begin(key, failingSince: nil, at: end) == true) }
        }
    }

    @Test func `any number of failing webhooks leaves room for the others`() {
        var turns = WebhookTurns()
        let begun = (0..<1_000).filter { turns.begin(key($0), failingSince: start, at: start) }
        #expect(begun.count == WebhookTurns.mostFailing)
        #expect((1_000..<2_000).allSatisfy { turns.begin(key($0), failingSince: nil, at: start) })
        turns.end(key(0), failingSince: start, attempted: true, at: start)
        #expect(turns.begin(key(999), failingSince: start, at: start) == true)
    }
}
