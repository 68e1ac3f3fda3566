package import TideoverCore
package import TideoverHTTP

/// Authenticates a webhook from RevenueCat: by a fixed `Authorization` header, by a signature over
/// the body, or by both. Every configured check must pass; without a check, every request is
/// rejected.
package struct WebhookCheck: Sendable {
    /// Compares two byte strings in constant time.
    package typealias Comparison = @Sendable ([UInt8], [UInt8]) -> Bool

    private let authorization: [UInt8]?
    private let mac: (@Sendable ([UInt8]) -> [UInt8])?
    private let isSame: Comparison
    private let tolerance: Milliseconds

    /// RevenueCat retries an event for two and a half hours. A replay changes nothing, because an
    /// event keeps its ID: the limit only rejects very old requests.
    package static let ordinaryTolerance = Milliseconds.hours(3)

    /// The names of the signature header; the first one present in a request counts.
    package static let signatureHeaders = [
        "X-RevenueCat-Webhook-Signature", "X-RevenueCat-Signature",
    ]

    /// - Parameters:
    ///   - authorization: the value of the header as set in RevenueCat's dashboard; nil if none is.
    ///   - mac: HMAC-SHA256 under the secret of the dashboard; nil if requests are not signed.
    ///   - tolerance: the accepted distance between now and the signing time.
    ///   - isSame: a constant-time comparison.
    package init(
        authorization: String?,
        mac: (@Sendable ([UInt8]) -> [UInt8])?,
        tolerance: Milliseconds = ordinaryTolerance,
        isSame: @escaping Comparison
    ) {
        self.authorization = authorization.map { Array($0.utf8) }
        self.mac = mac
        self.tolerance = tolerance
        self.isSame = isSame
    }

    /// Returns why a request is rejected; nil if it is authentic.
    package func objection(to request: Request, at now: Instant) -> WebhookObjection? {
        guard authorization != nil || mac != nil else { return .nothingToCheck }
        return objection(toHeaderOf: request) ?? objection(toSignatureOf: request, at: now)
    }

    private func objection(toHeaderOf request: Request) -> WebhookObjection? {
        guard let authorization else { return nil }
        let values = request.headers.all("Authorization")
        guard let value = values.first, values.count == 1 else { return .missingAuthorization }
        return isSame(Array(value.utf8), authorization) ? nil : .wrongAuthorization
    }

    private func objection(
        toSignatureOf request: Request,
        at now: Instant
    ) -> WebhookObjection? {
        guard let mac else { return nil }
        let value = Self.signatureHeaders.lazy.compactMap { request.headers[$0] }.first
        guard let value else { return .missingSignature }
        guard let signature = WebhookSignature(value) else { return .malformedSignature }
        let expected = mac(Array(signature.time.utf8) + [UInt8(ascii: ".")] + request.body)
        // Compares all signatures, so that the duration does not reveal which one is valid.
        let isHeld = signature.values.reduce(false) { isSame($1, expected) || $0 }
        guard isHeld else { return .wrongSignature }
        let away = Milliseconds(Int64(clamping: (now - signature.signedAt).count.magnitude))
        return away > tolerance ? .untimelySignature(away: away) : nil
    }
}

/// Describes why a request is not accepted as one from RevenueCat.
package enum WebhookObjection: Error, Hashable, Sendable {
    /// No check is configured.
    case nothingToCheck
    /// The header is absent or duplicated.
    case missingAuthorization
    case wrongAuthorization
    case missingSignature
    case malformedSignature
    case wrongSignature
    /// The signature is valid, but too old or from the future.
    case untimelySignature(away: Milliseconds)
}

/// The header `t=SECONDS,v1=HEX`, with more than one `v1` during a change of the secret.
private struct WebhookSignature {
    /// The text as received: the signature covers it.
    let time: String
    let signedAt: Instant
    let values: [[UInt8]]

    init?(_ text: String) {
        var time: String?
        var values: [[UInt8]] = []
        for part in text.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map(Self.trimmed)
            guard pair.count == 2 else { return nil }
            switch pair[0] {
            case "t" where time == nil: time = String(pair[1])
            case "v1":
                guard values.count < 8, let value = Self.bytes(hex: pair[1]) else { return nil }
                values.append(value)
            case "t": return nil
            // Ignores other versions of the signature.
            default: continue
            }
        }
        guard let time, time.utf8.count <= 12, let seconds = Int64(time), seconds >= 0,
            !values.isEmpty
        else { return nil }
        self.time = time
        self.values = values
        signedAt = Instant(millisecondsSince1970: seconds * 1000)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let rest = text.drop { $0 == " " }
        return rest.last == " " ? rest.prefix { $0 != " " } : rest
    }

    private static func bytes(hex: Substring) -> [UInt8]? {
        let digits = hex.utf8.map { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
            default: nil
            }
        }
        let values = digits.compactMap(\.self)
        guard values.count == digits.count, values.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}
