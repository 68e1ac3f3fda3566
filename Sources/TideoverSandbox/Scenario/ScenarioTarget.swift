public import TideoverHTTP

/// The system under test, as a scenario accesses it.
public struct ScenarioTarget: Sendable {
    /// Receives the store's deliveries.
    public var deliver: Handler
    /// Answers requests about customers.
    public var readBack: Handler
    /// Sets the clock of the system under test, in milliseconds since 1970; called before each
    /// request. At a pace, it gets the time of the event on the system's own clock.
    public var setClock: @Sendable (Int64) async -> Void
    /// The durations, for a system that uses its own clock; nil if nothing takes time.
    public var pace: ScenarioPace?
    /// Receives the store's Server API before a scenario begins, for a system that calls the store.
    public var meetStore: @Sendable (_ serverAPI: @escaping Handler) async -> Void = { _ in }
    /// The configuration of Google's access to it, for scenarios with Google Play.
    public var googlePlay = ScenarioPlayTarget()
    /// The configuration of RevenueCat's access to it, for scenarios with RevenueCat.
    public var revenueCat = ScenarioRelayTarget()
    /// Makes the system under test request missed notifications, if it supports this. Returns when
    /// to continue, in milliseconds since 1970, if the store asked for a delay.
    public var catchUp: @Sendable () async -> Int64? = { nil }
    /// Makes the system under test run its background work, if a scenario covers it. Returns when
    /// its next work is due, in milliseconds since 1970, nil for never.
    public var keepUp: (@Sendable () async -> Int64?)?
    /// The keys with which the system under test may call the store.
    public var storeKeys: [AppStoreAPIKey] = []
    /// The path to which notifications are posted; `{app}` is replaced with the app's id.
    public var deliverPath: String
    /// The path of answers; `{customer}` is replaced with the customer's `appAccountToken`, or
    /// without one with the name.
    public var readPath: String
    /// The path at which a device reconciles, with the same placeholders.
    public var reconcilePath = "/v1/apps/{app}/customers/{customer}/reconcile?environment=simulated"
    /// The path at which an app reports that it showed a prompt.
    public var promptsPath = "/v1/apps/{app}/customers/{customer}/prompts?environment=simulated"
    /// The path at which an operator requests a change of a purchase.
    public var actionsPath = "/v1/apps/{app}/purchases/{purchase}/actions?environment=simulated"
    /// The path of the event feed; nil for a system without one. The answer's `events` have a
    /// `kind` and a `customer` each.
    public var eventsPath: String? = "/v1/apps/{app}/events?limit=1000"
    /// The environment that a device of the system under test uses.
    public var environment = "simulated"
    /// The headers of each request for an answer, such as `Authorization`.
    public var readHeaders: Headers
    /// Whether its answers report only access for each entitlement. If so, only access is checked,
    /// and a required state is reduced to access.
    public var tellsAccessAlone = false
    /// The entitlements that its answers are about, if they report only access; nil for all.
    /// Expectations of others are left out.
    package var answeredEntitlements: [String]?
    /// Ends a scenario after so many deliveries of one store if none was accepted; nil for never.
    /// Pub/Sub repeats each message for a week.
    package var refusalLimit: Int?

    /// Creates a system with Tideover's own paths.
    public init(
        deliver: @escaping Handler,
        readBack: @escaping Handler,
        setClock: @escaping @Sendable (Int64) async -> Void,
        deliverPath: String = "/v1/apps/{app}/notifications/app-store",
        readPath: String = "/v1/apps/{app}/customers/{customer}?environment=simulated",
        readHeaders: Headers = [:]
    ) {
        self.deliver = deliver
        self.readBack = readBack
        self.setClock = setClock
        self.deliverPath = deliverPath
        self.readPath = readPath
        self.readHeaders = readHeaders
    }

    func delivery(of body: [UInt8], app: String) -> Request {
        let length = String(body.count)
        return Self.request(
            "POST",
            deliverPath,
            ["app": app],
            headers: ["Content-Type": "application/json", "Content-Length": length],
            body: body
        )
    }

    func reconciliation(of body: [UInt8], by customer: StoreCustomer, app: String) -> Request {
        report(body, of: customer, to: reconcilePath, app: app)
    }

    /// Returns a request by which the customer's app sends a body to a path of the customer.
    func report(
        _ body: [UInt8],
        of customer: StoreCustomer,
        to path: String,
        app: String
    ) -> Request {
        var headers = readHeaders
        headers["Content-Type"] = "application/json"
        headers["Content-Length"] = String(body.count)
        let id = customer.appAccountToken ?? customer.name
        return Self.request(
            "POST",
            path,
            ["app": app, "customer": id],
            headers: headers,
            body: body
        )
    }

    func question(about customer: StoreCustomer, app: String) -> Request {
        let id = customer.appAccountToken ?? customer.name
        var headers = readHeaders
        if headers["Accept"] == nil { headers["Accept"] = "application/json" }
        return Self.request(
            "GET",
            readPath,
            ["app": app, "customer": id],
            headers: headers,
            body: []
        )
    }

    func events(of app: String) -> Request? {
        eventsPath.map { path in
            Self.request("GET", path, ["app": app], headers: readHeaders, body: [])
        }
    }

    /// Fills the values into the template: percent-encoded in its path, unchanged in its query.
    static func request(
        _ method: String,
        _ template: String,
        _ values: KeyValuePairs<String, String>,
        headers: Headers,
        body: [UInt8]
    ) -> Request {
        let parts = template.split(separator: "?", maxSplits: 1).map(String.init)
        let path = fill(parts.first ?? "/", values, percentEncoded)
        let query = (parts.dropFirst().first ?? "").split(separator: "&").map { item in
            let pair = item.split(separator: "=", maxSplits: 1).map(String.init)
            let value = pair.dropFirst().first ?? ""
            return QueryItem(name: pair.first ?? "", value: fill(value, values) { $0 })
        }
        return Request(method: method, path: path, query: query, headers: headers, body: body)
    }
}

/// Replaces the names in braces with values.
func fill(
    _ template: String,
    _ values: KeyValuePairs<String, String>,
    _ encode: (String) -> String
) -> String {
    var text = ""
    var rest = template[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
        let name = rest[rest.index(after: open)..<close]
        text += rest[..<open]
        text +=
            values.first { $0.key == name }.map { encode($0.value) } ?? String(rest[open...close])
        rest = rest[rest.index(after: close)...]
    }
    return text + rest
}

/// Encodes everything but unreserved characters (RFC 3986).
private func percentEncoded(_ text: String) -> String {
    text.utf8.map { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
            return String(UnicodeScalar(byte))
        default:
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "%0\(digits)" : "%\(digits)"
        }
    }.joined()
}
