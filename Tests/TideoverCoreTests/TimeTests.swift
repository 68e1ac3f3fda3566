import Testing
import TideoverCore
import TideoverLives

@Suite struct TimeTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00.000Z", 0), ("2026-05-06T10:00:00.000Z", 1_778_061_600_000),
        ("2000-02-29T23:59:59.999Z", 951_868_799_999), ("1969-12-31T23:59:59.999Z", -1),
        ("0001-01-01T00:00:00.000Z", -62_135_596_800_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ])
    func `an instant is written and read as RFC 3339`(text: String, milliseconds: Int64) {
        let instant = Instant(millisecondsSince1970: milliseconds)
        #expect(instant.rfc3339 == text)
        #expect(Instant(rfc3339: text) == instant)
    }

    @Test func `offsets and fractions are read, and invalid days are not`() {
        #expect(Instant(rfc3339: "2026-05-06T12:00:00+02:00") == "2026-05-06T10:00:00Z")
        #expect(Instant(rfc3339: "2026-05-06T10:00:00.1Z") == "2026-05-06T10:00:00.100Z")
        #expect(Instant(rfc3339: "2026-05-06T10:00:00.1239Z") == "2026-05-06T10:00:00.123Z")
        for bad in [
            "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-05-06T24:00:00Z",
            "2026-05-06T10:00:60Z", "2026-05-06 10:00:00Z", "2026-05-06T10:00:00",
            "2026-05-06T10:00:00.Z", "2026-05-06T10:00:00ZZ", "", "2026-05-06",
        ] {
            #expect(Instant(rfc3339: bad) == nil, "\(bad)")
        }
    }

    @Test func `a written instant with another character is not read`() {
        let text = Array("2026-05-06T10:00:00.123Z")
        for place in text.indices {
            for character in ["x", "/", ":", "\u{0}", "é"] where character != String(text[place]) {
                let other = String(text[..<place]) + character + String(text[(place + 1)...])
                #expect(Instant(rfc3339: other) == nil, "\(other)")
            }
        }
    }

    @Test func `the date of an HTTP header is read in its preferred form only`() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(Instant(httpDate: date)?.rfc3339 == "1994-11-06T08:49:37.000Z")
        for bad in [
            " un, 06 Nov 1994 08:49:37 GMT", "Sun,  6 Nov 1994 08:49:37 GMT", " \(date)",
            "\(date) ",
            "Sux, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "",
            "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37.5 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ] {
            #expect(Instant(httpDate: bad) == nil, "\(bad)")
        }
    }

    @Test func `beyond the supported years the nearest one is written`() {
        #expect(Instant.distantFuture.rfc3339 == "9999-12-31T23:59:59.999Z")
        #expect(Instant.distantPast.rfc3339 == "0000-01-01T00:00:00.000Z")
    }

    @Test func `arithmetic saturates instead of trapping`() {
        #expect(Instant.distantFuture + .days(1) == .distantFuture)
        #expect(Instant.distantPast - .days(1) == .distantPast)
        #expect(Instant.distantFuture - Instant.distantPast == Milliseconds(.max))
        #expect(Instant.distantPast - Milliseconds(.min) == Instant(millisecondsSince1970: -1))
    }

    @Test(arguments: [
        ("2026-01-31", "P1M", "2026-02-28"), ("2024-01-31", "P1M", "2024-02-29"),
        ("2024-02-29", "P1Y", "2025-02-28"), ("2026-12-15", "P1M", "2027-01-15"),
        ("2026-05-01", "P3D", "2026-05-04"), ("2026-05-01", "P2W", "2026-05-15"),
        ("2026-05-31", "P1Y6M", "2027-11-30"),
    ])
    func `a calendar period keeps the day if the month has it`(
        start: String,
        period: String,
        end: String
    ) throws {
        let period = try #require(Period(iso8601: period))
        #expect(Instant(stringLiteral: start) + period == Instant(stringLiteral: end))
    }

    @Test func `periods are read strictly and written back`() {
        for text in ["P1M", "P3D", "P1W", "P1Y", "P1Y6M", "P2M3D"] {
            #expect(Period(iso8601: text)?.iso8601 == text)
        }
        for bad in ["", "P", "1M", "P1", "PT1H", "P1D1M", "P-1M", "P1.5M", "P99999D", "P0M"] {
            #expect(Period(iso8601: bad) == nil, "\(bad)")
        }
    }

    @Test func `lengths are read in the notation of the configuration`() {
        #expect(Milliseconds(text: "24h") == .hours(24))
        #expect(Milliseconds(text: "3d") == .days(3))
        #expect(Milliseconds(text: "500ms") == Milliseconds(500))
        #expect(Milliseconds.hours(24).text == "1d")
        #expect(Milliseconds.hours(36).text == "36h")
        for bad in ["", "24", "h", "-1h", "1w", "1.5h", "24 h", "99999999999d"] {
            #expect(Milliseconds(text: bad) == nil, "\(bad)")
        }
    }

    @Test func `money is read and written`() {
        #expect(Money(text: "9.99 USD") == Money(milliunits: 9990, currency: "USD"))
        #expect(Money(text: "1000 JPY") == Money(milliunits: 1_000_000, currency: "JPY"))
        #expect(Money(text: "0.125 KWD")?.text == "0.125 KWD")
        #expect(Money(milliunits: 9990, currency: "USD").text == "9.99 USD")
        #expect(Money(milliunits: -500, currency: "EUR").text == "-0.50 EUR")
        for bad in ["9.99", "9.99USD", "9.99 usd", "-1 USD", "+1 USD", "1. USD", "1.2345 USD"] {
            #expect(Money(text: bad) == nil, "\(bad)")
        }
    }
}
