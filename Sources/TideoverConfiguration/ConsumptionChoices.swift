package import TideoverAppStore

/// The automatic answers to the App Store's requests for consumption information.
package struct ConsumptionChoices: Hashable, Sendable {
    /// Whether the operator declares that every customer consented to sending this to Apple.
    package let customersConsent: Bool
    /// Whether customers can try the content before they buy it.
    package let sampleContentProvided: Bool
    /// The preferred refund decision; nil for none.
    package let refundPreference: ConsumptionInformation.RefundPreference?

    /// Creates the settings; by default nothing is answered.
    package init(
        customersConsent: Bool = false,
        sampleContentProvided: Bool = false,
        refundPreference: ConsumptionInformation.RefundPreference? = nil
    ) {
        self.customersConsent = customersConsent
        self.sampleContentProvided = sampleContentProvided
        self.refundPreference = refundPreference
    }
}
