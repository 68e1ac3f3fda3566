/// The form of a webhook's messages.
package enum WebhookFormat: String, Hashable, Sendable, CaseIterable {
    /// Standard Webhooks, with the events of the feed.
    case tideover
    /// The events and headers of RevenueCat's webhooks.
    case revenueCat = "revenuecat"
}
