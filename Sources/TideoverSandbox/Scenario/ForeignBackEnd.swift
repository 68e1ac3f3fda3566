public import TideoverHTTP
import TideoverJSON
import TideoverLocks

/// A back end that is not Tideover, as a rehearsal speaks to it: where it takes notifications in, where it
/// can be asked, and where in its answer it says whether there is access.
///
/// It has no clock to be set. Every request bears the store's time in the header `Tideover-Clock`, as
/// RFC 3339, so that a back end can be built for rehearsals that takes it for its own.
public struct ForeignBackEnd: Sendable {
    /// The header with the store's time.
    public static let clockHeader = "Tideover-Clock"

    /// Takes requests, whose paths are those below.
    public var handler: Handler
    /// Where the App Store's notifications are posted; `{app}` stands for the app's id.
    public var deliverPath: String
    /// How Google meets it: where Pub/Sub pushes, and as whom.
    public var googlePlay = ScenarioPlayTarget()
    /// Where answers are read; `{app}` and `{customer}` stand for ids, the latter for the customer's
    /// `appAccountToken` (in Google Play the `obfuscatedAccountId`), or without one for the name.
    public var readPath: String
    /// Sent with each question, such as `Authorization`.
    public var readHeaders: Headers = [:]
    /// Where in the answer a bool says whether there is access; nil for one that answers as Tideover does.
    public var access: AccessPlace?
    /// Called when time has passed, before the next request: for a back end that looks at the clock now
    /// and then.
    public var rest: @Sendable () async -> Void = {}

    /// A back end with these paths.
    public init(handler: @escaping Handler, deliverPath: String, readPath: String) {
        self.handler = handler
        self.deliverPath = deliverPath
        self.readPath = readPath
    }

    /// The back end as the runner of scenarios takes one, for the entitlements of one scenario; `tellClock`
    /// is told of the store's time too, in milliseconds since 1970.
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
        return target
    }
}

/// Where in an answer a bool says whether a customer has access: keys and positions, with points between
/// them; `{entitlement}` stands for the entitlement's name.
public struct AccessPlace: Hashable, Sendable {
    /// The place as written, such as `premium` or `rights.{entitlement}.active`.
    public let text: String

    /// The place that a text names; nil where it names none.
    public init?(_ text: String) {
        guard !text.isEmpty,
            !text.split(separator: ".", omittingEmptySubsequences: false)
                .contains("")
        else { return nil }
        self.text = text
    }

    /// The answer in the form that scenarios are written for, with access alone in it. What is no bool is
    /// handed on as it is, so that the report shows it.
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
