package import TideoverCore

/// When the stores are queried for missing notifications.
package struct BackfillSchedule: Hashable, Sendable {
    /// The time from the end of one run to the next. With zero, runs start only at startup, after a
    /// gap and on request.
    package var interval: Milliseconds
    /// The smallest jump of the clock that counts as a gap, such as after the machine slept; zero
    /// disables it.
    package var gap: Milliseconds
    /// The delay of a run after a gap, or after a notification that failed or could not be read.
    package var afterGap: Milliseconds

    /// Creates a schedule with defaults.
    package init(
        interval: Milliseconds = .hours(6),
        gap: Milliseconds = .minutes(15),
        afterGap: Milliseconds = .minutes(1)
    ) {
        self.interval = interval
        self.gap = gap
        self.afterGap = afterGap
    }
}
