import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON

@Suite struct APIWordsTests {
    static let now = APIClockTests.now

    func failed(_ response: Response) async throws -> AppStoreAPIFailure {
        let api = FakeAPI(response).api(at: { Self.now })
        return try #require(await failure { _ = try await api.subscriptionStatuses(of: "1") })
    }

    static let turnedDown = Response.text("", status: 401)

    static let cases: [(Response, code: String, words: [String])] = [
        (turnedDown, "unauthorised", ["no date"]),
        (
            FakeAPI.dated("Wed, 06 May 2026 10:00:30 GMT", turnedDown), "unauthorised",
            ["30 s apart", "key"]
        ),
        (
            FakeAPI.dated("Wed, 06 May 2026 11:00:00 GMT", turnedDown), "unauthorised",
            ["3600 s behind", "expired"]
        ),
        (
            FakeAPI.dated("Wed, 06 May 2026 09:00:00 GMT", turnedDown), "unauthorised",
            ["3600 s ahead of", "future"]
        ),
        (.error(4_290_000, status: 429), "throttled", ["come back later."]),
        (
            Response(status: 429, headers: ["Retry-After": "1778061660000"]), "throttled",
            ["at 2026-05-06T10:01:00.000Z"]
        ),
        (.error(4_040_010, status: 404), "store-4040010", ["404", "transactionIdNotFound"]),
        (.error(9_990_000, status: 400), "store-9990000", ["does not know", "9990000"]),
        (.text("", status: 502), "http-502", ["502"]),
        (.text(#"{"data":[{"#), "malformed-json", ["line 1, column", "cut short"]),
        (.text("{}"), "malformed", ["The member data is missing."]),
    ]

    @Test(arguments: cases)
    func `a failure describes the problem and the remedy`(
        response: Response,
        code: String,
        words: [String]
    ) async throws {
        let failed = try await failed(response)
        #expect(failed.code == code)
        #expect(failed.description == failed.sentence)
        for word in words { #expect(failed.sentence.contains(word), "\(failed.sentence)") }
    }

    @Test func `an error message contains no text from the store`() async throws {
        let response = Response.answer(
            ["errorCode": 4_000_006, "errorMessage": "secret"],
            status: 400
        )
        let failed = try await failed(response)
        #expect(!failed.sentence.contains("secret"))
        let store = FakeAPI(response)
        let unasked = await failure {
            _ = try await store.api().subscriptionStatuses(of: "secret!")
        }
        #expect(unasked?.code == "unaskable")
        #expect(unasked?.sentence.contains("secret") == false)
    }
}
