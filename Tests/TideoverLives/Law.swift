import TideoverCore

/// A property that must be true for every life, whatever was reported, lost or repeated.
package struct Law: Sendable, CustomStringConvertible {
    /// The name in commands and failures.
    package let name: String
    package let sentence: String
    /// Returns the fault of a life in one line; nil if there is none. The same life and trial
    /// always give the same result.
    let fault: @Sendable (Life, Trial) -> String?

    package init(
        name: String,
        sentence: String,
        fault: @escaping @Sendable (Life, Trial) -> String?
    ) {
        self.name = name
        self.sentence = sentence
        self.fault = fault
    }

    package var description: String { name }

    /// The parameters of a trial: the seed, and how often facts are disturbed.
    package struct Trial: Sendable {
        package var seed: UInt64
        package var schedules: Int

        package init(seed: UInt64, schedules: Int) {
            self.seed = seed
            self.schedules = schedules
        }

        var random: SeededRandom { SeededRandom(seed: seed ^ 0x5EED) }
    }

    package static let all = [
        convergence, unknownWords, refund, grace, bound, coverage, told, unbroken, olderWords,
        lowerRank, telling, stillness, settling,
    ]

    /// Returns a breach of this law by a life, or nil.
    package func breach(by life: Life, _ trial: Trial) -> Breach? {
        guard fault(life, trial) != nil else { return nil }
        let smallest = smallest(life, trial)
        guard let fault = fault(smallest, trial) else { return nil }
        return Breach(law: self, trial: trial, fault: fault, life: smallest)
    }

    /// Returns the life without every fact that the breach does not need.
    func smallest(_ life: Life, _ trial: Trial) -> Life {
        life.smallest { fault($0, trial) != nil }
    }
}

/// A life that breaks a law, reduced to the fewest facts.
package struct Breach: Sendable, CustomStringConvertible {
    package let law: Law
    package let trial: Law.Trial
    package let fault: String
    package let life: Life

    /// The law, the fault and the facts, one a line.
    package var description: String {
        let facts = life.facts.sorted {
            ($0.assertedAt, $0.evidence) < ($1.assertedAt, $1.evidence)
        }
        let lines = facts.map { fact in
            "    \(fact.assertedAt.rfc3339) \(fact.assertion.kind): \(fact.assertion.summary)"
        }
        return (["\(law.sentence): not with seed \(trial.seed), \(fault)"] + lines)
            .joined(separator: "\n")
    }
}

extension Assertion {
    /// The kind of assertion.
    var kind: String {
        switch self {
        case .term: "term"
        case .outlook: "outlook"
        case .condition: "condition"
        case .revocation: "revocation"
        case .reversal: "reversal"
        case .grant: "grant"
        case .move: "move"
        case .inferredOwner: "inferred owner"
        case .inquiry: "inquiry"
        case .pending: "pending"
        case .playSubscription: "read"
        case .playPurchase: "purchase"
        case .playVoidedOrder: "void"
        case .playReplacement: "replacement"
        case .playNotice: "notification"
        case .unrecognised: "unrecognised"
        }
    }
}

// MARK: - Convergence

extension Law {
    static let convergence = Law(
        name: "convergence",
        sentence: "order, repetition, and loss that is made good change no answer"
    ) { life, trial in
        let life = trial.seed.isMultiple(of: 2) ? life : life.contradicted(trial)
        // The timeline with the times at which facts were learned, and without them.
        let expected = [true, false].map { Answers(life, arriving: [life.facts], times: $0) }
        for number in 0..<trial.schedules {
            let schedule = Schedule(seed: trial.seed &* 64 &+ UInt64(number))
            let arrivals = schedule.arrivals(of: life.facts)
            let answers = Answers(life, arriving: arrivals, times: schedule.keepsLearning)
            let usual = expected[schedule.keepsLearning ? 0 : 1]
            if let difference = answers.difference(from: usual) {
                return "schedule \(number): \(difference)"
            }
        }
        return nil
    }
}

// MARK: - Generated lives

/// Lives by the number that they are generated from.
package enum GeneratedLives {
    /// The number of lives per seed.
    package static let kinds = 3

    /// Returns a life of each kind for a seed: the App Store's, Google Play's by reads, and Google
    /// Play's by bare notifications.
    package static func lives(seed: UInt64) -> [Life] {
        var random = SeededRandom(seed: seed)
        let apple = GeneratedLife(&random)
        let play = GeneratedPlayLife(&random)
        return [apple.life, play.life, play.unread]
    }
}
