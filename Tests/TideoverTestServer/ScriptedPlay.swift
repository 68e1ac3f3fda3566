import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverServer
import TideoverSignatures
import TideoverStorage

/// A scripted Google Play: its response about each purchase token at each instant, and all requests
/// it received.
final class ScriptedPlay: Sendable {
    /// Returns the response at an instant.
    typealias Script = @Sendable (Instant) -> Response

    struct Call: Equatable {
        let at: Instant
        let method: String
        /// The path after the app's root, without `purchases/`.
        let path: String
    }

    private struct State {
        var scripts: [String: Script] = [:]
        var voided: [JSONValue] = []
        var pagesOfVoided = 1
        var acknowledge: Script = { _ in Response(body: Array("{}".utf8)) }
        var outage: Script?
        var listOutage: Script?
        var date: String?
        var calls: [Call] = []
    }

    private static let key = RSAPrivateKey.generate()
    private let state = Locked(State())
    let time: TestTime

    init(_ time: TestTime) {
        self.time = time
    }

    var calls: [Call] { state.withLock { $0.calls } }

    /// Returns when the store was queried about a token.
    func questions(_ token: String) -> [Instant] {
        calls.filter { $0.method == "GET" && $0.path.hasSuffix("/tokens/\(token)") }.map(\.at)
    }

    // MARK: The script

    /// Sets the response about a subscription or a one-time purchase; nil is 404.
    /// Sets the response about a token, or that of one path.
    func play(_ token: String, _ script: @escaping @Sendable (Instant) -> JSONObject?) {
        state.withLock {
            $0.scripts[token] = { now in
                script(now).map { Response(body: JSONValue.object($0).encoded()) }
                    ?? Response(status: 404)
            }
        }
    }

    func play(_ token: String, status: Int) {
        state.withLock { $0.scripts[token] = { _ in Response(status: status) } }
    }

    /// Sets the list of voided orders, on the last of some pages; the others are empty.
    func void(_ orders: [JSONValue], pages: Int = 1) {
        state.withLock { ($0.voided, $0.pagesOfVoided) = (orders, pages) }
    }

    func acknowledge(_ script: @escaping Script) { state.withLock { $0.acknowledge = script } }

    /// Sets the response to all requests from now on; nil removes it.
    func fail(_ script: Script?) { state.withLock { $0.outage = script } }

    /// Sets the response for the list of voided orders from now on; nil removes it.
    func failList(_ script: Script?) { state.withLock { $0.listOutage = script } }

    /// Sets the date of all responses from now on, in the format of HTTP.
    func date(_ text: String) { state.withLock { $0.date = text } }

    // MARK: Responses

    var trust: PlayTrust {
        let time = time
        let now: @Sendable () -> Instant = { time.clock.now }
        let access = PlayAccess(
            account: ServiceAccount(clientEmail: "robot@p.example", privateKeyId: "1"),
            signer: { Self.key.sign($0, .sha256) },
            clock: now,
            handler: { _ in
                let token = #"{"access_token":"a","expires_in":3600,"token_type":"Bearer"}"#
                return Response(body: Array(token.utf8))
            }
        )
        return PlayTrust(
            identity: PlayIdentity(
                packageName: "com.example.cards",
                environments: [.production, .sandbox]
            ),
            expectation: PushExpectation(audience: TestPlay.audience, email: TestPlay.email),
            keys: PushKeys(clock: now, handler: { _ in try TestPlay.publishedKeys() }),
            api: PlayAPI(
                packageName: "com.example.cards",
                access: access,
                clock: now,
                handler: { try await self.respond(to: $0) }
            )
        )
    }

    private func respond(to request: Request) async throws -> Response {
        var response = answer(request)
        if let date = state.withLock({ $0.date }) { response.headers["Date"] = date }
        return response
    }

    private func answer(_ request: Request) -> Response {
        let path = request.path.replacing(
            "/androidpublisher/v3/applications/com.example.cards/purchases/",
            with: ""
        )
        let now = time.clock.now
        let (state, outage) = state.withLock { state in
            state.calls.append(Call(at: now, method: request.method, path: path))
            return (state, state.outage)
        }
        if let outage { return outage(now) }
        if path == "voidedpurchases" {
            if let listOutage = state.listOutage { return listOutage(now) }
            return Self.page(of: state, request)
        }
        if path.hasSuffix(":acknowledge") { return state.acknowledge(now) }
        let token = path.split(separator: "/").last.map(String.init) ?? ""
        let script = state.scripts[path] ?? state.scripts[token]
        return script.map { $0(now) } ?? Response(status: 404)
    }

    private static func page(of state: State, _ request: Request) -> Response {
        let number = request.query.first { $0.name == "token" }.flatMap { Int($0.value) } ?? 1
        guard number == state.pagesOfVoided else {
            let next: JSONValue = ["tokenPagination": ["nextPageToken": .string("\(number + 1)")]]
            return Response(body: next.encoded())
        }
        let last = JSONValue.object(["voidedPurchases": .array(state.voided)])
        return Response(body: last.encoded())
    }
}

extension ScriptedPlay {
    /// Returns a normal customer's subscription, with changes.
    static func subscription(
        _ state: String,
        until end: Instant,
        customer: String = TestServer.anna,
        isOn: Bool = true,
        _ changes: JSONObject = [:]
    ) -> JSONObject {
        var purchase: JSONObject = [
            "startTime": "2026-05-01T10:00:00Z", "regionCode": "DE",
            "subscriptionState": .string("SUBSCRIPTION_STATE_\(state)"),
            "acknowledgementState": "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
            "externalAccountIdentifiers": [
                "obfuscatedExternalAccountId": .string(customer)
            ],
            "lineItems": [item("cards.pro.monthly", until: end, isOn: isOn)],
        ]
        for (name, value) in changes { purchase[name] = value }
        return purchase
    }

    static func item(
        _ product: String,
        until end: Instant,
        isOn: Bool = true,
        order: String = "GPA.1"
    ) -> JSONValue {
        [
            "productId": .string(product), "expiryTime": .string(end.rfc3339),
            "latestSuccessfulOrderId": .string(order),
            "autoRenewingPlan": ["autoRenewEnabled": .bool(isOn)],
        ]
    }

    static func lifetime(_ state: String, _ changes: JSONObject = [:]) -> JSONObject {
        var purchase: JSONObject = [
            "orderId": "GPA.9", "purchaseStateContext": ["purchaseState": .string(state)],
            "purchaseCompletionTime": "2026-05-01T10:00:00Z",
            "acknowledgementState": "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
            "obfuscatedExternalAccountId": .string(TestServer.anna),
            "productLineItem": [["productId": "cards.lifetime", "productOfferDetails": [:]]],
        ]
        for (name, value) in changes { purchase[name] = value }
        return purchase
    }

    static func voided(_ token: String, order: String, at instant: Instant) -> JSONValue {
        [
            "purchaseToken": .string(token), "orderId": .string(order),
            "purchaseTimeMillis": .string("\((instant - .days(3)).millisecondsSince1970)"),
            "voidedTimeMillis": .string("\(instant.millisecondsSince1970)"),
            "voidedSource": 2, "voidedReason": 1,
        ]
    }
}

/// The server beside that store, with a test clock; only pushed notifications arrive.
final class PlayBackEnd: Sendable {
    static let start: Instant = "2026-05-01T10:00:05Z"
    static let catalogue = Catalogue(products: [
        "cards.pro.monthly": Product(
            entitlements: ["premium"],
            group: "pro",
            period: Period(months: 1),
            grace: Period(days: 16)
        ),
        "cards.extra": Product(entitlements: ["extra"], period: Period(months: 1)),
        "cards.lifetime": Product(entitlements: ["premium"], kind: .nonConsumable),
    ])

    let google: ScriptedPlay
    let service: Service
    let storage: SQLiteStorage
    let folder: URL
    private let log = LineBox()

    var time: TestTime { google.time }
    var logged: [String] { log.lines }

    init(
        _ google: ScriptedPlay,
        folder: URL? = nil,
        choices: PlayChoices = PlayChoices(),
        faults: SQLiteFaults = SQLiteFaults()
    ) throws {
        let folder =
            folder
            ?? FileManager.default.temporaryDirectory.appending(
                path: "tideover-upkeep-\(UUID().uuidString)"
            )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let storage = try SQLiteStorage(
            path: folder.appending(path: "tideover.db").path,
            options: SQLiteOptions(),
            faults: faults
        )
        let (time, log) = (google.time, log)
        self.google = google
        self.folder = folder
        self.storage = storage
        service = try Service(
            apps: [
                App(
                    id: "cards",
                    environments: [.production, .sandbox],
                    catalogue: Self.catalogue,
                    policy: Policy(),
                    appStore: nil,
                    googlePlay: google.trust,
                    playChoices: choices
                )
            ],
            storage: storage,
            version: "test",
            clock: { time.clock.now },
            log: { log.append(String(decoding: $0.json(at: time.clock.now), as: UTF8.self)) },
            adminKey: TestServer.adminKey,
            probes: Probes(uptime: { time.uptime }),
            sleep: time.sleep
        )
    }

    /// Returns the same server after it was killed.
    func killed() async throws -> PlayBackEnd {
        await storage.close()
        return try PlayBackEnd(google, folder: folder)
    }

    func close() async {
        await storage.close()
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: Time

    /// Pushes a notification of a type about a token, and returns the status of the response.
    @discardableResult
    func push(_ type: Int64, _ token: String) async throws -> Int {
        let id = "\(type):\(token):\(time.clock.now.millisecondsSince1970)"
        let request = try TestPlay.push(
            TestPlay.notice(type, token),
            messageId: id,
            at: time.clock.now
        )
        return try await service.handler(request).status
    }

    /// Pushes a notification of a bought lifetime product.
    func buyLifetime(_ token: String) async throws {
        let notice: JSONObject = [
            "oneTimeProductNotification": [
                "version": "1.0", "notificationType": 1, "purchaseToken": .string(token),
                "sku": "cards.lifetime",
            ]
        ]
        let request = try TestPlay.push(notice, messageId: token, at: time.clock.now)
        guard try await service.handler(request).status == 200 else {
            preconditionFailure("the push of \(token) was not accepted")
        }
    }

    /// Processes all due work until an instant, at its due times; `each` is called after each step.
    func live(
        until end: Instant,
        each: (Instant) async throws -> Void = { _ in }
    ) async throws {
        _ = await service.keepUpNow()
        try await each(time.clock.now)
        while let next = service.nextUpkeep, next <= end {
            time.clock.now = max(next, time.clock.now + .seconds(1))
            guard await service.keepUpNow() else { return }
            try await each(time.clock.now)
        }
        time.clock.now = max(end, time.clock.now)
        _ = await service.keepUpNow()
        try await each(time.clock.now)
    }

    func backfill(_ environment: Environment = .production) async throws -> JSONValue? {
        let answer = await service.backfillNow(app: "cards", environment: environment)
        return JSONValue(try JSONDocument(answer.body).root)["googlePlay"]
    }

    /// Creates a back end that received one notification of a purchase that the script then plays.
    static func told(
        _ script: @escaping @Sendable (Instant) -> JSONObject?
    ) async throws -> PlayBackEnd {
        let google = ScriptedPlay(TestTime(at: start, movesClock: true))
        google.play("token-1", script)
        let backEnd = try PlayBackEnd(google)
        #expect(try await backEnd.push(4, "token-1") == 200)
        return backEnd
    }

    // MARK: Requests

    func answer(
        _ customer: String = TestServer.anna,
        _ environment: String = "production"
    ) async throws -> JSONValue {
        let target = "/v1/apps/cards/customers/\(customer)?environment=\(environment)"
        return try await get(target)
    }

    func get(_ target: String) async throws -> JSONValue { try await service.get(target) }

    /// Returns `state reason confidence access` of an entitlement.
    func words(
        _ entitlement: String = "premium",
        _ environment: String = "production"
    ) async throws -> String {
        let told = try await answer(TestServer.anna, environment)["entitlements"]?[entitlement]
        let words = ["state", "reason", "confidence"].compactMap { told?[$0]?.string }
        let access = told?["access"]?.bool.map { $0 ? "access" : "none" }
        return (words + [access]).compactMap(\.self).joined(separator: " ")
    }

    func hasAccess(_ entitlement: String = "premium") async throws -> Bool {
        try await words(entitlement).hasSuffix(" access")
    }

    func facts(_ environment: Environment = .production) throws -> [Fact] {
        try storage.lineages(in: AppScope("cards", environment), after: nil, limit: 100)
            .flatMap(\.facts)
    }

    func samples() async throws -> [String] {
        let body = try await service.handler(Request(path: "/metrics")).body
        return String(decoding: body, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
