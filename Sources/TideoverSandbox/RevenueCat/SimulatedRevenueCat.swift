public import TideoverHTTP
public import TideoverJSON
import TideoverSignatures

/// A simulated RevenueCat between simulated stores and a back end. It receives the stores'
/// notifications after a configurable lag, sends webhooks, and answers requests about customers. It
/// has no other source: a period that the store extended is over until the store has reported the
/// extension.
public actor SimulatedRevenueCat {
    private let setup: RelaySetup
    private let readPlay: @Sendable (_ token: String) async -> JSONObject?
    private var books: RelayJournal
    private var post = RelayPost()
    private var words: [(at: Int64, customer: String, word: Word)] = []
    private var heard: Set<String> = []
    private var now: Int64

    private enum Word {
        case appStore(AppStoreNotification)
        case googlePlay(type: Int64, token: String)
    }

    /// Creates a RevenueCat without customers.
    ///
    /// - Parameters:
    ///   - setup: The configuration of its project.
    ///   - seed: The seed of its event ids.
    ///   - now: The time on its clock, in milliseconds since 1970.
    ///   - readPlay: `purchases.subscriptionsv2` of a token as Google Play answers it now, and the
    ///     end of a planned pause in `autoResumeTimeMillis`.
    public init(
        _ setup: RelaySetup,
        seed: UInt64,
        now: Int64,
        readPlay: @escaping @Sendable (_ token: String) async -> JSONObject? = { _ in nil }
    ) {
        self.setup = setup
        self.readPlay = readPlay
        self.now = now
        books = RelayJournal(entitlements: setup.entitlements, seed: seed)
    }

    // MARK: Receiving

    /// Receives a notification of the App Store. A notification that is sent again counts once.
    public func hear(_ notification: AppStoreNotification, of customer: String, at instant: Int64) {
        guard heard.insert(notification.uuid).inserted else { return }
        words.append((instant + setup.lag, customer, .appStore(notification)))
    }

    /// Receives a message that Google Play publishes.
    public func hear(_ message: PlayMessage, of customer: String, at instant: Int64) {
        guard heard.insert(message.id).inserted,
            let content = try? JSONDocument(message.data).root["subscriptionNotification"],
            let type = content["notificationType"]?.int64,
            let token = content["purchaseToken"]?.string
        else { return }
        words.append((instant + setup.lag, customer, .googlePlay(type: type, token: token)))
    }

    /// Transfers the purchases of one customer to another, who restored them.
    public func transfer(from former: String, to customer: String, at instant: Int64) {
        now = max(now, instant)
        post.add(books.transfer(from: former, to: customer, at: now))
    }

    // MARK: Time

    /// The next instant at which it processes or sends an event.
    public var nextEvent: Int64? {
        (words.map(\.at) + [post.nextAttempt].compactMap(\.self)).min()
    }

    /// The instant by which every processed event was sent once. Includes notifications that are
    /// still to be processed if `awaitingWords`.
    public func lastFirstAttempt(awaitingWords: Bool) -> Int64? {
        let words = awaitingWords ? words.map(\.at) : []
        return (words + [post.lastFirstAttempt].compactMap(\.self)).max()
    }

    /// Every event so far, with its delivery attempts.
    public var letters: [RelayPost.DeliveryRecord] { post.letters }

    /// One delivery of a webhook.
    public struct Attempt: Sendable {
        /// The number with which the attempt is ended.
        public let number: Int
        /// The event that is sent.
        public let event: RelayEvent
        /// The headers that authenticate it.
        public let headers: Headers
        /// The request body.
        public let body: [UInt8]
    }

    /// Advances the clock to the next delivery, or to the instant if none is due by then.
    public func advance(to instant: Int64) async -> Attempt? {
        while let next = nextEvent, next <= instant {
            now = max(now, next)
            if let place = words.firstIndex(where: { $0.at == next }) {
                let word = words.remove(at: place)
                for event in await events(of: word.word, word.customer) { post.add(event) }
            } else if let number = post.take(dueBy: now) {
                return attempt(number)
            }
        }
        now = max(now, instant)
        return nil
    }

    /// Records how a delivery ended: with the response's status, or nil without a response.
    public func end(_ attempt: Attempt, _ status: Int?) {
        post.ended(attempt.number, at: now, status)
    }

    private func events(of word: Word, _ customer: String) async -> [RelayEvent] {
        switch word {
        case .appStore(let notification):
            return books.hear(notification, of: customer, at: now)
        case .googlePlay(let type, let token):
            guard let resource = await readPlay(token) else { return [] }
            return books.hear(type, resource, of: customer, at: now)
        }
    }

    private func attempt(_ number: Int) -> Attempt {
        let event = post.letters[number].event
        let body = event.body
        var headers: Headers = [
            "Content-Type": "application/json", "Content-Length": String(body.count),
        ]
        if let value = setup.authorization { headers["Authorization"] = value }
        if let secret = setup.signatureSecret {
            headers["X-RevenueCat-Webhook-Signature"] = signature(of: body, under: secret)
        }
        return Attempt(number: number, event: event, headers: headers, body: body)
    }

    /// Returns `t=SECONDS,v1=HEX`, a signature over the time, a dot and the body.
    private func signature(of body: [UInt8], under secret: String) -> String {
        let time = String(now / 1000)
        let code = HMACSHA256.code(of: Array("\(time).".utf8) + body, under: Array(secret.utf8))
        let digits = code.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "t=\(time),v1=\(digits.joined())"
    }

    // MARK: Answering

    /// Whether an app that asks only RevenueCat gives access: the SDK's `isActive`.
    public func isActive(_ entitlement: String, of customer: String, at instant: Int64) -> Bool {
        books.isActive(entitlement, of: customer, at: instant)
    }

    /// Its API; it answers `GET /v1/subscribers/{app_user_id}`.
    public nonisolated var api: Handler {
        { request in await self.answer(request) }
    }

    private func answer(_ request: Request) -> Response {
        guard request.headers["Authorization"] == "Bearer \(setup.apiKey)" else {
            return json(401, ["code": 7225, "message": "Invalid API key."])
        }
        guard request.method == "GET", let path = request.segments, path.count == 3,
            path.starts(with: ["v1", "subscribers"])
        else { return json(404, ["code": 7117, "message": "Page not found."]) }
        // Creates a customer that it does not have yet.
        let isKnown = books.customers[path[2]] != nil
        return json(isKnown ? 200 : 201, .object(books.answer(about: path[2], at: now)))
    }

    private func json(_ status: Int, _ content: JSONValue) -> Response {
        .json(content, status: status)
    }
}
