import Testing
import TideoverCalendar
import TideoverSandbox

@Suite struct TimeTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-05-17T09:59:59.000Z", 1_779_011_999_000),
        ("2026-05-17T11:59:59+02:00", 1_779_011_999_000),
        ("2026-05-17T04:29:59.5-05:30", 1_779_011_999_500),
        ("2024-02-29T23:59:59.999Z", 1_709_251_199_999),
        ("1969-12-31T23:59:59.999Z", -1),
        ("0000-03-01T00:00:00Z", -62_162_035_200_000),
    ])
    func `an instant is read as RFC 3339`(text: String, milliseconds: Int) {
        #expect(InstantText.read(text) == Int64(milliseconds))
    }

    @Test(arguments: [
        "", "2026-05-17", "2026-05-17T09:59:59", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-05-17T24:00:00Z", "2026-05-17T09:60:00Z", "2026-05-17T09:59:59.Z",
        "2026-05-17T09:59:59Z ", "2026-05-17 09:59:59Z", "2026-05-17T09:59:59+0200",
    ])
    func `an invalid instant is refused`(text: String) {
        #expect(InstantText.read(text) == nil)
    }

    @Test func `an instant is written in UTC with milliseconds`() {
        #expect(InstantText.write(1_779_011_999_007) == "2026-05-17T09:59:59.007Z")
        #expect(InstantText.write(-1) == "1969-12-31T23:59:59.999Z")
    }

    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (1_709_251_199_999, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (1_778_061_600_999, "Wed, 06 May 2026 10:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        ] as [(Int64, String)]
    )
    func `an instant is written in HTTP format`(instant: Int64, text: String) {
        #expect(HTTPDateText.write(instant) == text)
    }

    @Test(
        arguments: [
            ("2026-01-31", 1, "2026-02-28"), ("2026-01-31", 2, "2026-03-31"),
            ("2024-01-31", 1, "2024-02-29"), ("2026-01-31", 3, "2026-04-30"),
            ("2024-02-29", 12, "2025-02-28"), ("2026-11-30", 3, "2027-02-28"),
            ("2026-03-31", -1, "2026-02-28"),
        ] as [(String, Int64, String)]
    )
    func `months are calendar months`(start: String, months: Int64, end: String) throws {
        let start = try #require(InstantText.read("\(start)T10:20:30Z"))
        let date = CivilDate(daysSince1970: start / CivilDate.millisecondsPerDay)
        let days = date.adding(months: months).daysSince1970
        let instant = days * CivilDate.millisecondsPerDay + start % CivilDate.millisecondsPerDay
        #expect(InstantText.writeForPeople(instant) == "\(end) 10:20:30")
    }

    @Test(arguments: [
        ("P1M", 1, 0), ("P1Y", 12, 0), ("P1W", 0, 604_800_000), ("P3D", 0, 259_200_000),
        ("P1Y2M3D", 14, 259_200_000), ("PT90S", 0, 90_000), ("P1DT2H3M", 0, 93_780_000),
    ])
    func `a period is read as ISO 8601`(iso: String, months: Int, milliseconds: Int) throws {
        let period = try #require(StorePeriod(iso: iso))
        #expect(period.months == months)
        #expect(period.milliseconds == Int64(milliseconds))
    }

    @Test(arguments: [
        "", "P", "PT", "P1", "1M", "P1MT", "P0D", "P1D1M", "P-1D", "P1.5D", "p1m", "P10001Y",
        "P9999999999D",
    ])
    func `an invalid period is refused`(iso: String) {
        #expect(StorePeriod(iso: iso) == nil)
    }

    @Test(arguments: [
        ("16d", 0, 1_382_400_000), ("16 d", 0, 1_382_400_000), ("1h 30min", 0, 5_400_000),
        ("0s", 0, 0), ("2 months", 2, 0), ("P1M", 1, 0), ("250ms", 0, 250),
    ])
    func `a duration is read in the usual notations`(text: String, months: Int, milliseconds: Int)
        throws
    {
        let span = try #require(StorePeriod(span: text))
        #expect(span.months == months)
        #expect(span.milliseconds == Int64(milliseconds))
    }

    @Test(arguments: ["", "  ", "d", "16", "5m", "5 parsecs", "-1d", "1d,2h", "9999999 years"])
    func `an ambiguous or empty duration is refused`(text: String) {
        #expect(StorePeriod(span: text) == nil)
    }
}
