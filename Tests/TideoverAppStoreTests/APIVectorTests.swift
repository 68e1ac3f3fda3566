import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Reads Apple's example responses through the API and compares them after encoding.
@Suite(.enabled(if: Vectors.present, "vectors are not beside the project"))
struct APIVectorTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let ask: @Sendable (AppStoreAPI) async throws -> any Sendable

        var testDescription: String { name }
    }

    static let filter = NotificationHistoryFilter(from: APIRequestTests.from, to: FakeAPI.now)

    static let cases: [Case] = [
        Case(name: "getAllSubscriptionStatusesResponse") {
            try await $0.subscriptionStatuses(of: "1").content
        },
        Case(name: "transactionHistoryResponse") {
            try await $0.transactionHistory(of: "1").content
        },
        Case(name: "transactionHistoryResponseWithMalformedEnvironment") {
            try await $0.transactionHistory(of: "1").content
        },
        Case(name: "getRefundHistoryResponse") {
            try await $0.refundHistory(of: "1").content
        },
        Case(name: "getNotificationHistoryResponse") {
            try await $0.notificationHistory(filter).content
        },
        Case(name: "requestTestNotificationResponse") {
            try await $0.requestTestNotification().content
        },
        Case(name: "getTestNotificationStatusResponse") {
            try await $0.testNotificationStatus("t").content
        },
        Case(name: "transactionInfoResponse") {
            try await $0.transactionInfo(of: "1").content
        },
        Case(name: "appTransactionInfoResponse") {
            try await $0.appTransactionInfo(of: "1").content
        },
        Case(name: "lookupOrderIdResponse") {
            try await $0.lookUp(orderId: "1").content
        },
        Case(name: "extendSubscriptionRenewalDateResponse") {
            let order = RenewalExtension(days: 1, reason: .other, requestIdentifier: "a")
            return try await $0.extendRenewalDate(of: "1", order).content
        },
        Case(name: "extendRenewalDateForAllActiveSubscribersResponse") {
            let order = RenewalExtension(days: 1, reason: .other, requestIdentifier: "a")
            return try await $0.extendRenewalDates(ofAllSubscribersTo: "b", order).content
        },
        Case(name: "getStatusOfSubscriptionRenewalDateExtensionsResponse") {
            try await $0.massExtensionStatus(of: "b", requestIdentifier: "a").content
        },
    ]

    @Test(arguments: cases)
    func `an answer of Apple is read without loss`(example: Case) async throws {
        let bytes = try Vectors.bytes("apple/models/\(example.name).json")
        let answer = try await example.ask(FakeAPI(Response(body: bytes)).api())
        #expect(JSONValue.object(wireForm(of: answer)) == JSONValue(try JSONDocument(bytes).root))
    }

    @Test func `an answer of Apple with a number as a string is refused`() async throws {
        let bytes = try Vectors.bytes(
            "apple/models/transactionHistoryResponseWithMalformedAppAppleId.json"
        )
        let api = FakeAPI(Response(body: bytes)).api()
        let failed = try #require(
            await failure { _ = try await api.transactionHistory(of: "1") }
        )
        guard case .malformed(.malformed(field: "answer.appAppleId")) = failed.reason else {
            Issue.record("\(failed.reason)")
            return
        }
    }
}
