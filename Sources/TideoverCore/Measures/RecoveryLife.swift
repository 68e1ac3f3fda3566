/// How long a billing issue was or could have been watched, and after how long it recovered.
struct RecoveryLife {
    var watched: Milliseconds
    var recoveredAfter: Milliseconds?

    var observation: KaplanMeier.Observation {
        KaplanMeier.Observation(recoveredAfter ?? watched, happened: recoveredAfter != nil)
    }
}

extension BillingIssue {
    /// What had become of it by an instant.
    func outcome(asOf instant: Instant) -> Outcome {
        guard let endedAt, endedAt <= instant else {
            return .open(holdFrom.map { $0 <= instant } ?? false ? .hold : .grace)
        }
        return outcome
    }

    /// The time from `start` to the recovery, as a life watched until `end`.
    ///
    /// A lost issue was watched to the end like an open one: it did not come back in all that time.
    /// Dropping it out on the day it was lost would count it as one that still might. One that was
    /// lost sight of was watched until then.
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
