import Testing
import TideoverCore
import TideoverKit

@Suite struct ClockTests {
    private let start = TestPurchases.start

    @Test func `a clock that is set back while the app runs gains no access`() {
        var clock = DeviceClock()
        clock.see(ClockReading(clock: start, uptime: .zero))
        let later = ClockReading(clock: start - .days(10), uptime: .hours(5))
        clock.see(later)
        #expect(clock.now(later) == start + .hours(5))
        #expect(clock.isSetBack(later))
    }

    @Test func `a pass includes the time that earlier processes saw`() {
        var clock = DeviceClock(lastSeen: start)
        let reading = ClockReading(clock: start - .days(1), uptime: .zero)
        clock.see(reading)
        #expect(clock.passTime(reading).now == start)
        #expect(clock.isSetBack(reading))
    }

    @Test func `the date of a signature is a lower bound of the time`() {
        var clock = DeviceClock()
        let reading = ClockReading(clock: start, uptime: .zero)
        clock.see(reading)
        clock.see(verified: start + .days(2), at: reading)
        #expect(clock.now(reading) == start + .days(2))
    }

    @Test func `time goes on after a signature that is newer than the clock`() {
        var clock = DeviceClock()
        let reading = ClockReading(clock: start, uptime: .zero)
        clock.see(reading)
        clock.see(verified: start + .days(2), at: reading)
        let later = ClockReading(clock: start + .hours(5), uptime: .hours(5))
        clock.see(later)
        #expect(clock.now(later) == start + .days(2) + .hours(5))
        clock.see(serverTime: start + .days(1), at: later)
        let last = ClockReading(clock: start + .hours(6), uptime: .hours(6))
        #expect(clock.now(last) == start + .days(2) + .hours(1))
    }

    @Test func `a pass's time goes on from what earlier processes saw`() {
        var clock = DeviceClock(lastSeen: start)
        clock.see(ClockReading(clock: start - .days(9), uptime: .hours(1)))
        let later = ClockReading(clock: start - .days(7), uptime: .hours(49))
        clock.see(later)
        #expect(clock.passTime(later).now == start + .days(2))
    }

    @Test func `a server's response corrects a wrong clock in both directions`() {
        for wrong in [start - .days(30), start + .days(30)] {
            var clock = DeviceClock(lastSeen: wrong)
            clock.see(ClockReading(clock: wrong, uptime: .zero))
            clock.see(serverTime: start, at: ClockReading(clock: wrong, uptime: .zero))
            let later = ClockReading(clock: wrong + .hours(1), uptime: .hours(1))
            clock.see(later)
            #expect(clock.now(later) == start + .hours(1))
        }
    }

    @Test func `a running clock is not set back`() {
        var clock = DeviceClock()
        clock.see(ClockReading(clock: start, uptime: .zero))
        let later = ClockReading(clock: start + .minutes(9), uptime: .minutes(10))
        #expect(clock.now(later) == start + .minutes(10))
        #expect(!clock.isSetBack(later))
    }
}
