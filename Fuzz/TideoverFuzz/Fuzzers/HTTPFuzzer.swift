import Glibc
import TideoverHTTP
import TideoverJSON

extension Fuzzer {
    static let http = Fuzzer(
        "http",
        promise: """
            targets, percent-encoding, addresses, networks and entity tags read again as what was \
            written of them; addresses are those that inet_pton knows; nothing left of what a \
            trusted proxy added changes the client it names
            """,
        maximumByteCount: 512,
        seeds: {
            [
                "/v1/apps/cards/customers/a%2Fb?at=now&x=%20+1", "http://h/a/../b?c", "192.0.2.1",
                "::ffff:192.0.2.1", "2001:db8::1", "fe80::/10", "W/\"a\", \"b\"", "*",
                "10.0.0.1, [2001:db8::1]:443, 192.0.2.1:80", "/%F0%9F%98%80", "/a//b",
            ].map { Array($0.utf8) }
        },
        words: ["%2F", "%00", "::", "/8", "W/\"", "http://", "127.0.0.1", "0x", "..", "%25"],
        check: { input in
            guard let text = String(validating: input, as: UTF8.self) else { return }
            HTTPChecks.target(text)
            HTTPChecks.percent(text)
            HTTPChecks.address(text)
            HTTPChecks.tag(text)
            HTTPChecks.proxies(text)
        }
    )
}

private enum HTTPChecks {
    static func target(_ text: String) {
        guard let request = Request(target: text) else { return }
        let query = request.query.map {
            "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))"
        }
        let tail = query.isEmpty ? "" : "?" + query.joined(separator: "&")
        guard let again = Request(target: request.path + tail) else {
            Failure.stop("a target does not read once its query is written again")
        }
        expect(again.query == request.query, "the query reads as something else")
        guard let segments = request.segments else { return }
        let path =
            "/" + segments.map { PercentEncoding.encode(segment: $0) }.joined(separator: "/")
        expect(Request(target: path)?.segments == segments, "the path reads as something else")
    }

    static func percent(_ text: String) {
        let encoded = PercentEncoding.encode(text)
        expect(encoded.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "encoded, but not plain")
        for plusIsSpace in [false, true] {
            let decoded = PercentEncoding.decode(encoded.utf8, plusIsSpace: plusIsSpace)
            expect(
                decoded?.unicodeScalars.elementsEqual(text.unicodeScalars) ?? !text.isStreamSafe,
                "percent-encoding loses something"
            )
        }
    }

    static func address(_ text: String) {
        let address = IPAddress(text)
        expect(address?.bytes == systems(text), "inet_pton says \(systems(text) as Any)")
        if let address {
            expect(IPAddress(address.description) == address, "an address is written as another")
        }
        if let network = IPNetwork(text) {
            expect(IPNetwork(network.description) == network, "a network is written as another")
            expect(network.contains(network.first), "a network is without its first address")
        }
    }

    /// The C library's result, which reads up to a zero byte.
    private static func systems(_ text: String) -> [UInt8]? {
        guard !text.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
        return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
    }

    static func tag(_ text: String) {
        let isAllowed = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 }
        let tag = isAllowed ? ETag.weak(text) : ETag.strong("a")
        expect(tag.matches(ifNoneMatch: tag.description), "a tag does not match itself")
        let other = ETag.strong("nobody-has-this")
        let names = text.contains("*") || text.contains(other.opaque)
        expect(!other.matches(ifNoneMatch: text) || names, "it names a tag that is not in it")
    }

    static func proxies(_ text: String) {
        guard let network = IPNetwork("10.0.0.0/8") else { Failure.stop("10.0.0.0/8 is none") }
        let proxies = TrustedProxies([network])
        let request = { (word: String) in
            Request(path: "/", headers: ["X-Forwarded-For": word], peer: "10.0.0.1")
        }
        expect(proxies.client(of: request(text)) != nil, "a request without a client")
        for own in ["192.0.2.7", "2001:db8::7", "[2001:db8::7]:443", "192.0.2.7:1"] {
            let client = proxies.client(of: request(text + "," + own))
            let alone = proxies.client(of: request(own))
            expect(client == alone, "the part left of \(own) makes it \(client as Any)")
        }
    }
}
