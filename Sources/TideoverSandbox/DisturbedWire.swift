/// What can go wrong with a message on its way.
protocol WireFault: StoreFault {
    /// What it does to the journey; nil where it spoils what arrives.
    var journey: DisturbedJourney? { get }
}

/// How a message may travel otherwise than at once and once.
enum DisturbedJourney {
    /// It never arrives, though the store holds it for delivered.
    case lost
    /// It does not arrive, and the store knows.
    case unanswered
    /// It arrives, and a moment later once more.
    case twice
    /// It arrives so many milliseconds later.
    case late(Int64)
    /// The next one overtakes it.
    case overtaken
}

/// A store's post, as far as a disturbed wire meddles with it.
protocol DisturbedPost {
    /// Notes that an attempt is over, and whether the store holds the message for delivered.
    mutating func ended(_ number: Int, at instant: Int64, delivered: Bool)
    /// Plans one more attempt.
    mutating func postpone(_ number: Int, to instant: Int64)
}

/// The way from a store to whoever is notified, with what goes wrong on it. Instants are milliseconds
/// since 1970.
struct DisturbedWire<Fault: WireFault>: Codable, Sendable {
    /// How long after the first a second copy is sent, in milliseconds.
    private static var betweenCopies: Int64 { 500 }

    var faults: FaultPlan<Fault, Never>
    /// The messages that a fault has struck: one is enough for each.
    private var struck: [Int] = []
    /// The messages that wait until another has gone ahead.
    private var overtaken: [Int] = []

    /// What comes of an attempt that is due.
    enum Passage {
        /// Nothing arrives now.
        case nothing
        /// The message arrives, with what the fault makes of it.
        case arrival(Fault?)
    }

    init(seed: UInt64) {
        faults = FaultPlan(seed: seed)
    }

    /// Sends a message whose attempt is due. An attempt of which nothing arrives is over.
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

    /// The oldest message that waits to be overtaken; nil where none does.
    var oldestOvertaken: Int? { overtaken.min() }

    /// Forgets which of the messages before a number were struck; none of them may come again.
    mutating func forget(before number: Int) { struck.removeAll { $0 < number } }

    /// Takes every rule back; what waits to be overtaken is sent now.
    mutating func clear(_ post: inout some DisturbedPost, at now: Int64) {
        faults.clear()
        for number in overtaken { post.postpone(number, to: now) }
        overtaken = []
    }
}
