import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// The simulated Google Play with random activity.
struct LivedGooglePlay: LivedStore {
    private static let names = ["anna", "ben", "cara"]
    private static let push = PubSubPush(
        audience: "https://b.example/push",
        email: "pusher@p.example"
    )
    /// Shared, because creating its key is slow and no recorded value depends on the key.
    private static let authority = PlayAuthority(seed: 7)

    private(set) var store: SimulatedGooglePlay
    private var random: SeededRandom
    /// The newest access token.
    private var bearer = "none"
    /// The acknowledgement ids of pulled messages.
    private var held: [String] = []

    init(seed: UInt64) async throws {
        random = SeededRandom(seed: seed)
        var habits = PubSubDeliveryFaults()
        (habits.scatter, habits.redelivered, habits.republished) = (30_000, 10, 10)
        store = SimulatedGooglePlay(
            try .cards(),
            seed: seed,
            now: PlayClient.start,
            authority: Self.authority,
            push: Self.push,
            habits: habits,
            accounts: [try PlayClient.robot()],
            wait: { _ in }
        )
        for name in Self.names {
            try await store.register(
                GooglePlayCustomer(name: name, isLicenceTester: name == "cara")
            )
        }
        await store.add(PlayFaultRule(.unavailable(status: 503), times: nil, percent: 10))
        await store.add(PlayFaultRule(.stale(by: PlayClient.day / 2), times: nil, percent: 20))
    }

    var now: Int64 { get async { await store.now } }
    var saved: [UInt8] { get async { await store.saved() } }

    mutating func takeUpAgain() async throws {
        store = try SimulatedGooglePlay(
            resuming: await store.saved(),
            authority: Self.authority,
            push: Self.push,
            accounts: [try PlayClient.robot()],
            wait: { _ in }
        )
    }

    mutating func live() async throws -> [String] {
        switch random.number(in: 0...9) {
        case 0...2: return try await act()
        case 3...4: return try await write()
        case 5: return try await ask()
        case 6: return try await pull()
        default: return try await pass()
        }
    }

    private mutating func act() async throws -> [String] {
        let name = random.pick(Self.names)
        let actions: [GooglePlayAction] = [
            .subscribe(to: [.monthly], payment: .prompt, from: .app),
            .subscribe(to: [.pro("monthly", "launch")], payment: .prompt, from: .app),
            .subscribe(to: [.plus, .extra], payment: .delayed, from: .app),
            .subscribe(to: [.pro("nograce")], payment: .prompt, from: .playStore),
            .subscribe(to: [.pro("instalments")], payment: .prompt, from: .app),
            .replace(product: nil, with: .plus, mode: .withTimeProration),
            .replace(product: nil, with: .monthly, mode: .deferred),
            .buy(product: "cards.coins", quantity: 2, payment: .prompt),
            .completePayment(product: nil), .failPayments, .fixPayments, .fixPayments,
            .cancel(product: nil, survey: .init(reason: .costRelated)), .restart(product: nil),
            .changePrice(
                product: nil,
                to: StorePrice(milliunits: 12_000, currency: "USD"),
                .increase
            ),
            .acceptPrice(product: nil), .requestRefund(product: nil),
            .refund(product: nil, .remorse, quantity: nil, revokes: true),
        ]
        let action = random.pick(actions)
        do {
            let said = try await store.perform(action, by: name)
            return said.map { text($0.content) }
        } catch {
            return ["\(name) \(action): \(error.reason)"]
        }
    }

    /// Acknowledges all purchases as the developer, or performs another write to one purchase.
    private mutating func write() async throws -> [String] {
        let tokens = await store.tokens(of: random.pick(Self.names))
        guard !tokens.isEmpty else { return [] }
        let token = random.pick(tokens)
        let other = random.pick([
            GooglePlayWrite.deferRenewal(token: token, milliseconds: PlayClient.day, etag: nil),
            .revoke(token: token, .proratedRefund), .consume(token: token),
        ])
        let writes =
            random.number(in: 0...3) == 0 ? [other] : tokens.map { .acknowledge(token: $0) }
        var heard: [String] = []
        for write in writes {
            do {
                heard += try await store.write(write).map { text($0.content) }
            } catch {
                heard.append("\(error.reason)")
            }
        }
        return heard
    }

    // MARK: Reading

    private mutating func ask() async throws -> [String] {
        let tokens = await store.tokens(of: random.pick(Self.names))
        guard !tokens.isEmpty, random.number(in: 0...3) > 0 else {
            return try await signIn(random.pick([.androidPublisher, .pubSub]))
        }
        let token = random.pick(tokens)
        let app = "/androidpublisher/v3/applications/\(PlayClient.packageName)/purchases"
        let target = random.pick([
            "\(app)/subscriptionsv2/tokens/\(token)", "\(app)/productsv2/tokens/\(token)",
            "\(app)/voidedpurchases?type=1",
        ])
        return [try await call("GET", target).text]
    }

    private mutating func signIn(_ scope: PlayScope) async throws -> [String] {
        let answer = try await store.google(
            try await PlayClient(to: store).tokenRequest(scope)
        )
        guard answer.status == 200 else { return ["\(answer.status)"] }
        bearer = try JSONDocument(answer.body).root["access_token"]?.string ?? bearer
        return [bearer]
    }

    private mutating func pull() async throws -> [String] {
        let queue = "/v1/projects/tideover-rehearsal/subscriptions/pull"
        var heard = try await signIn(.pubSub)
        if !held.isEmpty, random.number(in: 0...1) == 0 {
            let ids = JSONValue.array(held.map(JSONValue.string))
            heard.append(try await call("POST", "\(queue):acknowledge", ["ackIds": ids]).text)
            held = []
            return heard
        }
        let (status, answer) = try await call("POST", "\(queue):pull", ["maxMessages": 3])
        heard.append("\(status) \(answer)")
        guard status == 200 else { return heard }
        let received = try JSONDocument(Array(answer.utf8)).root["receivedMessages"]
        held = received?.elements.compactMap { $0["ackId"]?.string } ?? []
        return heard
    }

    private func call(
        _ method: String,
        _ target: String,
        _ body: JSONValue? = nil
    ) async throws -> (status: Int, text: String) {
        let request = Request(
            method: method,
            target: target,
            headers: ["Authorization": "Bearer \(bearer)"],
            body: body?.encoded() ?? []
        )
        let answer = try await store.google(try #require(request))
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    // MARK: Time

    private mutating func pass() async throws -> [String] {
        let later = await store.now + random.number(in: 1...4 * PlayClient.day)
        let next = await store.nextEvent.map { min($0, later) } ?? later
        // Usually to the next event, sometimes past many.
        let instant = max(random.number(in: 0...2) == 0 ? later : next, await store.now)
        var heard: [String] = []
        while let attempt = try await store.advance(to: instant) {
            let body = String(decoding: attempt.body, as: UTF8.self)
            heard.append("\(await store.now) \(attempt.number) \(body)")
            await store.end(attempt, random.pick([200, 204, 500, nil]))
        }
        return heard
    }

    private func text(_ content: JSONObject) -> String {
        String(decoding: JSONValue.object(content).encoded(), as: UTF8.self)
    }
}
