/// The operator's settings for Google Play purchases.
public struct PlayChoices: Hashable, Sendable {
    /// Whether the server acknowledges purchases at the store; if not, the app must.
    public var acknowledges: Bool
    /// When all active tokens, and the list of voided orders, are queried.
    public var backfill: BackfillSchedule

    /// Creates the settings; the defaults apply unless the operator changes them.
    public init(acknowledges: Bool = true, backfill: BackfillSchedule = BackfillSchedule()) {
        self.acknowledges = acknowledges
        self.backfill = backfill
    }
}
