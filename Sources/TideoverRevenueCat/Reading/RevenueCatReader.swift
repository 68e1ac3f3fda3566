public import TideoverCore
import TideoverJSON

/// Reads what RevenueCat sends, once it is known to come from there: ``WebhookCheck`` tells.
public struct RevenueCatReader: Hashable, Sendable {
    /// The environments that the app takes part in.
    public let environments: [Environment]

    public init(environments: [Environment]) {
        self.environments = environments
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
        return RevenueCatReading(event: event, environment: try environment(of: event))
    }

    /// Nil for what is said of customers and names no environment.
    private func environment(
        of event: RevenueCatEvent
    ) throws(RevenueCatRefusal) -> Environment? {
        guard let word = event.environment else {
            guard event.customerStatement != nil else {
                throw .missingMember("event.environment")
            }
            return nil
        }
        guard let known = word.known else { throw .unknownEnvironment(word.raw) }
        guard environments.contains(known.environment) else {
            throw .wrongEnvironment(accepted: environments, found: known.environment)
        }
        return known.environment
    }
}
