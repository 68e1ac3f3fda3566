extension Scenario {
    /// A story that follows from a number alone: customers of a store act at random, messages and answers go
    /// wrong at random, and every few weeks it is quiet. Nothing goes wrong then, the system under test has
    /// caught up, and its answer must be the store's own truth.
    ///
    /// - Parameters:
    ///   - seed: What the whole story follows from.
    ///   - kind: Where it takes place.
    /// - Returns: the same story for the same seed and kind.
    public static func generated(seed: UInt64, of kind: StoryKind) -> Scenario {
        var storyteller = Storyteller(seed: seed, kind)
        return storyteller.story()
    }

    /// The same story without some of its steps.
    public func without(_ lines: Set<Int>) -> Scenario {
        var story = self
        story.steps.removeAll { lines.contains($0.line) }
        return story
    }
}

/// Where a story made up from a seed takes place.
public enum StoryKind: String, CaseIterable, Hashable, Sendable {
    case appStore
    case googlePlay
    /// One customer buys in both, and is entitled if either store says so.
    case mixed
}
