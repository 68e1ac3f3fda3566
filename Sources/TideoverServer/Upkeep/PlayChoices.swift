/// The operator's choices about the upkeep of purchases on Google Play.
public struct PlayChoices: Hashable, Sendable {
    /// Whether the server tells the store that a purchase was granted; if not, the app has to.
    public var acknowledges: Bool
    /// When all tokens that live, and the list of voided orders, are asked for.
    public var backfill: BackfillSchedule

    /// What is done unless the operator says otherwise.
    public init(acknowledges: Bool = true, backfill: BackfillSchedule = BackfillSchedule()) {
        self.acknowledges = acknowledges
        self.backfill = backfill
    }
}
