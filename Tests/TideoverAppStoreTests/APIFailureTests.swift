import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Tests error responses.
@Suite struct APIFailureTests {
    struct Offline: Error {}

    /// The time of requests to the fake store, as an HTTP date.
    static let now = FakeAPI.now

    func ask(_ store: FakeAPI) async throws -> AppStoreAPIFailure {
        try #require(
            await failure { _ = try await store.api().subscriptionStatuses(of: "1") }
        )
    }

    // MARK: Error codes

    /// Every documented error code: whether to retry, and the inquiry's outcome.
    static let codes: [(Int64, Bool, Inquiry.Outcome)] =
        [
            (4_040_002, true, .unreachable), (4_040_004, true, .unreachable),
            (4_040_006, true, .unreachable), (5_000_001, true, .unreachable),
            (4_290_000, true, .throttled), (5_000_000, false, .unreachable),
            (4_040_001, false, .gone), (4_040_005, false, .gone), (4_040_010, false, .gone),
            (4_040_019, false, .gone),
        ]
        + [
            4_000_000, 4_000_002, 4_000_005, 4_000_006, 4_000_008, 4_000_009, 4_000_010,
            4_000_011, 4_000_012, 4_000_013, 4_000_014, 4_000_015, 4_000_016, 4_000_017,
            4_000_018, 4_000_019, 4_000_020, 4_000_021, 4_000_022, 4_000_023, 4_000_024,
            4_000_025, 4_000_026, 4_000_027, 4_000_028, 4_000_030, 4_000_031, 4_000_032,
            4_000_033, 4_000_034, 4_000_035, 4_000_036, 4_000_037, 4_000_038, 4_000_039,
            4_000_040, 4_000_041, 4_000_042, 4_000_043, 4_000_047, 4_000_048, 4_000_183,
            4_000_185, 4_000_187, 4_030_004, 4_030_005, 4_030_007, 4_040_003, 4_040_007,
            4_040_008, 4_040_009,
        ].map { ($0, false, .refused) }

    @Test(arguments: codes)
    func `each error number of the store is known`(
        code: Int64,
        isRetryable: Bool,
        outcome: Inquiry.Outcome
    ) async throws {
        let failed = try await ask(FakeAPI(.error(code, status: Int(code / 10_000))))
        let known = try #require(AppStoreErrorCode(rawValue: code))
        if known == .rateLimitExceeded {
            guard case .throttled = failed.reason else {
                Issue.record("\(failed.reason)")
                return
            }
        } else {
            guard case .refused(OpenEnum(code), status: Int(code / 10_000)) = failed.reason else {
                Issue.record("\(failed.reason)")
                return
            }
        }
        #expect(failed.isRetryable == isRetryable)
        #expect(failed.outcome == outcome)
    }

    @Test func `the table contains every error number`() {
        let listed = Self.codes.map(\.0)
        #expect(Set(listed) == Set(AppStoreErrorCode.allCases.map(\.rawValue)))
        #expect(Set(listed).count == listed.count)
    }

    @Test(
        arguments: [
            (9_990_000, 400, false, .refused), (4_040_999, 404, false, .refused),
            (5_030_000, 503, true, .unreachable), (5_000_099, 500, true, .unreachable),
        ] as [(Int64, Int, Bool, Inquiry.Outcome)]
    )
    func `an unknown error number is kept and classified by its status`(
        code: Int64,
        status: Int,
        isRetryable: Bool,
        outcome: Inquiry.Outcome
    ) async throws {
        let failed = try await ask(FakeAPI(.error(code, status: status)))
        guard case .refused(OpenEnum(code), status: status) = failed.reason else {
            Issue.record("\(failed.reason)")
            return
        }
        #expect(failed.isRetryable == isRetryable)
        #expect(failed.outcome == outcome)
    }

    @Test(.enabled(if: Vectors.present, "vectors are not beside the project"))
    func `Apple's examples of errors are read`() async throws {
        let examples: [(String, Int, AppStoreErrorCode?)] = [
            ("apiException", 500, .generalInternal), ("apiUnknownError", 400, nil),
            ("appTransactionDoesNotExistError", 404, .appTransactionDoesNotExist),
            ("familyTransactionNotSupportedError", 400, .familyTransactionNotSupported),
            ("invalidTransactionIdError", 400, .invalidTransactionId),
            ("transactionIdNotFoundError", 404, .transactionIdNotFound),
            ("transactionIdNotOriginalTransactionId", 400, .notAnOriginalTransactionId),
        ]
        for (name, status, code) in examples {
            let body = try Vectors.bytes("apple/models/\(name).json")
            let failed = try await ask(FakeAPI(Response(status: status, body: body)))
            guard case .refused(let found, status: status) = failed.reason else {
                Issue.record("\(name): \(failed.reason)")
                continue
            }
            #expect(found.known == code)
        }
        let body = try Vectors.bytes("apple/models/apiTooManyRequestsException.json")
        let failed = try await ask(FakeAPI(Response(status: 429, body: body)))
        guard case .throttled = failed.reason else {
            Issue.record("\(failed.reason)")
            return
        }
    }

    // MARK: Errors without a code

    @Test(
        arguments: [
            (500, true, .unreachable), (502, true, .unreachable), (503, true, .unreachable),
            (504, true, .unreachable), (408, true, .unreachable), (400, false, .refused),
            (403, false, .refused), (404, false, .refused), (301, false, .unreachable),
            (304, false, .unreachable),
        ] as [(Int, Bool, Inquiry.Outcome)]
    )
    func `an answer without an error number is classified by its status`(
        status: Int,
        isRetryable: Bool,
        outcome: Inquiry.Outcome
    ) async throws {
        for body in ["", "<html>Bad Gateway</html>", "{}", #"{"errorCode":"5"}"#, "[1]"] {
            let failed = try await ask(FakeAPI(.text(body, status: status)))
            guard case .status(status) = failed.reason else {
                Issue.record("\(failed.reason)")
                return
            }
            #expect(failed.isRetryable == isRetryable)
            #expect(failed.outcome == outcome)
        }
    }

    @Test func `a request without an answer is retryable`() async throws {
        let failed = try await ask(FakeAPI(failing: Offline()))
        guard case .unreachable(let error) = failed.reason, error is Offline else {
            Issue.record("\(failed.reason)")
            return
        }
        #expect(failed.isRetryable)
        #expect(failed.outcome == .unreachable)
        #expect(failed.exchange.dated == nil)
    }

    @Test func `a cancelled task is not a failure`() async {
        let store = FakeAPI(failing: CancellationError())
        await #expect(throws: CancellationError.self) {
            try await store.api().requestTestNotification()
        }
    }

    // MARK: Successes without valid content

    @Test(arguments: [
        "", "{", #"{"data":[{"lastTransactions":[{"status":1"#, #"{"data":[],"data":[]}"#,
        "\u{FEFF}{\"data\":[]}", #"{"data":[],}"#,
    ])
    func `an answer that is truncated or repeats a key is invalid`(body: String) async throws {
        let failed = try await ask(FakeAPI(.text(body)))
        guard case .malformedJSON = failed.reason else {
            Issue.record("\(failed.reason)")
            return
        }
        #expect(failed.isRetryable)
        #expect(failed.outcome == .unreachable)
    }

    @Test(
        arguments: [
            ("[]", .malformed(field: "answer")), ("{}", .missingMember("data")),
            (#"{"data":{}}"#, .malformed(field: "answer.data")),
            (#"{"data":[1]}"#, .malformed(field: "answer.data")),
            (#"{"data":[],"appAppleId":"hi"}"#, .malformed(field: "answer.appAppleId")),
            (
                #"{"data":[{"lastTransactions":[{"status":"1"}]}]}"#,
                .malformed(field: "answer.data.lastTransactions.status")
            ),
        ] as [(String, AppStoreRefusal)]
    )
    func `an answer of the wrong shape is refused with the field's name`(
        body: String,
        refusal: AppStoreRefusal
    ) async throws {
        let failed = try await ask(FakeAPI(.text(body)))
        guard case .malformed(refusal) = failed.reason else {
            Issue.record("\(failed.reason)")
            return
        }
        #expect(!failed.isRetryable)
    }

    @Test func `an answer of at most 4 MiB is accepted`() async throws {
        let head = Array(#"{"data":[],"padding":""#.utf8)
        func answer(_ count: Int) -> Response {
            let middle = Array(repeating: UInt8(ascii: "x"), count: count - head.count - 2)
            return Response(body: head + middle + Array("\"}".utf8))
        }
        let limit = 4 << 20
        _ = try await FakeAPI(answer(limit)).api().subscriptionStatuses(of: "1")
        let failed = try await ask(FakeAPI(answer(limit + 1)))
        guard case .malformedJSON(let error) = failed.reason else {
            Issue.record("\(failed.reason)")
            return
        }
        #expect(error.reason == .tooLarge(limit: limit))
    }
}
