import Testing
import TideoverHTTPClient

@Suite struct AdmissionTests {
    private let now = ContinuousClock.now
    private func admission(_ exchanges: Int, perOrigin: Int, waiting: Int) -> Admission<Int> {
        var limits = HTTPClientLimits()
        limits.exchanges = exchanges
        limits.exchangesPerOrigin = perOrigin
        limits.waiting = waiting
        return Admission(limits)
    }

    @Test func `requests beyond the running and waiting limits are refused`() {
        var admission = admission(2, perOrigin: 2, waiting: 2)
        let verdicts = (1...5).map { admission.arrived($0, origin: "a\($0)", deadline: now) }
        #expect(verdicts == [.start, .start, .wait, .wait, .refuse(waiting: 2)])
        #expect(admission.next() == nil)
        admission.ended(1)
        #expect(admission.next() == 3)
        #expect(admission.next() == nil)
        #expect(admission.runningCount == 2)
    }

    @Test func `an origin at its limit lets other origins pass`() {
        var admission = admission(3, perOrigin: 1, waiting: 9)
        #expect(admission.arrived(1, origin: "slow", deadline: now) == .start)
        #expect(admission.arrived(2, origin: "slow", deadline: now) == .wait)
        #expect(admission.arrived(3, origin: "quick", deadline: now) == .start)
        #expect(admission.next() == nil)
        admission.ended(3)
        #expect(admission.next() == nil)
        admission.ended(1)
        #expect(admission.next() == 2)
    }

    @Test func `waiting requests expire or are withdrawn`() {
        var admission = admission(1, perOrigin: 1, waiting: 9)
        #expect(admission.nextDeadline == nil)
        for id in 1...4 {
            _ = admission.arrived(id, origin: "a", deadline: now + .seconds(10 - id))
        }
        #expect(admission.nextDeadline == now + .seconds(6))
        #expect(admission.expired(at: now) == [])
        #expect(admission.expired(at: now + .seconds(6)) == [4])
        let withdrawn = [2, 2, 1].map { admission.withdrew($0) }
        #expect(withdrawn == [true, false, false])
        admission.ended(1)
        admission.ended(1)
        #expect(admission.next() == 3)
        #expect(admission.next() == nil)
    }
}
