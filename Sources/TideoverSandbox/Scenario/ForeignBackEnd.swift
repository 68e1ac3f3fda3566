public import TideoverHTTP
import TideoverJSON
import TideoverLocks

/// A back end other than Tideover, as a rehearsal accesses it: its notification path, its read
/// path, and the field of its answer that reports access.
///
/// Its clock cannot be set. Every request has the store's time in the header `Tideover-Clock`, as
/// RFC 3339. A back end can use it as its own clock in rehearsals.
public struct ForeignBackEnd: Sendable {
    /// The header with the store's time.
    public static let clockHeader = "Tideover-Clock"

    /// Handles requests to the paths below.
    public var handler: Handler
    /// The path to which the App Store's notifications are posted; `{app}` is replaced with the
    /// app's id.
    public var deliverPath: String
    /// The configuration of Google's access to it: the path and the account of Pub/Sub's pushes.
    public var googlePlay = ScenarioPlayTarget()
    /// The path of answers; `{app}` and `{customer}` are replaced with ids. The latter is the
    /// customer's `appAccountToken` (in Google Play the `obfuscatedAccountId`), or without one the
    /// name.
    public var readPath: String
    /// The headers of each request for an answer, such as `Authorization`.
    public var readHeaders: Headers = [:]
    /// The field of the answer with a bool for access; nil for answers in Tideover's format.
    public var access: AccessPlace?
    /// Called after time has passed, before the next request, for a back end that polls the clock.
    public var rest: @Sendable () async -> Void = {}

    /// Creates a back end with these paths.
    public init(handler: @escaping Handler, deliverPath: String, readPath: String) {
        self.handler = handler
        self.deliverPath = deliverPath
        self.readPath = readPath
    }

    /// Converts the back end to a target for the scenario runner, with the entitlements of one
    /// scenario. `tellClock` also gets the store's time, in milliseconds since 1970.
    public func target(
        for scenario: Scenario,
        tellClock: @escaping @Sendable (Int64) -> Void = { _ in }
    ) -> ScenarioTarget {
        let now = Locked(scenario.start)
        let (handler, access, rest) = (handler, access, rest)
        let entitlements = scenario.entitlements
        let timed: Handler = { request in
            var request = request
            request.headers[Self.clockHeader] = InstantText.write(now.withLock { $0 })
            return try await handler(request)
        }
        var target = ScenarioTarget(
            deliver: timed,
            readBack: { request in
                let answer = try await timed(request)
                guard let access, answer.status == 200 else { return answer }
                return try access.read(answer, of: entitlements)
            },
            setClock: { instant in
                let isLater = now.withLock { now in
                    defer { now = instant }
                    return instant != now
                }
                tellClock(instant)
                if isLater { await rest() }
            },
            deliverPath: deliverPath,
            readPath: readPath,
            readHeaders: readHeaders
        )
        target.googlePlay = googlePlay
        target.tellsAccessAlone = access != nil
        target.answeredEntitlements = access?.entitlement(among: entitlements).map { [$0] }
        return target
    }
}

/// The field of an answer with a bool for access: keys and positions, joined by points.
/// `{entitlement}` is replaced with the entitlement's name.
public struct AccessPlace: Hashable, Sendable {
    /// The field as written, such as `premium` or `rights.{entitlement}.active`.
    public let text: String

    /// Creates the field that a text names; nil for an invalid text.
    public init?(_ text: String) {
        guard !text.isEmpty,
            !text.split(separator: ".", omittingEmptySubsequences: false)
                .contains("")
        else { return nil }
        self.text = text
    }

    /// Returns the only entitlement that the field is about: one that it names; nil if it is about
    /// every entitlement, or names none.
    func entitlement(among entitlements: [String]) -> String? {
        let steps = text.split(separator: ".").map(String.init)
        return steps.contains("{entitlement}") ? nil : entitlements.first(where: steps.contains)
    }

    /// Converts the answer to the scenario format, with access alone. A value other than a bool is
    /// passed on unchanged, so that the report shows it.
    func read(_ answer: Response, of entitlements: [String]) throws(JSONError) -> Response {
        let document = JSONValue(try JSONDocument(answer.body, limits: .local).root)
        var told = JSONObject()
        for entitlement in entitlements {
            if let value = value(in: document, entitlement) {
                told[entitlement] = .object(["access": value])
            }
        }
        let body: JSONValue = ["entitlements": .object(told)]
        return Response(status: 200, headers: answer.headers, body: body.encoded())
    }

    private func value(in document: JSONValue, _ entitlement: String) -> JSONValue? {
        var value: JSONValue? = document
        for step in text.split(separator: ".") {
            let key = step == "{entitlement}" ? entitlement : String(step)
            value = value?[key] ?? Int(key).flatMap { value?[$0] }
        }
        return value
    }
}
