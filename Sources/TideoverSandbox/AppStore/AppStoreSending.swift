import TideoverJSON
import TideoverSignatures

// Sending: what leaves the store of a letter, once faults have had their way with it.

extension AppStoreService {
    /// How long after the first a second copy is sent, in milliseconds.
    private static let betweenCopies: Int64 = 500

    /// The attempt at a letter that is due; nil when nothing arrives now.
    mutating func attempt(
        _ number: AppStorePost.Number,
        _ letter: AppStorePost.Letter
    ) throws(SignatureRefusal) -> SimulatedAppStore.Attempt? {
        // One fault is enough for a letter.
        let fault = disturbed.contains(number) ? nil : wireFaults.draw()
        if fault != nil { disturbed.insert(number) }
        switch fault {
        case .lose:
            post.ended(number, at: now, .success)
            return nil
        case .noAnswer:
            post.ended(number, at: now, .noResponse)
            return nil
        case .delay(let length):
            post.postpone(number, to: now + length)
            return nil
        case .reorder:
            overtaken.append(number)
            return nil
        case .duplicate: post.postpone(number, to: now + AppStoreService.betweenCopies)
        case .rotateKey: authority = authority.withNewKey()
        case nil, .truncate, .corrupt, .wrongEnvironment, .unknownType, .expiredCertificate: break
        }
        for number in overtaken { post.postpone(number, to: now + 1) }
        overtaken = []
        return SimulatedAppStore.Attempt(
            number: number,
            notification: letter.notification,
            body: try body(of: letter.notification, fault),
            fault: fault
        )
    }

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

    /// Another letter or digit in the place of one, so that it is still JSON and still base64url.
    private mutating func corrupted(_ body: [UInt8]) -> [UInt8] {
        var body = body
        // Past `{"signedPayload":"` and before what closes it.
        let (start, end) = (20, body.count - 4)
        var place = start + wireFaults.place(in: end - start)
        while body[place] == UInt8(ascii: ".") { place += 1 }
        body[place] = body[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return body
    }
}
