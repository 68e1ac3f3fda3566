import TideoverCore

/// What a standing looks like in a picture. Where one place shows several, it shows the last of them.
enum Phase: Int, CaseIterable, Hashable, Sendable {
    case never, ended, active, trial, paused, hold, grace, refunded

    /// In the order in which a legend tells them; of who has bought nothing nothing is drawn.
    static let drawn: [Phase] = [.active, .trial, .grace, .hold, .paused, .refunded, .ended]

    /// Google serves on in silent grace while a payment has failed: that is grace, whatever it says.
    init(_ state: State, _ reason: Reason, _ rule: Rule.ID) {
        self =
            switch state {
            case .never: .never
            case .active where rule == .silentGrace: .grace
            case .active: reason == .trial ? .trial : .active
            case .grace: .grace
            case .hold: reason == .paused ? .paused : .hold
            case .expired: reason == .refunded ? .refunded : .ended
            }
    }

    var hasAccess: Bool {
        switch self {
        case .active, .trial, .grace: true
        case .never, .ended, .paused, .hold, .refunded: false
        }
    }

    /// One word for it.
    var word: String {
        switch self {
        case .never: "nothing bought"
        case .ended: "ended"
        case .active: "active"
        case .trial: "trial"
        case .paused: "paused"
        case .grace: "grace"
        case .hold: "hold"
        case .refunded: "refunded"
        }
    }

    /// What a legend says of it.
    var explanation: String {
        switch self {
        case .grace: "grace: payment failed, access kept"
        case .hold: "hold: payment failed, no access, may be saved"
        case .never, .ended, .active, .trial, .paused, .refunded: word
        }
    }
}
