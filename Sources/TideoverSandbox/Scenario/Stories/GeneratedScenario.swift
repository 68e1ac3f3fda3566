extension Scenario {
    /// Generates a story from a seed: customers act at random, and messages and answers fail at
    /// random. Every few weeks there is a quiet point. All faults have ended then, and the system
    /// under test has caught up. Its answer must be the store's own truth.
    ///
    /// - Parameters:
    ///   - seed: Determines the whole story.
    ///   - kind: The stores that it uses.
    /// - Returns: the same story for the same seed and kind.
    public static func generated(seed: UInt64, of kind: StoryKind) -> Scenario {
        var storyGenerator = StoryGenerator(seed: seed, kind)
        return storyGenerator.story()
    }

    /// Returns the same story without some of its steps.
    public func without(_ lines: Set<Int>) -> Scenario {
        var story = self
        story.steps.removeAll { lines.contains($0.line) }
        return story
    }
}

/// The stores of a generated story.
public enum StoryKind: String, CaseIterable, Hashable, Sendable {
    case appStore
    case googlePlay
    /// One customer buys in both, and is entitled if either store reports it.
    case mixed
}
