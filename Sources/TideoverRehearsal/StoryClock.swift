package import TideoverCore
import TideoverLocks

/// The shared clock of a story: the stores' own, which the server follows.
package final class StoryClock: Sendable {
    private let instant = Locked(Instant(millisecondsSince1970: 0))

    package init() {}

    /// The current instant; it changes only when set.
    package var now: Instant {
        get { instant.withLock { $0 } }
        set { instant.withLock { $0 = newValue } }
    }
}
