import TideoverHTTP
import TideoverJSON

extension UnionChecker.Exchange {
    /// What is wrong with the header fields of the answer.
    var headerRefusals: [UnionChecker.Refusal] {
        [contentTypeRefusal, requestTimeRefusal, tagRefusal, signatureRefusal].compactMap(\.self)
    }

    /// iOS reads the body of an error only with this type. A 304 has no body.
    private var contentTypeRefusal: UnionChecker.Refusal? {
        let type = response.headers["Content-Type"] ?? ""
        guard response.status != 304, !type.hasPrefix("application/json") else { return nil }
        return UnionChecker.Refusal("Content-Type", "not JSON")
    }

    /// The request time if it is in decimal digits.
    var requestTime: String? {
        guard let text = response.headers[UnionChecker.requestTimeHeader], !text.isEmpty,
            text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        else { return nil }
        return text
    }

    private var requestTimeRefusal: UnionChecker.Refusal? {
        guard requestTime == nil else { return nil }
        return UnionChecker.Refusal(UnionChecker.requestTimeHeader, "absent, or not decimal digits")
    }

    /// An SDK stores an answer under its tag and sends the tag with the next request. Without a
    /// stored answer it cannot use a 304, and asks again.
    private var tagRefusal: UnionChecker.Refusal? {
        let name = "X-RevenueCat-ETag"
        let tag = response.headers[name] ?? ""
        if request.method == "POST", !tag.isEmpty {
            return UnionChecker.Refusal(name, "on the answer to a POST")
        }
        guard response.status == 304 else { return nil }
        if tag.isEmpty { return UnionChecker.Refusal(name, "absent on a 304") }
        return tag == request.headers[name]
            ? nil : UnionChecker.Refusal(name, "not the one that was sent")
    }

    /// Android crashes on a signature that is not base64. Both mark an answer as failed if it has
    /// another length or a key without an expiry.
    private var signatureRefusal: UnionChecker.Refusal? {
        let name = "X-Signature"
        guard let text = response.headers[name] else { return nil }
        if response.status >= 400 { return UnionChecker.Refusal(name, "on an error") }
        guard let bytes = Base64.decode(text.utf8, .standard) else {
            return UnionChecker.Refusal(name, "not base64")
        }
        guard bytes.count == 180 else {
            return UnionChecker.Refusal(name, "of \(bytes.count) bytes")
        }
        let expiry = bytes[32..<36]
        return expiry.contains { $0 != 0 }
            ? nil : UnionChecker.Refusal(name, "of a key without an expiry")
    }
}
