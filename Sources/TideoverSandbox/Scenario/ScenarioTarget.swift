public import TideoverHTTP

/// The system under test, as a scenario meets it.
public struct ScenarioTarget: Sendable {
    /// Takes what the store sends.
    public var deliver: Handler
    /// Answers questions about customers.
    public var readBack: Handler
    /// Sets the clock of the system under test, in milliseconds since 1970; called before each request. At
    /// a pace it is told what its own clock showed when the thing happened.
    public var setClock: @Sendable (Int64) async -> Void
    /// How long things take, for a system that goes by a clock of its own; nil for no time at all.
    public var pace: ScenarioPace?
    /// Told of the store's Server API before a scenario begins, for a system that asks the store.
    public var meetStore: @Sendable (_ serverAPI: @escaping Handler) async -> Void = { _ in }
    /// How Google meets the system under test, in scenarios of Google Play.
    public var googlePlay = ScenarioPlayTarget()
    /// How RevenueCat meets it, in scenarios that have one.
    public var revenueCat = ScenarioRelayTarget()
    /// Has the system under test ask the store for what it missed, if it does such a thing; returns when it
    /// wants to go on with that, where the store wanted to be left alone, in milliseconds since 1970.
    public var catchUp: @Sendable () async -> Int64? = { nil }
    /// Has the system under test do what it does by itself, where a scenario is to see that; returns when
    /// it wants to do something next, in milliseconds since 1970, nil for never.
    public var keepUp: (@Sendable () async -> Int64?)?
    /// The keys with which the system under test may ask the store.
    public var storeKeys: [AppStoreAPIKey] = []
    /// Where notifications are posted; `{app}` stands for the app's id.
    public var deliverPath: String
    /// Where answers are read; `{customer}` stands for the customer's `appAccountToken`, or without one
    /// for the name.
    public var readPath: String
    /// Where a device reconciles; the same names stand in braces.
    public var reconcilePath = "/v1/apps/{app}/customers/{customer}/reconcile?environment=simulated"
    /// Where an app reports that it showed a prompt.
    public var promptsPath = "/v1/apps/{app}/customers/{customer}/prompts?environment=simulated"
    /// Where what happened is told; nil for a system that tells nothing. The answer's `events` have a `kind`
    /// and a `customer` each.
    public var eventsPath: String? = "/v1/apps/{app}/events?limit=1000"
    /// The environment in which a device of the system under test looks.
    public var environment = "simulated"
    /// Sent with each question, such as `Authorization`.
    public var readHeaders: Headers
    /// Whether its answers say of each entitlement only whether there is access: of what a step requires
    /// nothing else is judged then, and of a state what it means for access.
    public var tellsAccessAlone = false

    /// A system with the paths that Tideover itself has.
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
        var headers = readHeaders
        headers["Content-Type"] = "application/json"
        headers["Content-Length"] = String(body.count)
        let id = customer.appAccountToken ?? customer.name
        return Self.request(
            "POST",
            reconcilePath,
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

    /// The values fill the template's path percent-encoded, and its query as they are.
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

/// Puts values in the place of their names in braces.
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

/// RFC 3986: everything but unreserved characters.
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
