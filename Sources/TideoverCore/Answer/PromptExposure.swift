/// A prompt that a device or a back end showed to a customer.
public struct PromptExposure: Hashable, Sendable {
    /// The ID that the reporter chose; a repeated report has the same one.
    public var id: String
    public var kind: Prompt.Kind
    public var shownAt: Instant
    /// The customer's response; nil if unknown.
    public var response: Response?

    public enum Response: String, Hashable, Sendable, CaseIterable {
        /// The customer followed the prompt's action.
        case opened
        case dismissed
    }

    public init(id: String, kind: Prompt.Kind, shownAt: Instant, response: Response? = nil) {
        self.id = id
        self.kind = kind
        self.shownAt = shownAt
        self.response = response
    }
}
