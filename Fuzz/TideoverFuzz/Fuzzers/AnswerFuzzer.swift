import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON

extension Fuzzer {
    static let apiAnswer = Fuzzer(
        "api-answer",
        promise: """
            whatever the App Store Server API answers is a value or a typed failure, malformed if and \
            only if a second reader refuses it; waits are at most a day; what an answer brings reads \
            again, by itself, as the same, and its facts keep the promises of notifications
            """,
        maximumByteCount: 8192,
        seeds: { AnswerSeeds.all },
        words: SimulatedLife.words + AnswerSeeds.words,
        mutate: AnswerMutations.any,
        check: { AnswerChecks.check(Exchanged($0)) }
    )
}

/// A request and its response, before anything in it is signed.
struct Exchanged {
    /// Three lines: request and status; `Retry-After`; `Date`. Then the body, and the values of its
    /// placeholders.
    var parts: [[UInt8]]

    init(_ input: [UInt8]) {
        parts = Unsealed.split(input, into: 5)
    }

    init(frame: String, body: String, seed: [UInt8]) {
        let message = Unsealed(seed)
        parts = [Array(frame.utf8), Array(body.utf8)] + message.parts
    }

    var input: [UInt8] { Array(parts.joined(separator: [Unsealed.separator])) }

    private var frame: [String] {
        parts[0].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    var question: Question {
        let number = frame.first?.utf8.first.map { Int($0 & 15) } ?? 0
        return Question.allCases[number % Question.allCases.count]
    }

    var response: Response {
        let status = frame.first.flatMap { Int($0.dropFirst().prefix(3)) } ?? 200
        var response = Response(status: status, body: body)
        if frame.count > 1, !frame[1].isEmpty { response.headers.append("Retry-After", frame[1]) }
        if frame.count > 2, !frame[2].isEmpty { response.headers.append("Date", frame[2]) }
        return response
    }

    private var body: [UInt8] {
        let message = Unsealed(parts: Array(parts[2...]))
        let notification = Seal.sealed(message.notification)
        return message.filled(parts[1], further: ["$notification": notification])
    }

    enum Question: CaseIterable {
        case statuses, transactions, refunds, notifications, transaction, appTransaction, order
        case extended, test, testStatus, finish
    }
}

private enum AnswerChecks {
    /// 2026-06-01T00:00:00Z.
    private static let now = Instant(millisecondsSince1970: 1_780_272_000_000)

    static func check(_ exchanged: Exchanged) {
        let response = exchanged.response
        let outcome = Waiting.run { await ask(exchanged.question, response) }
        switch outcome {
        case .success(let answer):
            expect((200..<300).contains(response.status), "a failure was taken for an answer")
            dated(answer.exchange, response)
            for item in answer.content { self.item(item) }
        case .failure(let failure): self.failure(failure, response)
        }
    }

    // MARK: Asking

    private typealias Outcome = Result<Items, AppStoreAPIFailure>

    private static func ask(
        _ question: Exchanged.Question,
        _ response: Response
    ) async -> Outcome {
        let api = AppStoreAPI(
            app: AppStoreIdentity(
                bundleId: SimulatedLife.bundleId,
                appAppleId: SimulatedLife.appAppleId,
                environments: [.production]
            ),
            environment: .production,
            tokens: tokens,
            clock: { now },
            handler: { _ in response }
        )
        do {
            return .success(try await answer(question, api))
        } catch let failure as AppStoreAPIFailure {
            return .failure(failure)
        } catch {
            Failure.stop("a failure that is nobody's: \(error)")
        }
    }

    private static let tokens = AppStoreTokens(
        key: AppStoreAPIKey(issuerId: "i", keyId: "k", bundleId: SimulatedLife.bundleId),
        signer: { _ in [UInt8](repeating: 1, count: 64) }
    )

    private typealias Items = (content: [AppStoreAnswerItem], exchange: StoreExchange)

    private static func answer(
        _ question: Exchanged.Question,
        _ api: AppStoreAPI
    ) async throws -> Items {
        let (id, reader) = ("2000000000000001", api.reader)
        switch question {
        case .statuses:
            let answer = try await api.subscriptionStatuses(of: id)
            return items(answer) { reader.read($0, check: Seal.check) }
        case .transactions:
            let answer = try await api.transactionHistory(of: id)
            return items(answer) { reader.read($0, check: Seal.check) }
        case .refunds:
            let answer = try await api.refundHistory(of: id)
            return items(answer) { reader.read($0, check: Seal.check) }
        case .notifications:
            let filter = NotificationHistoryFilter(from: now - .days(7), to: now)
            let answer = try await api.notificationHistory(filter)
            return items(answer) { reader.read($0, check: Seal.check) }
        case .transaction:
            let answer = try await api.transactionInfo(of: id)
            return items(answer) { [reader.read($0, check: Seal.check)] }
        case .appTransaction:
            let answer = try await api.appTransactionInfo(of: id)
            return items(answer) { [reader.read($0, check: Seal.check)] }
        case .order:
            let answer = try await api.lookUp(orderId: "MK5TTTVWJH")
            return items(answer) { reader.read($0, check: Seal.check) }
        case .extended, .test, .testStatus, .finish: return try await other(question, api)
        }
    }

    private static func other(
        _ question: Exchanged.Question,
        _ api: AppStoreAPI
    ) async throws -> Items {
        let (id, reader) = ("2000000000000001", api.reader)
        switch question {
        case .test: return items(try await api.requestTestNotification()) { _ in [] }
        case .testStatus:
            let answer = try await api.testNotificationStatus(id)
            return items(answer) { reader.read($0, check: Seal.check).map { [$0] } ?? [] }
        case .extended:
            let order = RenewalExtension(
                days: 7,
                reason: .customerSatisfaction,
                requestIdentifier: id
            )
            return items(try await api.extendRenewalDate(of: id, order)) { _ in [] }
        default: return items(try await api.finish(id)) { _ in [] }
        }
    }

    private static func items<Content>(
        _ answer: AppStoreAnswer<Content>,
        _ read: (Content) -> [AppStoreAnswerItem]
    ) -> Items {
        (read(answer.content), answer.exchange)
    }

    // MARK: Judging

    private static func failure(_ failure: AppStoreAPIFailure, _ response: Response) {
        expect(!failure.description.isEmpty, "a failure without words")
        expect(failure.outcome != nil || !failure.isRetryable, "retryable, though never asked")
        if let retryAt = failure.retryAt {
            let longest = now + .hours(24)
            expect((now...longest).contains(retryAt), "wait until \(retryAt.rfc3339)")
        }
        dated(failure.exchange, response)
        let isSuccess = (200..<300).contains(response.status)
        switch failure.reason {
        case .malformedJSON(let error):
            let plain = PlainJSON.read(response.body, depth: JSONLimits.storeAnswer.maxDepth)
            expect(plain == nil, "refused, but a second reader accepts it: \(error)")
            expect(isSuccess, "a failure was read as an answer")
        case .malformed: expect(isSuccess, "a failure was read as an answer")
        case .unauthorised, .throttled, .refused, .status:
            expect(!isSuccess, "an answer was taken for a failure")
        case .unaskable, .unsigned, .unreachable, .endless:
            Failure.stop("nothing of that kind happened: \(failure)")
        }
    }

    /// A parsed date must equal the C library's.
    private static func dated(_ exchange: StoreExchange, _ response: Response) {
        guard let dated = exchange.dated, let text = response.headers["Date"] else { return }
        let seconds = PlainDate.seconds(text)
        expect(
            seconds.map { $0 * 1000 } == dated.millisecondsSince1970,
            "\(text) was read as \(dated.rfc3339)"
        )
    }

    private static func item(_ item: AppStoreAnswerItem) {
        guard case .success(let reading) = item.reading else { return }
        let reader = AppStoreReader(
            app: AppStoreIdentity(
                bundleId: SimulatedLife.bundleId,
                appAppleId: SimulatedLife.appAppleId,
                environments: [.production]
            )
        )
        let again = unfailing("what an answer brought is refused by itself") {
            try reader.read(item.evidence, check: Seal.check)
        }
        expect(again.dedupeKey == reading.dedupeKey, "by itself it has another key")
        let facts = facts(of: reading)
        expect(self.facts(of: again) == facts, "by itself it says something else")
        for fact in facts { FactChecks.form(of: fact) }
        if !facts.isEmpty { FactChecks.standing(facts + SimulatedLife.usualFacts) }
    }

    private static func facts(of reading: AppStoreReading) -> [Fact] {
        reading.facts(learnedAt: now, source: .appStoreAPI, evidence: EvidenceID(hex: "00"))
    }
}

private enum AnswerSeeds {
    static let all: [[UInt8]] =
        bodies.enumerated().flatMap { number, body in
            SimulatedLife.seeds.prefix(5).map { seed in
                Exchanged(
                    frame:
                        "\(UnicodeScalar(UInt8(64 + number)))200\n\nMon, 01 Jun 2026 00:00:00 GMT",
                    body: body,
                    seed: seed
                ).input
            }
        } + failures

    private static let failures = [
        "@429\n1780275600000\nMon, 01 Jun 2026 00:00:03 GMT", "@429\n60\n", "@401\n\n",
        "@404\n\n", "@500\nTue, 02 Jun 2026 00:00:00 GMT\n",
    ].map { frame in
        Exchanged(frame: frame, body: #"{"errorCode":4040010,"errorMessage":"a"}"#, seed: []).input
    }

    /// In the order of the requests.
    private static let bodies = [
        """
        {"environment":"Production","bundleId":"com.example.cards","appAppleId":1234567890,"data":\
        [{"subscriptionGroupIdentifier":"1","lastTransactions":[{"status":1,"signedTransactionInfo":\
        "$transaction","signedRenewalInfo":"$renewal"}]}]}
        """,
        """
        {"environment":"Production","bundleId":"com.example.cards","revision":"r","hasMore":true,\
        "signedTransactions":["$transaction"]}
        """,
        #"{"revision":"r","hasMore":false,"signedTransactions":["$transaction","$renewal"]}"#,
        """
        {"paginationToken":"p","hasMore":false,"notificationHistory":[{"signedPayload":\
        "$notification","sendAttempts":[{"attemptDate":1780272000000,"sendAttemptResult":\
        "TIMED_OUT"}]}]}
        """,
        #"{"signedTransactionInfo":"$transaction"}"#,
        #"{"signedAppTransactionInfo":"$transaction"}"#,
        #"{"status":0,"signedTransactions":["$transaction"]}"#,
        #"{"originalTransactionId":"1","success":true,"effectiveDate":1780272000000}"#,
        #"{"testNotificationToken":"t"}"#,
        #"{"signedPayload":"$notification","sendAttempts":[]}"#,
        "",
    ]

    static let words = [
        "$notification", "\"data\"", "\"lastTransactions\"", "\"signedTransactions\"",
        "\"hasMore\"", "\"revision\"", "\"notificationHistory\"", "\"sendAttempts\"",
        "\"errorCode\"", "4290000", "4040010", " GMT", "Mon, ", "1780275600000",
    ]
}

private enum AnswerMutations {
    /// Changes one part, or replaces it by that of another exchange.
    @Sendable static func any(_ input: [UInt8], _ most: Int, _ dice: inout Dice) -> [UInt8] {
        var exchanged = Exchanged(input)
        let place = dice.number(below: exchanged.parts.count)
        if dice.one(in: 8) {
            exchanged.parts[place] = Exchanged(dice.pick(AnswerSeeds.all)).parts[place]
        } else {
            exchanged.parts[place] = Mutations.json(exchanged.parts[place], most, &dice)
        }
        return exchanged.input
    }
}
