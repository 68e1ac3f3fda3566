import Testing
import TideoverHTTP
import TideoverHTTPServer

/// Tests orders of events in one exchange, without threads.
@Suite struct ExchangeCourseTests {
    private let answer = Response.text("done")

    @Test func `a handler that finishes at once is answered by the I/O thread`() {
        var course = ExchangeCourse()
        #expect(course.requestArrived() == .startHandler)
        #expect(course.finish(answer) == .leaveToStart)
        #expect(course.startReturned() == .send(answer))
        #expect(course.stage == .settled)
    }

    @Test func `a handler that suspends is answered by whoever finishes it`() {
        var course = ExchangeCourse()
        #expect(course.requestArrived() == .startHandler)
        #expect(course.startReturned() == .suspend)
        #expect(course.finish(answer) == .sendAndResume)
        #expect(course.finish(answer) == .drop)
        #expect(course.stage == .settled)
    }

    @Test func `a client that goes away resumes the connection once`() {
        var course = ExchangeCourse()
        #expect(course.requestArrived() == .startHandler)
        #expect(course.startReturned() == .suspend)
        #expect(course.giveUp() == .cancelAndResume)
        #expect(course.giveUp() == .nothing)
        #expect(course.finish(answer) == .drop)
    }

    @Test func `giving up during the start closes when the start returns`() {
        var course = ExchangeCourse()
        #expect(course.requestArrived() == .startHandler)
        #expect(course.giveUp() == .leaveToStart)
        #expect(course.finish(answer) == .drop)
        #expect(course.startReturned() == .close)
    }

    @Test func `giving up a finished handler closes when the start returns`() {
        var course = ExchangeCourse()
        #expect(course.requestArrived() == .startHandler)
        #expect(course.finish(answer) == .leaveToStart)
        #expect(course.giveUp() == .leaveToStart)
        #expect(course.startReturned() == .close)
    }

    @Test func `an exchange that is over starts no handler`() {
        var course = ExchangeCourse()
        course.settle()
        #expect(course.requestArrived() == .close)
        #expect(course.startReturned() == .close)
    }

    /// In any order of events, at most one response is sent. The connection is resumed exactly as
    /// often as it was suspended, or is still suspended.
    @Test func `no order of events answers twice or resumes what is not suspended`() {
        for path in 0..<4096 {
            var course = ExchangeCourse()
            var (sent, suspended) = (0, 0)
            var rest = path
            for _ in 0..<6 {
                switch rest % 4 {
                case 0: _ = course.requestArrived()
                case 1:
                    switch course.startReturned() {
                    case .send: sent += 1
                    case .suspend: suspended += 1
                    case .close: break
                    }
                case 2:
                    if course.finish(answer) == .sendAndResume {
                        (sent, suspended) = (sent + 1, suspended - 1)
                    }
                default:
                    if course.giveUp() == .cancelAndResume { suspended -= 1 }
                }
                rest /= 4
                #expect(sent <= 1)
                #expect((0...1).contains(suspended))
                #expect((suspended == 1) == (course.stage == .suspended))
            }
        }
    }
}
