package import TideoverHTTP

/// The state machine of one exchange, from the request line to the response.
///
/// The I/O thread starts the handler and then checks whether it has finished. Meanwhile the handler
/// may finish on another thread, and the client may disconnect. Each thread reports its event under
/// the connection's lock, and performs the action that is returned. So a response is sent once, and
/// a connection is resumed only after it was suspended.
package struct ExchangeCourse: Hashable {
    /// The stage of an exchange.
    package enum Stage: Hashable {
        /// The request is arriving.
        case receiving
        /// The I/O thread is starting the handler.
        case starting
        /// The handler finished before the I/O thread could check.
        case finishedAtOnce(Response)
        /// The connection is suspended until the handler finishes.
        case suspended
        /// A response is on its way, or there will be none.
        case settled
    }

    /// The current stage.
    package private(set) var stage = Stage.receiving

    /// Creates an exchange with a request that is arriving.
    package init() {}

    /// The I/O thread's action after the request has arrived.
    package enum AfterArrival: Hashable {
        case startHandler
        /// Close the connection: the exchange has already ended.
        case close
    }

    /// The I/O thread's action after the start of the handler has returned.
    package enum AfterStart: Hashable {
        case send(Response)
        case suspend
        /// Close the connection: the exchange was abandoned meanwhile.
        case close
    }

    /// The action of the thread that finished the handler.
    package enum AfterFinish: Hashable {
        /// Send the response and resume the connection.
        case sendAndResume
        /// No action: the I/O thread sends the response.
        case leaveToStart
        /// No action: the response is no longer needed.
        case drop
    }

    /// The action of the thread that abandons the exchange.
    package enum AfterGivingUp: Hashable {
        /// Cancel the handler and resume the connection, so that it closes.
        case cancelAndResume
        /// No action: the I/O thread will close the connection.
        case leaveToStart
        /// No action: the exchange has ended.
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

    /// Abandons the exchange: the client has disconnected, or the server stops.
    package mutating func giveUp() -> AfterGivingUp {
        defer { stage = .settled }
        switch stage {
        case .suspended: return .cancelAndResume
        case .receiving, .starting, .finishedAtOnce: return .leaveToStart
        case .settled: return .nothing
        }
    }

    /// Records that the response was decided without the handler.
    package mutating func settle() { stage = .settled }
}
