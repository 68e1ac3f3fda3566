/// The timeline of one entitlement: the spans of standing, and the transitions between them. It is
/// recomputed from facts on each request, never patched.
public struct Timeline: Hashable, Sendable {
    public let entitlement: String
    /// From the first known instant to the requested one, without gap or overlap; neighbours
    /// differ.
    public let spans: [Span]
    /// Oldest first, none later than the requested instant.
    public let transitions: [Transition]
    /// The spans expected from the requested instant on, if the store reports nothing more.
    public let expected: [Span]

    /// A time span with an unchanged answer.
    public struct Span: Hashable, Sendable {
        public let from: Instant
        /// The first instant after it; nil if nothing known ends it.
        public private(set) var until: Instant?
        public let state: State
        public let reason: Reason
        public let confidence: Confidence
        public let rule: Rule.ID
        public let productId: String?
        /// The lineage that gave this answer; nil if there was none.
        public let lineage: Lineage?
        /// Nil if the store had reported nothing about the term's end.
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

        /// Whether a standing equals this span's.
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
