package import TideoverCore

/// The appearance of a standing in a picture. Where several share one place, the last in this order
/// is shown.
package enum Phase: Int, CaseIterable, Hashable, Sendable {
    case never, ended, active, trial, paused, hold, grace, refunded

    /// The phases in the order of the legend. `never` is not drawn.
    package static let drawn: [Phase] = [
        .active, .trial, .grace, .hold, .paused, .refunded, .ended,
    ]

    /// A failed payment under a rule of silent grace counts as grace for every state.
    package init(_ state: State, _ reason: Reason, _ rule: Rule.ID?) {
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

    package var hasAccess: Bool {
        switch self {
        case .active, .trial, .grace: true
        case .never, .ended, .paused, .hold, .refunded: false
        }
    }

    /// The phase's name.
    package var word: String {
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

    /// The phase's explanation in a legend.
    package var explanation: String {
        switch self {
        case .grace: "grace: payment failed, access kept"
        case .hold: "hold: payment failed, no access, may be saved"
        case .never, .ended, .active, .trial, .paused, .refunded: word
        }
    }
}
