import Testing
import TideoverHTTP
import TideoverHTTPServer

/// Tests orders of events in one exchange, without threads.
@Suite struct ExchangeCourseTests {
    private let answer = Response.text("done")

    @Test func `the I/O thread sends the response of a handler that finishes at once`() {
        var course = ExchangeCourse()
        #expect(course.requestArrived() == .startHandler)
        #expect(course.finish(answer) == .leaveToStart)
        #expect(course.startReturned() == .send(answer))
        #expect(course.stage == .settled)
    }

    @Test func `the response of a suspended handler is sent where it finishes`() {
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

    @Test func `an abort during the start closes when the start returns`() {
        var course = ExchangeCourse()
        #expect(course.requestArrived() == .startHandler)
        #expect(course.giveUp() == .leaveToStart)
        #expect(course.finish(answer) == .drop)
        #expect(course.startReturned() == .close)
    }

    @Test func `an abort after the handler finished closes when the start returns`() {
        var course = ExchangeCourse()
        #expect(course.requestArrived() == .startHandler)
        #expect(course.finish(answer) == .leaveToStart)
        #expect(course.giveUp() == .leaveToStart)
        #expect(course.startReturned() == .close)
    }

    @Test func `a settled exchange starts no handler`() {
        var course = ExchangeCourse()
        course.settle()
        #expect(course.requestArrived() == .close)
        #expect(course.startReturned() == .close)
    }

    /// In any order of events, at most one response is sent. The connection is resumed exactly as
    /// often as it was suspended, or is still suspended.
    @Test func `no order of events sends two responses or resumes twice`() {
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
