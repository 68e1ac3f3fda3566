package import TideoverHTTP

/// The course of one exchange, from the first line of the request to the answer.
///
/// The I/O thread starts the handler and looks whether it has finished; meanwhile it may finish on
/// another thread, and the client may go away. Each of them tells the course what happened, under
/// the connection's lock, and does what the course answers: so an answer is handed over once, and
/// a connection is resumed only after it was suspended.
package struct ExchangeCourse: Hashable {
    /// How far the exchange has come.
    package enum Stage: Hashable {
        /// The request is arriving.
        case receiving
        /// The I/O thread is inside the start of the handler.
        case starting
        /// The handler finished before the I/O thread could look.
        case finishedAtOnce(Response)
        /// The connection is suspended until the handler finishes.
        case suspended
        /// An answer is on its way, or there will be none.
        case settled
    }

    /// How far it has come.
    package private(set) var stage = Stage.receiving

    /// An exchange whose request is arriving.
    package init() {}

    /// What the I/O thread does once the request has arrived.
    package enum AfterArrival: Hashable {
        case startHandler
        /// Close the connection: the exchange is over already.
        case close
    }

    /// What the I/O thread does once the start of the handler has returned.
    package enum AfterStart: Hashable {
        case send(Response)
        case suspend
        /// Close the connection: the exchange was given up meanwhile.
        case close
    }

    /// What whoever finished the handler does.
    package enum AfterFinish: Hashable {
        /// Send the answer and resume the connection.
        case sendAndResume
        /// Nothing: the I/O thread sends the answer.
        case leaveToStart
        /// Nothing: nobody waits for the answer.
        case drop
    }

    /// What whoever gives the exchange up does.
    package enum AfterGivingUp: Hashable {
        /// Cancel the handler and resume the connection, so that it closes.
        case cancelAndResume
        /// Nothing: the I/O thread closes the connection when it comes by.
        case leaveToStart
        /// Nothing: it is over.
        case nothing
    }

    /// The whole request has arrived.
    package mutating func requestArrived() -> AfterArrival {
        guard stage == .receiving else { return .close }
        stage = .starting
        return .startHandler
    }

    /// The start of the handler has returned, finished or not.
    package mutating func startReturned() -> AfterStart {
        switch stage {
        case .finishedAtOnce(let response):
            stage = .settled
            return .send(response)
        case .starting:
            stage = .suspended
            return .suspend
        case .receiving, .suspended, .settled:
            return .close
        }
    }

    /// The handler has finished.
    package mutating func finish(_ response: Response) -> AfterFinish {
        switch stage {
        case .starting:
            stage = .finishedAtOnce(response)
            return .leaveToStart
        case .suspended:
            stage = .settled
            return .sendAndResume
        case .receiving, .finishedAtOnce, .settled:
            return .drop
        }
    }

    /// No answer is wanted any more: the client has gone, or the server stops.
    package mutating func giveUp() -> AfterGivingUp {
        defer { stage = .settled }
        switch stage {
        case .suspended: return .cancelAndResume
        case .receiving, .starting, .finishedAtOnce: return .leaveToStart
        case .settled: return .nothing
        }
    }

    /// The answer is decided without the handler.
    package mutating func settle() { stage = .settled }
}
