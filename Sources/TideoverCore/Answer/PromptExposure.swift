/// A prompt or a planned message that reached a customer, as a device or a back end reports it.
public struct PromptExposure: Hashable, Sendable {
    /// The ID of the planned message, or the one that the reporter chose. A repeated report has the
    /// same one.
    public var id: String
    public var kind: Kind
    public var shownAt: Instant
    /// The customer's response; nil if unknown.
    public var response: Response?

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The prompt of the answer, as its kind.
        case soft, hard
        /// A message of the plan.
        case message
        /// The store's own message about a failed payment or a price.
        case store

        public init(_ kind: Prompt.Kind) {
            switch kind {
            case .soft: self = .soft
            case .hard: self = .hard
            }
        }
    }

    public enum Response: String, Hashable, Sendable, CaseIterable {
        /// The customer followed the prompt's action.
        case opened
        case dismissed
    }

    public init(id: String, kind: Kind, shownAt: Instant, response: Response? = nil) {
        self.id = id
        self.kind = kind
        self.shownAt = shownAt
        self.response = response
    }
}
