package import TideoverCore
import TideoverJSON

/// Reads RevenueCat events and responses. ``WebhookCheck`` must authenticate events first.
package struct RevenueCatReader: Hashable, Sendable {
    /// The environments that the app accepts. If the only one is `simulated`, all content belongs
    /// there: a simulated RevenueCat relays simulated stores.
    package let environments: [Environment]
    /// The catalogue; it gives the kind of a product that RevenueCat only calls non-renewing.
    package let catalogue: Catalogue

    package init(environments: [Environment], catalogue: Catalogue) {
        self.environments = environments
        self.catalogue = catalogue
    }

    /// Reads the body of a webhook, `{"api_version": "1.0", "event": {...}}`.
    package func event(body: [UInt8]) throws(RevenueCatRefusal) -> RevenueCatReading {
        let document: JSONDocument
        do {
            document = try JSONDocument(body)
        } catch {
            throw .malformedJSON(error)
        }
        let fields = try RevenueCatFields(document.root)
        guard let version = try fields.string("api_version") else {
            throw .missingMember("api_version")
        }
        // New members may appear within a version. In another version, the same name may have
        // another meaning.
        guard version.split(separator: ".").first == "1" else { throw .unknownVersion(version) }
        guard let content = try fields.fields("event") else { throw .missingMember("event") }
        let event = try RevenueCatEvent(content)
        let environment = try environment(of: event)
        let relayed = environment.map { environment in
            event.isPlaced
                ? event.relayed(in: environment, catalogue: catalogue) : event.unplaced
        }
        return RevenueCatReading(
            event: event,
            environment: environment,
            relayed: relayed ?? RelayedStatements()
        )
    }

    /// Reads the facts about a customer in an API response. The default customer is the one that
    /// the response names.
    package func reading(
        of subscriber: RevenueCatSubscriber,
        customer: CustomerID? = nil
    ) -> RevenueCatSubscriberReading {
        let named = customer ?? CustomerID(subscriber.originalAppUserId)
        let customer = named.flatMap { $0.text.isStorableName ? $0 : nil }
        return RevenueCatSubscriberReading(
            subscriber: subscriber,
            customer: customer,
            relayed: subscriber.relayed(to: customer, in: environments, catalogue: catalogue)
        )
    }

    /// Reads a line of an import: an API response, with the requested customer ID in `app_user_id`,
    /// if known.
    package func answer(
        line: [UInt8]
    ) throws(RevenueCatRefusal) -> RevenueCatSubscriberReading {
        let document: JSONDocument
        do {
            document = try JSONDocument(line, limits: .storeAnswer)
        } catch {
            throw .malformedJSON(error)
        }
        let asked = try RevenueCatFields(document.root).string("app_user_id")
        let subscriber = try RevenueCatSubscriber(document)
        return reading(of: subscriber, customer: asked.flatMap { CustomerID($0) })
    }

    /// Returns the environment to store the event in. Nil for a transfer without one: it applies to
    /// the customers in every environment.
    private func environment(
        of event: RevenueCatEvent
    ) throws(RevenueCatRefusal) -> Environment? {
        guard let known = event.environment?.known else {
            let isTransfer = event.type.known == .transfer && event.environment == nil
            return isTransfer ? nil : environments.assumed
        }
        let environment = environments.place(of: known.environment)
        guard environments.contains(environment) else {
            // A test is about no purchase. The dashboard sends it for either environment.
            if event.type.known == .test { return environments.assumed }
            throw .wrongEnvironment(accepted: environments, found: environment)
        }
        return environment
    }
}

extension [Environment] {
    /// Returns the environment for RevenueCat's stated environment, in an app that accepts this
    /// list.
    func place(of stated: Environment) -> Environment {
        self == [.simulated] ? .simulated : stated
    }

    /// The environment of an event without one: production if the app accepts it.
    fileprivate var assumed: Environment? { first { $0 == .production } ?? first }
}
