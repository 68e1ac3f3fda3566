import Testing
import TideoverCore

@testable import TideoverTestServer

/// The dates of Google Play's responses compared with our clock.
@Suite struct StoreClockWatchTests {
    private static let family = "tideover_store_clock_skews_total"

    private func backEnd() throws -> (PlayBackEnd, ScriptedPlay) {
        let google = ScriptedPlay(TestTime(at: "2026-05-01T10:00:00Z", movesClock: true))
        google.play("token-1") { _ in
            ScriptedPlay.subscription("ACTIVE", until: "2026-06-01T10:00:00Z")
        }
        return (try PlayBackEnd(google), google)
    }

    private func skews(_ backEnd: PlayBackEnd) async throws -> String? {
        try await backEnd.samples().first { $0.hasPrefix(Self.family + "{") }
    }

    private func lines(_ backEnd: PlayBackEnd) -> [String] {
        backEnd.logged.filter { $0.contains("clock-skew") }
    }

    @Test(arguments: [
        ("Fri, 01 May 2026 09:54:59 GMT", "301 s ahead of"),
        ("Fri, 01 May 2026 10:05:01 GMT", "301 s behind"),
    ])
    func `a date more than five minutes away is counted and logged`(
        date: String,
        words: String
    ) async throws {
        let (backEnd, google) = try backEnd()
        google.date(date)
        #expect(try await backEnd.push(4, "token-1") == 200)
        #expect(try await skews(backEnd) == Self.family + #"{app="cards"} 1"#)
        #expect(lines(backEnd).count == 1)
        #expect(lines(backEnd).first?.contains(words) ?? false)
        // The answer does not change.
        #expect(try await backEnd.hasAccess())
        await backEnd.close()
    }

    @Test(arguments: ["Fri, 01 May 2026 09:55:00 GMT", "Fri, 01 May 2026 10:05:00 GMT"])
    func `a date at most five minutes away is not counted`(date: String) async throws {
        let (backEnd, google) = try backEnd()
        google.date(date)
        #expect(try await backEnd.push(4, "token-1") == 200)
        #expect(try await skews(backEnd) == Self.family + #"{app="cards"} 0"#)
        #expect(lines(backEnd).isEmpty)
        await backEnd.close()
    }

    @Test func `ten minutes have one log line, and every response is counted`() async throws {
        let (backEnd, google) = try backEnd()
        google.date("Fri, 01 May 2026 11:00:00 GMT")
        for type in [Int64(4), 2, 3] { #expect(try await backEnd.push(type, "token-1") == 200) }
        #expect(try await skews(backEnd) == Self.family + #"{app="cards"} 3"#)
        #expect(lines(backEnd).count == 1)
        try await google.time.sleep(.seconds(600))
        #expect(try await backEnd.push(6, "token-1") == 200)
        #expect(lines(backEnd).count == 2)
        await backEnd.close()
    }
}
