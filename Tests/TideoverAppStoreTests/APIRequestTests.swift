import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Tests the request of each operation.
@Suite struct APIRequestTests {
    /// One operation, and its expected request.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let method: String
        let path: String
        var query: [String] = []
        var body: JSONValue?
        var answer: JSONObject = [:]
        let ask: @Sendable (AppStoreAPI) async throws -> Void

        var testDescription: String { name }
    }

    static let statusesAnswer: JSONObject = ["data": []]
    static let page: JSONObject = ["signedTransactions": [], "revision": "r2", "hasMore": false]
    static let day = Milliseconds.days(1)
    static let from = FakeAPI.now - day
    static let fromText = "\(from.millisecondsSince1970)"
    static let nowText = "\(FakeAPI.now.millisecondsSince1970)"

    static let full: TransactionHistoryFilter = {
        var filter = TransactionHistoryFilter()
        filter.startDate = from
        filter.endDate = FakeAPI.now
        filter.productIds = ["a", "b&c"]
        filter.productTypes = [.autoRenewable, .nonRenewable, .consumable, .nonConsumable]
        filter.sort = .descending
        filter.subscriptionGroupIdentifiers = ["g1", "g2"]
        filter.inAppOwnershipType = .familyShared
        filter.revoked = true
        return filter
    }()

    static let purchases: [Case] = [
        Case(
            name: "all subscription statuses",
            method: "GET",
            path: "/inApps/v1/subscriptions/2000000000000001",
            answer: statusesAnswer
        ) { _ = try await $0.subscriptionStatuses(of: "2000000000000001") },
        Case(
            name: "subscription statuses of two kinds",
            method: "GET",
            path: "/inApps/v1/subscriptions/1",
            query: ["status=1", "status=4"],
            answer: statusesAnswer
        ) { _ = try await $0.subscriptionStatuses(of: "1", only: [.active, .billingGracePeriod]) },
        Case(
            name: "transaction history",
            method: "GET",
            path: "/inApps/v2/history/1",
            answer: page
        ) { _ = try await $0.transactionHistory(of: "1") },
        Case(
            name: "transaction history with every filter",
            method: "GET",
            path: "/inApps/v2/history/1",
            query: [
                "revision=r1", "startDate=\(fromText)", "endDate=\(nowText)", "productId=a",
                "productId=b&c", "productType=AUTO_RENEWABLE", "productType=NON_RENEWABLE",
                "productType=CONSUMABLE", "productType=NON_CONSUMABLE", "sort=DESCENDING",
                "subscriptionGroupIdentifier=g1", "subscriptionGroupIdentifier=g2",
                "inAppOwnershipType=FAMILY_SHARED", "revoked=true",
            ],
            answer: page
        ) { _ = try await $0.transactionHistory(of: "1", full, revision: "r1") },
        Case(
            name: "refund history",
            method: "GET",
            path: "/inApps/v2/refund/lookup/1",
            answer: page
        ) { _ = try await $0.refundHistory(of: "1") },
        Case(
            name: "refund history from a revision on",
            method: "GET",
            path: "/inApps/v2/refund/lookup/1",
            query: ["revision=r1"],
            answer: page
        ) { _ = try await $0.refundHistory(of: "1", revision: "r1") },
    ]

    static let history: JSONObject = ["notificationHistory": [], "hasMore": false]
    static let dates: JSONObject = [
        "startDate": .integer(from.millisecondsSince1970),
        "endDate": .integer(FakeAPI.now.millisecondsSince1970),
    ]

    static func list(
        _ name: String,
        _ more: JSONObject,
        only: NotificationHistoryFilter.Subject? = nil,
        onlyFailures: Bool = false,
        token: String? = nil
    ) -> Case {
        let filter = NotificationHistoryFilter(
            from: from,
            to: FakeAPI.now,
            only: only,
            onlyFailures: onlyFailures
        )
        return Case(
            name: name,
            method: "POST",
            path: "/inApps/v1/notifications/history",
            query: token.map { ["paginationToken=\($0)"] } ?? [],
            body: .object(dates.changed(by: more)),
            answer: history
        ) { _ = try await $0.notificationHistory(filter, paginationToken: token) }
    }

    static let notifications: [Case] = [
        list("notification history", [:]),
        list("failed notifications", ["onlyFailures": true], onlyFailures: true),
        list("a further page of them", [:], token: "t1"),
        list(
            "notifications of a type",
            ["notificationType": "REFUND"],
            only: .type(OpenEnum("REFUND"))
        ),
        list(
            "notifications of a subtype",
            ["notificationType": "EXPIRED", "notificationSubtype": "VOLUNTARY"],
            only: .subtype(OpenEnum("EXPIRED"), OpenEnum("VOLUNTARY"))
        ),
        list(
            "notifications about a customer",
            ["transactionId": "1"],
            only: .transaction("1")
        ),
        Case(
            name: "a test notification",
            method: "POST",
            path: "/inApps/v1/notifications/test",
            answer: ["testNotificationToken": "t"]
        ) { _ = try await $0.requestTestNotification() },
        Case(
            name: "how a test notification fared",
            method: "GET",
            path: "/inApps/v1/notifications/test/ce3af791-365e_1"
        ) { _ = try await $0.testNotificationStatus("ce3af791-365e_1") },
    ]

    static let single: [Case] = [
        Case(
            name: "one transaction",
            method: "GET",
            path: "/inApps/v1/transactions/1",
            answer: ["signedTransactionInfo": "a"]
        ) { _ = try await $0.transactionInfo(of: "1") },
        Case(
            name: "the app transaction",
            method: "GET",
            path: "/inApps/v1/transactions/appTransactions/1",
            answer: ["signedAppTransactionInfo": "a"]
        ) { _ = try await $0.appTransactionInfo(of: "1") },
        Case(name: "an order", method: "GET", path: "/inApps/v1/lookup/W002182") {
            _ = try await $0.lookUp(orderId: "W002182")
        },
        Case(name: "a delivery", method: "POST", path: "/inApps/v1/transactions/1/finish") {
            _ = try await $0.finish("1")
        },
        Case(
            name: "an account afterwards",
            method: "PUT",
            path: "/inApps/v1/transactions/1/appAccountToken",
            body: ["appAccountToken": "7e3fb20b-4cdb-47cc-936d-99d65f608138"]
        ) { api in
            let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
            _ = try await api.setAppAccountToken(of: "1", to: token)
        },
        Case(
            name: "an extension",
            method: "PUT",
            path: "/inApps/v1/subscriptions/extend/1",
            body: ["extendByDays": 45, "extendReasonCode": 3, "requestIdentifier": "fdf964a4"]
        ) { api in
            let order = RenewalExtension(
                days: 45,
                reason: .serviceIssue,
                requestIdentifier: "fdf964a4"
            )
            _ = try await api.extendRenewalDate(of: "1", order)
        },
        Case(
            name: "an extension for all subscribers",
            method: "POST",
            path: "/inApps/v1/subscriptions/extend/mass",
            body: [
                "extendByDays": 45, "extendReasonCode": 3, "requestIdentifier": "fdf964a4",
                "productId": "com.example.monthly",
            ]
        ) { api in
            let order = RenewalExtension(
                days: 45,
                reason: .serviceIssue,
                requestIdentifier: "fdf964a4"
            )
            let product = "com.example.monthly"
            _ = try await api.extendRenewalDates(ofAllSubscribersTo: product, order)
        },
        Case(
            name: "an extension for all subscribers of two storefronts",
            method: "POST",
            path: "/inApps/v1/subscriptions/extend/mass",
            body: [
                "extendByDays": 1, "extendReasonCode": 2, "requestIdentifier": "a",
                "productId": "b", "storefrontCountryCodes": ["USA", "MEX"],
            ]
        ) { api in
            let order = RenewalExtension(days: 1, reason: .other, requestIdentifier: "a")
            _ = try await api.extendRenewalDates(
                ofAllSubscribersTo: "b",
                order,
                in: ["USA", "MEX"]
            )
        },
        Case(
            name: "how far the store is with that",
            method: "GET",
            path: "/inApps/v1/subscriptions/extend/mass/com.example.monthly/20fba8a0-2b80"
        ) { api in
            _ = try await api.massExtensionStatus(
                of: "com.example.monthly",
                requestIdentifier: "20fba8a0-2b80"
            )
        },
        Case(
            name: "consumption, as little as possible",
            method: "PUT",
            path: "/inApps/v2/transactions/consumption/1",
            body: [
                "customerConsented": true, "sampleContentProvided": false,
                "deliveryStatus": "DELIVERED",
            ]
        ) { api in
            let information = ConsumptionInformation(
                customerConsented: true,
                sampleContentProvided: false,
                deliveryStatus: .delivered
            )
            _ = try await api.sendConsumption(of: "1", information)
        },
        Case(
            name: "consumption, all of it",
            method: "PUT",
            path: "/inApps/v2/transactions/consumption/1",
            body: [
                "customerConsented": false, "sampleContentProvided": true,
                "deliveryStatus": "UNDELIVERED_SERVER_OUTAGE", "consumptionPercentage": 50000,
                "refundPreference": "GRANT_PRORATED",
            ]
        ) { api in
            let information = ConsumptionInformation(
                customerConsented: false,
                sampleContentProvided: true,
                deliveryStatus: .undeliveredServerOutage,
                consumptionPercentage: 50_000,
                refundPreference: .grantProrated
            )
            _ = try await api.sendConsumption(of: "1", information)
        },
    ]

    @Test(arguments: purchases + notifications + single)
    func `a request is sent as the store documents it`(asked: Case) async throws {
        let store = FakeAPI(.answer(asked.answer))
        try await asked.ask(store.api())
        let request = try #require(await store.requests.first)
        #expect(await store.requests.count == 1)
        #expect(request.method == asked.method)
        #expect(request.path == asked.path)
        #expect(request.query.map { "\($0.name)=\($0.value)" } == asked.query)
        #expect(request.headers["Accept"] == "application/json")
        let authorization = try #require(request.headers["Authorization"])
        #expect(authorization.hasPrefix("Bearer ey"))
        if let body = asked.body {
            #expect(JSONValue(try JSONDocument(request.body).root) == body)
            #expect(request.headers["Content-Type"] == "application/json")
        } else {
            #expect(request.body.isEmpty)
            #expect(request.headers["Content-Type"] == nil)
        }
    }

    @Test(arguments: [
        "", ".", "..", "a/b", "1?x=1", "%31", "a b", "é", String(repeating: "1", count: 129),
    ])
    func `an invalid id is not sent`(id: String) async throws {
        let store = FakeAPI(.answer(Self.statusesAnswer))
        let failed = await failure { _ = try await store.api().subscriptionStatuses(of: id) }
        guard case .unaskable(.identifier(id)) = try #require(failed).reason else {
            Issue.record("\(failed as Any)")
            return
        }
        #expect(await store.requests.isEmpty)
        #expect(failed?.outcome == nil)
    }

    @Test(
        arguments: [(.production, 180), (.simulated, 180), (.sandbox, 30)] as [(Environment, Int64)]
    )
    func `a request beyond the history is not sent and reports its earliest date`(
        environment: Environment,
        days: Int64
    ) async throws {
        let reach = Milliseconds.days(days)
        let api = FakeAPI(.answer(Self.history)).api(in: environment)
        func ask(from: Instant, to: Instant) async -> AppStoreQuestionFault? {
            let filter = NotificationHistoryFilter(from: from, to: to)
            let failed = await failure { _ = try await api.notificationHistory(filter) }
            guard case .unaskable(let fault)? = failed?.reason else { return nil }
            return fault
        }
        let now = FakeAPI.now
        let earliest = NotificationHistoryFilter.earliestStart(at: now, in: environment)
        #expect(earliest > now - reach)
        #expect(await ask(from: now - reach, to: now) == nil)
        #expect(await ask(from: earliest, to: now) == nil)
        let tooOld = AppStoreQuestionFault.startTooOld(earliest: earliest)
        #expect(await ask(from: now - reach - Milliseconds(1), to: now) == tooOld)
        #expect(await ask(from: now, to: now) == .startAfterEnd)
    }

    @Test func `a further page is requested although its list now begins too early`() async throws {
        let store = FakeAPI(.answer(Self.history))
        let now = FakeAPI.now
        let filter = NotificationHistoryFilter(from: now - .days(181), to: now)
        _ = try await store.api().notificationHistory(filter, paginationToken: "t1")
        #expect(await store.requests.count == 1)
    }

    @Test func `an order number that the store always refuses is not sent`() async throws {
        let store = FakeAPI(.answer([:]))
        let api = store.api()
        func fault(_ ask: () async throws -> Void) async -> AppStoreQuestionFault? {
            guard case .unaskable(let fault)? = await failure(of: ask)?.reason else { return nil }
            return fault
        }
        func extend(_ days: Int64, _ id: String = "a") async -> AppStoreQuestionFault? {
            await fault {
                let order = RenewalExtension(days: days, reason: .other, requestIdentifier: id)
                _ = try await api.extendRenewalDate(of: "1", order)
            }
        }
        func consume(_ percentage: Int64) async -> AppStoreQuestionFault? {
            await fault {
                let information = ConsumptionInformation(
                    customerConsented: true,
                    sampleContentProvided: true,
                    deliveryStatus: .delivered,
                    consumptionPercentage: percentage
                )
                _ = try await api.sendConsumption(of: "1", information)
            }
        }
        func extendAll(_ product: String, _ days: Int64) async -> AppStoreQuestionFault? {
            await fault {
                let order = RenewalExtension(days: days, reason: .other, requestIdentifier: "a")
                _ = try await api.extendRenewalDates(ofAllSubscribersTo: product, order)
            }
        }
        func status(_ product: String, _ id: String) async -> AppStoreQuestionFault? {
            await fault {
                _ = try await api.massExtensionStatus(of: product, requestIdentifier: id)
            }
        }
        #expect(await extendAll("b", 91) == .outOfRange(field: "extendByDays", 1...90))
        #expect(await extendAll("b/c", 1) == .identifier("b/c"))
        #expect(await status("b/c", "a") == .identifier("b/c"))
        #expect(await status("b", "../a") == .identifier("../a"))
        for days: Int64 in [0, 91, -1] {
            #expect(await extend(days) == .outOfRange(field: "extendByDays", 1...90))
        }
        #expect(await extend(90, "") == .identifier(""))
        for percentage: Int64 in [-1, 100_001] {
            let expected = AppStoreQuestionFault.outOfRange(
                field: "consumptionPercentage",
                0...100_000
            )
            #expect(await consume(percentage) == expected)
        }
        #expect(await store.requests.isEmpty)
        for days: Int64 in [1, 90] { #expect(await extend(days) == nil) }
        for percentage: Int64 in [0, 100_000] { #expect(await consume(percentage) == nil) }
        #expect(await store.requests.count == 4)
    }

    @Test func `each of Apple's environments has its own address`() {
        #expect(AppStoreAPI.url(of: .production) == "https://api.storekit.apple.com")
        #expect(AppStoreAPI.url(of: .sandbox) == "https://api.storekit-sandbox.apple.com")
        #expect(AppStoreAPI.url(of: .simulated) == nil)
        #expect(AppStoreAPI.url(of: .xcode) == nil)
    }
}
