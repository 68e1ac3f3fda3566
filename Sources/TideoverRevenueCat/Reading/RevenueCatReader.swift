public import TideoverCore
import TideoverJSON

/// Reads what RevenueCat sends, once it is known to come from there: ``WebhookCheck`` tells.
public struct RevenueCatReader: Hashable, Sendable {
    /// The environments that the app takes part in. Where that is the simulated one alone whatever is said
    /// belongs there: a simulated RevenueCat relays what simulated stores say.
    public let environments: [Environment]
    /// Says what a purchase is that RevenueCat only calls non-renewing.
    public let catalogue: Catalogue

    public init(environments: [Environment], catalogue: Catalogue) {
        self.environments = environments
        self.catalogue = catalogue
    }

    /// Reads the body of a webhook, `{"api_version": "1.0", "event": {...}}`.
    public func event(body: [UInt8]) throws(RevenueCatRefusal) -> RevenueCatReading {
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
        // Members are added within a version; another one may mean something else by the same name.
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

    /// What an answer of the API states of a customer; without one, of whom the answer names.
    public func reading(
        of subscriber: RevenueCatSubscriber,
        customer: CustomerID? = nil
    ) -> RevenueCatSubscriberReading {
        let customer = customer ?? CustomerID(subscriber.originalAppUserId)
        return RevenueCatSubscriberReading(
            subscriber: subscriber,
            customer: customer,
            relayed: subscriber.relayed(to: customer, in: environments, catalogue: catalogue)
        )
    }

    /// Reads a line of an import: an answer of the API, beside which `app_user_id` may say by which id the
    /// customer was asked about.
    public func answer(
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

    /// The environment that the event is stored in. Nil for a transfer that names none: it concerns
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
            throw .wrongEnvironment(accepted: environments, found: environment)
        }
        return environment
    }
}

extension [Environment] {
    /// Where what RevenueCat says of an environment belongs in an app that takes part in these.
    func place(of stated: Environment) -> Environment {
        self == [.simulated] ? .simulated : stated
    }

    /// The environment of an event that names none: production if the app takes part in it.
    fileprivate var assumed: Environment? { first { $0 == .production } ?? first }
}
