import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Evidence in several pages, failures within a page, and certainty after complete evidence.
@Suite struct ReconcilePageTests {
    private func signed(_ numbers: Range<Int>, _ server: TestServer) throws -> [JSONValue] {
        try numbers.map { .string(try server.store.sign(Device.transaction($0))) }
    }

    private func never(_ answer: JSONValue) -> String {
        let premium = answer["entitlements"]?["premium"]
        return [premium?["state"]?.string, premium?["confidence"]?.string]
            .compactMap(\.self).joined(separator: " ")
    }

    @Test func `a family shared purchase accepts its renewal info in one request or two`()
        async throws
    {
        for isTogether in [true, false] {
            let server = try TestServer()
            let device = Device(server: server)
            var shared = Device.transaction(1)
            shared["inAppOwnershipType"] = "FAMILY_SHARED"
            let purchase: JSONObject = [
                "transactions": [.string(try server.store.sign(shared))]
            ]
            let info: JSONObject = [
                "renewalInfos": [.string(try server.store.sign(Message.renewal()))]
            ]
            var answer: JSONValue
            if isTogether {
                var both = purchase
                both["renewalInfos"] = info["renewalInfos"]
                answer = try await device.present(both).answer
            } else {
                _ = try await device.present(purchase)
                answer = try await device.present(info).answer
            }
            #expect(Device.items(answer).allSatisfy { $0 == "accepted claimed" })
            #expect(answer["entitlements"]?["premium"]?["state"]?.string == "active")
            #expect(answer["entitlements"]?["premium"]?["willRenew"]?.bool == true)
            await server.close()
        }
    }

    // MARK: Pages

    @Test func `more items than a page are rejected unread with instructions to page`()
        async throws
    {
        let server = try TestServer()
        let all = try signed(0..<33, server)
        let (status, problem) = try await Device(server: server).present([
            "transactions": .array(Array(all.prefix(20))),
            "purchases": .array(all.dropFirst(20).map { ["purchaseToken": $0] }),
        ])
        #expect(status == 413)
        #expect(problem["type"]?.string == "/problems/too-many-items")
        #expect(problem["most"]?.int64 == 32)
        #expect(problem["found"]?.int64 == 33)
        #expect(problem["detail"]?.string?.contains("2 of them") == true)
        #expect(
            try server.storage.lineages(
                in: AppScope("cards", .sandbox),
                after: nil,
                limit: 1
            ).isEmpty
        )
        await server.close()
    }

    @Test
    func `valid items of a page count, and a repeated page changes nothing`() async throws {
        let server = try TestServer()
        let device = Device(server: server)
        let forged = try server.store.sign(Device.transaction(99), defect: .unknownRoot)
        var page: [JSONValue] = []
        for item in try signed(0..<16, server) { page += [item, .string(forged)] }
        let first = try await device.present(["transactions": .array(page)]).answer
        #expect(
            Device.items(first)
                == (0..<16).flatMap { _ in ["accepted claimed", "refused untrusted-root"] }
        )
        let again = try await device.present(["transactions": .array(page)]).answer
        #expect(
            Device.items(again)
                == (0..<16).flatMap { _ in ["accepted held", "refused untrusted-root"] }
        )
        #expect(again["customerVersion"] == first["customerVersion"])
        #expect(again["entitlements"] == first["entitlements"])
        await server.close()
    }

    @Test func `pages in any order give the same answer`() async throws {
        var answers: [JSONValue?] = []
        for isReversed in [false, true] {
            let server = try TestServer()
            let device = Device(server: server)
            var pages = [0..<20, 20..<40]
            if isReversed { pages.reverse() }
            var last: JSONValue?
            for page in pages {
                let evidence = JSONValue.array(try signed(page, server))
                last = try await device.present(["transactions": evidence]).answer["entitlements"]
            }
            answers.append(last)
            await server.close()
        }
        #expect(answers[0] == answers[1])
    }

    // MARK: Failures

    /// The number of commits before the disk is full, and the outcomes of a transaction and its
    /// renewal info.
    private static let shortages = [
        (0, ["failed storage-unavailable", "refused renewal-info-alone"]),
        (1, ["accepted", "failed storage-unavailable"]),
        (2, ["accepted", "accepted"]),
    ]

    @Test(arguments: shortages)
    func `a disk that fills up midway is reported with the stored items for a retry`(
        _ room: Int,
        _ expected: [String]
    ) async throws {
        let left = Locked(Int.max)
        let server = try TestServer(
            faults: SQLiteFaults { _ throws(StorageError) in
                let isFull = left.withLock { left in
                    left -= 1
                    return left < 0
                }
                if isFull { throw StorageError(.full, place: "the disk") }
            }
        )
        let device = Device(server: server)
        let evidence: JSONObject = [
            "transactions": .array(try signed(1..<2, server)),
            "renewalInfos": [.string(try server.store.sign(Message.renewal()))],
        ]
        left.withLock { $0 = room }
        let (status, problem) = try await device.present(evidence)
        #expect(status == 503)
        #expect(problem["type"]?.string == "/problems/storage-unavailable")
        #expect(Device.items(problem) == expected)
        left.withLock { $0 = Int.max }
        let kept = try server.storage.evidence(
            in: AppScope("cards", .sandbox),
            after: nil,
            limit: 10
        )
        #expect(kept.count == room)
        #expect(try server.storage.row(of: device.key)?.reconciledAt == nil)
        let (retried, answer) = try await device.present(evidence)
        #expect(retried == 200)
        #expect(Device.items(answer) == ["accepted claimed", "accepted claimed"])
        #expect(
            answer["items"]?.array?.map { $0["isKnown"]?.bool } == [room > 0, room > 1]
        )
        #expect(try await server.premium("u_42") == "active paid access")
        await server.close()
    }

    // MARK: Certainty

    @Test func `a device without purchases confirms never in its environment only`() async throws {
        let server = try TestServer()
        let device = Device(server: server)
        #expect(never(try await server.answer("u_42")) == "never unknown")
        let heard = server.now
        let (status, answer) = try await device.present(["nothing": true], environment: "sandbox")
        #expect(status == 200)
        #expect(never(answer) == "never confirmed")
        #expect(never(try await server.answer("u_42")) == "never confirmed")
        #expect(never(try await server.answer("u_42", environment: "simulated")) == "never unknown")
        // A second request changes nothing, including the instant.
        server.set(heard + .days(1))
        let again = try await device.present(["nothing": true], environment: "sandbox").answer
        #expect(again["customerVersion"] == answer["customerVersion"])
        #expect(try server.storage.row(of: device.key)?.reconciledAt == heard)
        #expect(try server.storage.outbox(app: "cards", after: nil, limit: 10).isEmpty)
        await server.close()
    }

    @Test func `a rejected item leaves never unconfirmed`() async throws {
        let server = try TestServer()
        let device = Device(server: server)
        for item in ["x", .string(try server.store.sign(Message.renewal()))] as [JSONValue] {
            let answer = try await device.present(
                ["renewalInfos": [item]],
                environment: "sandbox"
            ).answer
            #expect(never(answer) == "never unknown")
        }
        await server.close()
    }

    @Test func `a customer who presents another customer's purchase is confirmed as never`()
        async throws
    {
        let server = try TestServer()
        let evidence = JSONValue.array(try signed(1..<2, server))
        _ = try await Device(server: server).present(["transactions": evidence])
        let other = Device(server: server, customer: "u_2")
        let answer = try await other.present(["transactions": evidence]).answer
        #expect(Device.items(answer) == ["accepted held-by-another"])
        #expect(never(answer) == "never confirmed")
        await server.close()
    }

    @Test func `an explanation contains the first reconcile of a device`() async throws {
        let server = try TestServer()
        let target = "/v1/apps/cards/customers/u_42/explain?environment=sandbox"
        func why(_ query: String = "") async throws -> JSONValue {
            JSONValue(try JSONDocument(try await server.get(target + query).body).root)
        }
        let before = server.now
        #expect(try await why()["reconciledAt"] == .null)
        server.set(before + .days(1))
        _ = try await Device(server: server)
            .present(["nothing": true], environment: "sandbox")
        server.set(before + .days(2))
        let answer = try await why()
        #expect(answer["reconciledAt"]?.string == (before + .days(1)).rfc3339)
        let sentences = answer["entitlements"]?["premium"]?["why"]?.array
        #expect(sentences?.last?.string?.contains("A device has presented") == true)
        let then = try await why("&asKnownAt=\(before.rfc3339)")
        #expect(then["reconciledAt"] == .null)
        #expect(then["entitlements"]?["premium"]?["why"]?.array?.count == 1)
        await server.close()
    }
}

extension Device {
    fileprivate var key: CustomerKey {
        guard let id = CustomerID(customer) else { preconditionFailure("\(customer) is no id") }
        return CustomerKey(app: "cards", environment: .sandbox, customer: id)
    }
}
