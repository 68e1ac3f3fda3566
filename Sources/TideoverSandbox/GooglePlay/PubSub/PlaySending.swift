import TideoverHTTP
import TideoverJSON
import TideoverSignatures

// Creation of pushes, with their faults.

extension PlayService {
    /// Creates the push of a message with a due attempt; nil if nothing arrives now.
    mutating func attempt(
        _ number: PlayPost.Number,
        _ message: PlayMessage,
        _ push: PubSubPush
    ) throws(SignatureRefusal) -> SimulatedGooglePlay.Attempt? {
        guard case .arrival(let fault) = wire.pass(number, of: &post, at: now) else { return nil }
        if fault == .rotateKey { authority.rotate() }
        let sent = message.dated(by: dial).spoilt(by: fault)
        var body = push.body(of: sent)
        let length = fault == .truncate ? body.count / 2 : body.count
        body.removeLast(body.count - length)
        return SimulatedGooglePlay.Attempt(
            number: number,
            message: message,
            headers: push.headers(of: sent, bearing: try token(of: push, fault), body),
            body: body,
            fault: fault
        )
    }

    mutating func clearWireFaults() { wire.clear(&post, at: now) }

    private mutating func token(
        of push: PubSubPush,
        _ fault: PlayWireFault?
    ) throws(SignatureRefusal) -> String {
        let signer =
            fault == .unknownKey ? PlayAuthority(seed: UInt64(bitPattern: now)) : authority
        let token = try signer.pushToken(
            to: fault == .wrongAudience ? "https://elsewhere.example/push" : push.audience,
            as: fault == .wrongAccount
                ? "pusher@elsewhere.iam.gserviceaccount.com" : push.email,
            at: fault == .expiredToken ? present - 2 * PlayAuthority.tokenLife : present
        )
        return fault == .corrupt ? corrupted(token) : token
    }

    /// Replaces a character of the signature with another, so that it is still base64url.
    private mutating func corrupted(_ token: String) -> String {
        var bytes = Array(token.utf8)
        let start = (bytes.lastIndex(of: UInt8(ascii: ".")) ?? 0) + 1
        let place = start + wire.faults.place(in: bytes.count - start)
        bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension PlayMessage {
    /// Returns the same message with its content changed by a fault.
    fileprivate func spoilt(by fault: PlayWireFault?) -> PlayMessage {
        guard fault == .wrongPackage || fault == .unknownType,
            let content = try? JSONDocument(data).root, var object = JSONValue(content).object
        else { return self }
        if fault == .wrongPackage { object["packageName"] = "com.example.elsewhere" }
        for kind in ["subscriptionNotification", "oneTimeProductNotification"]
        where fault == .unknownType {
            guard var told = object[kind]?.object else { continue }
            told["notificationType"] = 99
            object[kind] = .object(told)
        }
        return PlayMessage(
            id: id,
            publishedAt: publishedAt,
            data: JSONValue.object(object).encoded(),
            customer: customer
        )
    }
}
