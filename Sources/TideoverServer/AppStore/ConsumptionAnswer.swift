import TideoverAppStore
import TideoverConfiguration
import TideoverCore
import TideoverStorage

extension ConsumptionChoices {
    /// Returns the answer about a purchase that was delivered to a customer.
    func information(
        about transactionId: String,
        in lineageRecord: LineageRecord,
        at now: Instant
    ) -> ConsumptionInformation {
        ConsumptionInformation(
            customerConsented: customersConsent,
            sampleContentProvided: sampleContentProvided,
            deliveryStatus: .delivered,
            consumptionPercentage: lineageRecord.elapsedShare(of: transactionId, at: now),
            refundPreference: refundPreference
        )
    }
}

extension LineageRecord {
    /// Returns the elapsed share of a subscription's period, in parts of 100,000; nil for a
    /// purchase without an end.
    fileprivate func elapsedShare(of transactionId: String, at now: Instant) -> Int64? {
        let terms = facts.compactMap { fact -> Term? in
            guard case .term(let term) = fact.assertion, term.transactionId == transactionId else {
                return nil
            }
            return term
        }
        guard let term = terms.last, let end = term.end, end > term.start else { return nil }
        let length = (end - term.start).count
        let elapsed = min(max(0, (now - term.start).count), length)
        let (product, overflows) = elapsed.multipliedReportingOverflow(
            by: ConsumptionInformation.wholePercentage
        )
        return overflows ? nil : product / length
    }
}
