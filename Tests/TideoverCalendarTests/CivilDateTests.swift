import Testing
import TideoverCalendar

@Suite struct CivilDateTests {
    @Test func `every day of eight centuries follows the one before`() {
        var previous = CivilDate(daysSince1970: -146_098)
        var wrong: [CivilDate] = []
        for days in -146_097...146_097 as ClosedRange<Int64> {
            let date = CivilDate(daysSince1970: days)
            let isSameMonth = date.year == previous.year && date.month == previous.month
            let isNextDay = date.day == 1 ? !isSameMonth : isSameMonth
            if date.daysSince1970 != days || !isNextDay
                || (date.day != 1 && date.day != previous.day + 1)
            {
                wrong.append(date)
            }
            previous = date
        }
        #expect(wrong.isEmpty)
    }

    /// Counts the days by the lengths of the months alone.
    @Test func `the months of the years 0 to 9999 begin and end on their days`() {
        var days: Int64 = -719_528
        var wrong: [CivilDate] = []
        for year in 0...9999 as ClosedRange<Int64> {
            for month in 1...12 as ClosedRange<Int64> {
                let length = CivilDate.length(ofMonth: month, year: year)
                for day in [1, length] {
                    let date = CivilDate(daysSince1970: days + day - 1)
                    if date.daysSince1970 != days + day - 1
                        || date != CivilDate(year: year, month: month, day: day)
                    {
                        wrong.append(date)
                    }
                }
                days += length
            }
        }
        #expect(wrong.isEmpty)
        #expect(days == 2_932_897)
    }

    @Test(
        arguments: [
            (0, 1970, 1, 1), (-1, 1969, 12, 31), (11_016, 2000, 2, 29), (-719_528, 0, 1, 1),
            (-719_468, 0, 3, 1), (-719_469, 0, 2, 29), (-719_529, -1, 12, 31),
            (20_579, 2026, 5, 6), (2_932_896, 9999, 12, 31), (2_932_897, 10_000, 1, 1),
        ] as [(Int64, Int64, Int64, Int64)]
    )
    func `a day has its date`(days: Int64, year: Int64, month: Int64, day: Int64) throws {
        let date = try #require(CivilDate(year: year, month: month, day: day))
        #expect(date.daysSince1970 == days)
        #expect(CivilDate(daysSince1970: days) == date)
    }

    @Test(arguments: [
        (2026, 2, 29), (1900, 2, 29), (2000, 2, 30), (2026, 4, 31), (2026, 1, 32), (2026, 0, 1),
        (2026, 13, 1), (2026, 1, 0), (2026, -1, 1), (2026, 1, -1),
    ])
    func `a day that does not exist is refused`(year: Int, month: Int, day: Int) {
        #expect(CivilDate(year: Int64(year), month: Int64(month), day: Int64(day)) == nil)
    }

    @Test(
        arguments: [
            (1900, false), (1970, false), (2000, true), (2024, true), (2026, false), (2100, false),
            (0, true), (-1, false), (-4, true), (-100, false), (-400, true),
        ] as [(Int64, Bool)]
    )
    func `a leap year has a day more`(year: Int64, isLeap: Bool) {
        #expect(CivilDate.isLeap(year) == isLeap)
        #expect(CivilDate.length(ofMonth: 2, year: year) == (isLeap ? 29 : 28))
    }

    @Test(
        arguments: [
            ([2026, 1, 31], 1, [2026, 2, 28]), ([2024, 1, 31], 1, [2024, 2, 29]),
            ([2024, 2, 29], 12, [2025, 2, 28]), ([2026, 11, 30], 3, [2027, 2, 28]),
            ([2026, 3, 31], -1, [2026, 2, 28]), ([0, 1, 15], -1, [-1, 12, 15]),
            ([2026, 5, 6], 0, [2026, 5, 6]),
        ] as [([Int64], Int64, [Int64])]
    )
    func `a month added keeps the day if the month has it`(
        start: [Int64],
        months: Int64,
        end: [Int64]
    ) throws {
        let date = try #require(CivilDate(year: start[0], month: start[1], day: start[2]))
        let later = date.adding(months: months)
        #expect([later.year, later.month, later.day] == end)
        #expect(later.startOfMonth.daysSince1970 == later.daysSince1970 - later.day + 1)
    }

    @Test(
        arguments: [
            (7, 2, 3, 1), (-7, 2, -4, 1), (-6, 2, -3, 0), (0, 2, 0, 0), (-1, 12, -1, 11),
        ] as [(Int64, Int64, Int64, Int64)]
    )
    func `a division rounds down`(value: Int64, by: Int64, quotient: Int64, remainder: Int64) {
        #expect(value.flooredQuotient(by: by) == quotient)
        #expect(value.flooredRemainder(by: by) == remainder)
    }
}
