/// The operator's settings for Google Play purchases.
package struct PlayChoices: Hashable, Sendable {
    /// Whether the server acknowledges purchases at the store; if not, the app must.
    package var acknowledges: Bool
    /// When all active tokens, and the list of voided orders, are queried.
    package var backfill: BackfillSchedule

    /// Creates the settings; the defaults apply unless the operator changes them.
    package init(acknowledges: Bool = true, backfill: BackfillSchedule = BackfillSchedule()) {
        self.acknowledges = acknowledges
        self.backfill = backfill
    }
}
