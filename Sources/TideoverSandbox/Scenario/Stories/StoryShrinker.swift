extension Scenario {
    /// Reduces the story to as few steps as possible that still fail. Keeps all steps that end
    /// faults or recover from them.
    ///
    /// - Parameter fails: Plays a story, and returns whether it fails.
    /// - Returns: the shorter story, or this one if no step can be omitted.
    public func shrunk(
        while fails: (Scenario) async throws -> Bool
    ) async rethrows -> Scenario {
        var story = self
        var length = max(1, story.steps.count / 2)
        while true {
            var index = 0
            while index < story.steps.count {
                let lines = story.steps.dropFirst(index).prefix(length)
                    .filter { !$0.heals }.map(\.line)
                let shorter = story.without(Set(lines))
                if shorter.steps.count < story.steps.count, try await fails(shorter) {
                    story = shorter
                    index += lines.count < length ? length - lines.count : 0
                } else {
                    index += length
                }
            }
            if length == 1 { return story }
            length = max(1, length / 2)
        }
    }
}

extension ScenarioStep {
    /// Whether a correct system could fail the story without this step.
    fileprivate var heals: Bool {
        switch action {
        case .openApp, .catchUp, .endDisturbances: true
        case .googlePlay(let action): action.deed == .endDisturbances
        default: false
        }
    }
}
