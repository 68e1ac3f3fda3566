/// What was lived through with one entitlement: the spans of standing, and what happened between
/// them. Recomputed from facts whenever it is asked for, never patched.
public struct Timeline: Hashable, Sendable {
    public let entitlement: String
    /// From the first instant anything is known of to the instant asked for, without gap or
    /// overlap; neighbours differ.
    public let spans: [Span]
    /// Oldest first, none later than the instant asked for.
    public let transitions: [Transition]
    /// What follows if the store says nothing more, from the instant asked for on.
    public let expected: [Span]

    /// A stretch of time over which the answer stayed the same.
    public struct Span: Hashable, Sendable {
        public let from: Instant
        /// The first instant after it; nil where nothing known ends it.
        public private(set) var until: Instant?
        public let state: State
        public let reason: Reason
        public let confidence: Confidence
        public let rule: Rule.ID
        public let productId: String?
        /// The lineage that gave this answer; nil when there was none.
        public let lineage: Lineage?
        /// Nil when the store had said nothing of the term's end.
        public let willRenew: Bool?
        public let access: Bool

        init(_ standing: Standing, from: Instant, until: Instant?) {
            self.from = from
            self.until = until
            state = standing.state
            reason = standing.reason
            confidence = standing.confidence
            rule = standing.rule
            productId = standing.productId
            lineage = standing.lineage
            willRenew = standing.willRenew
            access = standing.access
        }

        /// Whether a standing is what this span says.
        public func says(_ standing: Standing) -> Bool {
            self == Span(standing, from: from, until: until)
        }

        func lasting(until end: Instant?) -> Span {
            var span = self
            span.until = end
            return span
        }
    }
}
