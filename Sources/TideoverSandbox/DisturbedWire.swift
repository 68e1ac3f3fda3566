/// A fault in the delivery of a message.
protocol WireFault: StoreFault {
    /// How it changes the delivery; nil for a fault in the content.
    var journey: DisturbedJourney? { get }
}

/// The ways in which a delivery can differ from a single, immediate one.
enum DisturbedJourney {
    /// It never arrives, although the store records it as delivered.
    case lost
    /// It does not arrive, and the store detects it.
    case unanswered
    /// It arrives twice, the second time a moment later.
    case twice
    /// It arrives this many milliseconds later.
    case late(Int64)
    /// The next message overtakes it.
    case overtaken
}

/// A store's delivery queue, as far as faults change it.
protocol DisturbedPost {
    /// Records the end of an attempt, and whether the store counts the message as delivered.
    mutating func ended(_ number: Int, at instant: Int64, delivered: Bool)
    /// Schedules one more attempt.
    mutating func postpone(_ number: Int, to instant: Int64)
}

/// The transport from a store to its receiver, with faults. Instants are in milliseconds since
/// 1970.
struct DisturbedWire<Fault: WireFault>: Codable, Sendable {
    /// The delay of the second copy after the first, in milliseconds.
    private static var betweenCopies: Int64 { 500 }

    var faults: FaultPlan<Fault, Never>
    /// The messages that had a fault: each has at most one.
    private var struck: [Int] = []
    /// The messages that wait until another has overtaken them.
    private var overtaken: [Int] = []

    /// The result of an attempt that is due.
    enum Passage {
        /// Nothing arrives now.
        case nothing
        /// The message arrives, changed by the fault.
        case arrival(Fault?)
    }

    init(seed: UInt64) {
        faults = FaultPlan(seed: seed)
    }

    /// Sends a message with a due attempt. If nothing arrives, the attempt has ended.
    mutating func pass(_ number: Int, of post: inout some DisturbedPost, at now: Int64) -> Passage {
        let fault = struck.contains(number) ? nil : faults.draw()
        if fault != nil { struck.append(number) }
        switch fault?.journey {
        case .lost:
            post.ended(number, at: now, delivered: true)
            return .nothing
        case .unanswered:
            post.ended(number, at: now, delivered: false)
            return .nothing
        case .late(let length):
            post.postpone(number, to: now + length)
            return .nothing
        case .overtaken:
            overtaken.append(number)
            return .nothing
        case .twice: post.postpone(number, to: now + Self.betweenCopies)
        case nil: break
        }
        for number in overtaken { post.postpone(number, to: now + 1) }
        overtaken = []
        return .arrival(fault)
    }

    /// The oldest message that waits to be overtaken; nil if there is none.
    var oldestOvertaken: Int? { overtaken.min() }

    /// Drops the fault records of messages before a number; none of these messages may be sent
    /// again.
    mutating func forget(before number: Int) { struck.removeAll { $0 < number } }

    /// Removes every rule, and sends the messages that wait to be overtaken.
    mutating func clear(_ post: inout some DisturbedPost, at now: Int64) {
        faults.clear()
        for number in overtaken { post.postpone(number, to: now) }
        overtaken = []
    }
}
