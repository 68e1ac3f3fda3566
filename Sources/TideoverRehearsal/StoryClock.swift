public import TideoverCore
import TideoverLocks

/// The one clock of a story: the stores' own, which the server follows.
public final class StoryClock: Sendable {
    private let instant = Locked(Instant(millisecondsSince1970: 0))

    /// Where it stands; it moves only when set.
    public var now: Instant {
        get { instant.withLock { $0 } }
        set { instant.withLock { $0 = newValue } }
    }
}
