import Foundation
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

extension TestServer {
    /// Returns all events in the outbox.
    func events() throws -> [OutboxEvent] {
        try storage.outbox(app: "cards", after: nil, limit: 10_000)
    }

    /// Damages the stored facts of a purchase directly in the database, as a failing disk might.
    func damage(factsOf lineage: String) throws {
        let connection = try Connection(
            path: storage.path,
            access: .readWrite,
            busyTimeout: 1_000
        )
        let spoil = try Statement(
            "UPDATE fact SET form = '{}' WHERE lineage LIKE ?1",
            on: connection
        )
        try spoil.run(.text("%\(lineage)%"))
    }

    /// Returns the path of a configuration for the server's database, with more members of `server`
    /// and of the app.
    func configuration(server more: String = "", app: String = "") throws -> String {
        let file = folder.appending(path: "tideover.json")
        let text = """
            {
              server: { listen: "127.0.0.1:0", \(more) },
              storage: "sqlite:tideover.db",
              apps: [{
                id: "cards",
                environments: ["sandbox"],
                appStore: { bundleId: "com.example.cards" },
                products: {
                  "cards.pro.monthly": {
                    entitlements: ["premium"], group: "pro", period: "P1M", grace: "P16D",
                  },
                },
                \(app)
              }],
            }
            """
        try Data(text.utf8).write(to: file)
        return file.path
    }
}

extension Message {
    /// Creates a first month as a separate purchase.
    static func purchase(
        _ uuid: String,
        of original: String,
        customer: String = TestServer.anna,
        signed: Instant = start
    ) -> Message {
        var message = purchase(uuid, customer: customer, signed: signed)
        message.transaction?["transactionId"] = .string("\(original)-1")
        message.transaction?["webOrderLineItemId"] = .string("\(original)-1")
        message.transaction?["originalTransactionId"] = .string(original)
        message.renewal?["originalTransactionId"] = .string(original)
        return message
    }

    /// Creates the failure of the first month's renewal, at its end.
    static func failure(
        _ uuid: String,
        of original: String,
        customer: String = TestServer.anna,
        graceUntil: Instant?
    ) -> Message {
        var message = purchase(uuid, of: original, customer: customer, signed: end)
        message.fail(graceUntil: graceUntil)
        return message
    }

    mutating func fail(graceUntil: Instant?) {
        type = "DID_FAIL_TO_RENEW"
        subtype = graceUntil == nil ? nil : "GRACE_PERIOD"
        status = graceUntil == nil ? 3 : 4
        renewal?["isInBillingRetryPeriod"] = true
        renewal?["gracePeriodExpiresDate"] = graceUntil?.wire
        renewal?["expirationIntent"] = 2
    }

    /// Sets the period of the message.
    mutating func last(from start: Instant, to end: Instant) {
        signed = max(signed, start)
        for name in ["purchaseDate", "originalPurchaseDate"] { transaction?[name] = start.wire }
        transaction?["expiresDate"] = end.wire
        renewal?["renewalDate"] = end.wire
        sign(at: signed)
    }

    mutating func sign(at instant: Instant) {
        signed = instant
        transaction?["signedDate"] = instant.wire
        renewal?["signedDate"] = instant.wire
    }

    /// Records that the store returned the money.
    mutating func refund(at instant: Instant) {
        type = "REFUND"
        subtype = nil
        status = 5
        transaction?["revocationDate"] = instant.wire
        transaction?["revocationReason"] = 0
        sign(at: instant)
    }

    /// Records that the customer disabled renewal.
    mutating func cancel(signed instant: Instant) {
        type = "DID_CHANGE_RENEWAL_STATUS"
        subtype = "AUTO_RENEW_DISABLED"
        renewal?["autoRenewStatus"] = 0
        sign(at: instant)
    }
}
