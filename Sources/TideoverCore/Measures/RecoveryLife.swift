/// How long a billing issue was or could have been observed, and when it recovered.
struct RecoveryLife {
    var watched: Milliseconds
    var recoveredAfter: Milliseconds?

    var observation: KaplanMeier.Observation {
        KaplanMeier.Observation(recoveredAfter ?? watched, happened: recoveredAfter != nil)
    }
}

extension BillingIssue {
    /// Returns the outcome by an instant.
    func outcome(asOf instant: Instant) -> Outcome {
        guard let endedAt, endedAt <= instant else {
            return .open(holdFrom.map { $0 <= instant } ?? false ? .hold : .grace)
        }
        return outcome
    }

    /// Returns the time from `start` to the recovery, as a life observed until `end`.
    ///
    /// A lost issue counts as observed to the end, like an open one: it did not recover in all that
    /// time. Dropping it on the day it was lost would count it as still recoverable. An issue with
    /// an unknown state was observed until its state became unknown.
    func life(from start: Instant, until end: Instant) -> RecoveryLife {
        switch outcome(asOf: end) {
        case .recovered(let recovery), .recoveredByNewPurchase(let recovery, _):
            RecoveryLife(watched: end - start, recoveredAfter: recovery.at - start)
        case .unconfirmed(_, let lostSightAt):
            RecoveryLife(watched: max(.zero, lostSightAt - start), recoveredAfter: nil)
        case .open, .cancelled, .expired, .takenBack:
            RecoveryLife(watched: end - start, recoveredAfter: nil)
        }
    }
}
