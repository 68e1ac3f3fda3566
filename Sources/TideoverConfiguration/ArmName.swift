/// Names an arm of an experiment of an app.
package struct ArmName: Hashable, Sendable, Comparable {
    package let experiment: String
    package let arm: String

    package init(experiment: String, arm: String) {
        self.experiment = experiment
        self.arm = arm
    }

    package static func < (first: ArmName, second: ArmName) -> Bool {
        (first.experiment, first.arm) < (second.experiment, second.arm)
    }
}
