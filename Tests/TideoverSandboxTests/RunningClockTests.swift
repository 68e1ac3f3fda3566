import Testing
import TideoverSandbox

@Suite struct RunningClockTests {
    @Test func `a running clock is faster by its factor`() {
        var clock = RunningClock(speed: 3600, ours: 500, stores: 1_000_000)
        #expect(clock.now(at: 500, stores: 1_000_000) == 1_000_000)
        #expect(clock.now(at: 600, stores: 1_000_000) == 1_360_000)
        #expect(clock.now(at: 1500, stores: 1_360_000) == 4_600_000)
    }

    @Test func `a clock without a speed stops and follows the store`() {
        var clock = RunningClock(ours: 0, stores: 1000)
        #expect(clock.speed == 0)
        #expect(clock.now(at: 99_000, stores: 1000) == 1000)
        #expect(clock.now(at: 99_001, stores: 5000) == 5000)
    }

    @Test func `a store that jumps continues from there at its speed`() {
        var clock = RunningClock(speed: 10, ours: 0, stores: 0)
        #expect(clock.now(at: 100, stores: 0) == 1000)
        // Three days ahead: it does not stop until the clock has caught up.
        let jumped: Int64 = 3 * 86_400_000
        #expect(clock.now(at: 100, stores: jumped) == jumped)
        #expect(clock.now(at: 200, stores: jumped) == jumped + 1000)
    }

    @Test func `a store held at a bound continues from there without catching up`() {
        var clock = RunningClock(speed: 1000, ours: 0, stores: 0)
        #expect(clock.now(at: 100, stores: 0, atMost: 5000) == 5000)
        #expect(clock.now(at: 101, stores: 5000, atMost: 5001) == 5001)
        #expect(clock.now(at: 101, stores: 5001, atMost: .max) == 5001)
        clock.run(at: 0, ours: 101, stores: 5001)
        #expect(clock.now(at: 200, stores: 5001, atMost: 6000) == 5001)
        // A store that is already further does not go back.
        #expect(clock.now(at: 201, stores: 7000, atMost: 6000) == 7000)
    }

    @Test func `the fastest clock stops at the end of time`() {
        var clock = RunningClock(speed: 100_000_000, ours: 0, stores: 1_800_000_000_000)
        #expect(clock.now(at: 1_000_000_000_000, stores: 0) == .max)
        #expect(clock.now(at: .max, stores: 0) == .max)
    }

    @Test func `a new speed applies from when it was set`() {
        var clock = RunningClock(speed: 10, ours: 0, stores: 0)
        clock.run(at: 2, ours: 100, stores: 400)
        #expect(clock.speed == 2)
        // 1000 had passed at the old speed.
        #expect(clock.now(at: 150, stores: 400) == 1100)
        clock.run(at: 0, ours: 150, stores: 1100)
        #expect(clock.now(at: 999_999, stores: 1100) == 1100)
    }
}
