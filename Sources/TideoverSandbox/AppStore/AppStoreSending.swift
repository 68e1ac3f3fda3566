import TideoverCalendar
import TideoverJSON
import TideoverSignatures

// Creation of deliveries, with their faults.

extension AppStoreService {
    /// Creates the due attempt of a delivery; nil if nothing arrives now.
    mutating func attempt(
        _ number: AppStorePost.Number,
        _ letter: AppStorePost.DeliveryRecord
    ) throws(SignatureRefusal) -> SimulatedAppStore.Attempt? {
        guard case .arrival(let fault) = wire.pass(number, of: &post, at: now) else { return nil }
        if fault == .rotateKey { authority = authority.withNewKey() }
        return SimulatedAppStore.Attempt(
            number: number,
            notification: letter.notification,
            body: try body(of: letter.notification, fault),
            fault: fault
        )
    }

    mutating func clearWireFaults() { wire.clear(&post, at: now) }

    private mutating func body(
        of notification: AppStoreNotification,
        _ fault: AppStoreWireFault?
    ) throws(SignatureRefusal) -> [UInt8] {
        switch fault {
        case .wrongEnvironment:
            return try authority.body(of: notification) { payload in
                var data = payload["data"]?.object ?? [:]
                let isProduction = machine.app.environment == .production
                data["environment"] = isProduction ? "Sandbox" : "Production"
                payload["data"] = .object(data)
            }
        case .unknownType:
            return try authority.body(of: notification) { payload in
                payload["notificationType"] = "TIDES_TURNED"
                payload["subtype"] = "AT_NEW_MOON"
            }
        case .expiredCertificate:
            let day = CivilDate.millisecondsPerDay
            let signed = authority.dial.shown(notification.signedDate)
            return try authority.expired(by: signed - day).body(of: notification)
        case .truncate:
            let body = try authority.body(of: notification)
            return Array(body.prefix(body.count / 2))
        case .corrupt: return corrupted(try authority.body(of: notification))
        default: return try authority.body(of: notification)
        }
    }

    /// Replaces a letter or digit with another, so that it is still JSON and still base64url.
    private mutating func corrupted(_ body: [UInt8]) -> [UInt8] {
        var body = body
        // After `{"signedPayload":"` and before its closing characters.
        let (start, end) = (20, body.count - 4)
        var place = start + wire.faults.place(in: end - start)
        while body[place] == UInt8(ascii: ".") { place += 1 }
        body[place] = body[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return body
    }
}
