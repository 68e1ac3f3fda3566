import Testing
import TideoverHTTP
import TideoverHTTPServer

@Suite struct RequestHeadTests {
    private func body(
        _ fields: [(String, String)],
        target: String = "/",
        version: String = "HTTP/1.1",
        bytes: Int = 100
    ) -> Result<RequestHead.Body, Problem> {
        let host = version == "HTTP/1.0" ? [] : [("Host", "x")]
        let head = RequestHead(
            method: "POST",
            target: target,
            version: version,
            fields: (host + fields).map { Headers.Field(name: $0.0, value: $0.1) },
            bytes: bytes
        )
        return head.body(within: HTTPServerLimits())
    }

    private func slug(_ result: Result<RequestHead.Body, Problem>) -> String? {
        if case .failure(let problem) = result { problem.slug } else { nil }
    }

    @Test func `a body is framed by its length or in chunks`() {
        #expect(body([]) == .success(.length(0)))
        #expect(body([("content-length", "12")]) == .success(.length(12)))
        #expect(body([("Content-Length", "12 \t")]) == .success(.length(12)))
        #expect(body([("Transfer-Encoding", "Chunked")]) == .success(.chunked))
        #expect(body([], version: "HTTP/1.0") == .success(.length(0)))
    }

    @Test(arguments: ["", "-1", "+1", "1.0", "1e3", "0x1", "1,1", "1 1", "99999999999999999999"])
    func `a length is one decimal number`(length: String) {
        #expect(slug(body([("Content-Length", length)])) == "malformed-request")
    }

    @Test func `a length beyond the limit differs from a malformed one`() {
        #expect(body([("Content-Length", "262144")]) == .success(.length(262_144)))
        #expect(body([("Content-Length", "262145")]) == .failure(.bodyTooLarge(limit: 262_144)))
    }

    @Test func `two framings are refused`() {
        let length = ("Content-Length", "1")
        let chunks = ("Transfer-Encoding", "chunked")
        #expect(slug(body([length, length])) == "malformed-request")
        #expect(slug(body([length, chunks])) == "malformed-request")
        #expect(slug(body([chunks], version: "HTTP/1.0")) == "malformed-request")
        #expect(body([chunks, chunks]) == .failure(.transferCoding))
    }

    @Test func `the size is checked before the syntax`() {
        #expect(slug(body([("Bad name", "")], bytes: 16_385)) == "head-too-large")
        let many = (0..<64).map { ("X-\($0)", "") }
        #expect(slug(body(many)) == "too-many-fields")
    }

    @Test func `more combining marks after each other than any word has are refused`() {
        let most = "a" + String(repeating: "\u{301}\u{327}\u{316}", count: 10)
        #expect(body([("X-Name", most)]) == .success(.length(0)))
        #expect(slug(body([("X-Name", "\(most)\u{301}")])) == "malformed-request")
        #expect(slug(body([], version: "HTTP/1.\(most)\u{301}")) == "malformed-request")
        #expect(slug(body([], target: "/\(most)\u{301}")) == "malformed-request")
    }

    @Test func `trailing white space is not part of a value`() {
        let head = RequestHead(
            method: "GET",
            target: "/",
            fields: [
                Headers.Field(name: "A", value: "a b\t "), Headers.Field(name: "B", value: "  "),
            ],
            bytes: 30
        )
        #expect(head.headers == ["A": "a b", "B": ""])
    }
}

@Suite struct HeadLayoutTests {
    /// Lays out `GET /a HTTP/1.1`, `A: b`, `C:d` from address 1000, with variable gaps.
    private func isExact(
        targetGap: Int = 1,
        versionGap: Int = 1,
        firstGap: Int = 2,
        white: Int = 1,
        lineGap: Int = 2,
        endGap: Int = 4
    ) -> Bool {
        let target = 1000 + 3 + targetGap
        let version = target + 2 + versionGap
        let first = version + 8 + firstGap
        let firstValue = first + 1 + 1 + white
        let second = firstValue + 1 + lineGap
        let end = second + 3 + endGap
        var layout = HeadLayout(methodAt: 1000, length: 3)
        layout.part(at: UInt(target), length: 2, followedBy: 1)
        layout.part(at: UInt(version), length: 8, followedBy: 2)
        layout.field(
            name: UInt(first),
            nameLength: 1,
            value: UInt(firstValue),
            valueLength: 1
        )
        layout.field(name: UInt(second), nameLength: 1, value: UInt(second + 2), valueLength: 1)
        return layout.ends(afterBytes: end - 1000)
    }

    @Test func `exact separators and any white space before a value are accepted`() {
        #expect(isExact())
        #expect(isExact(white: 0))
        #expect(isExact(white: 40))
    }

    @Test func `other separators are refused`() {
        #expect(!isExact(targetGap: 2))
        #expect(!isExact(versionGap: 2))
        #expect(!isExact(firstGap: 1))
        #expect(!isExact(firstGap: 3))
        #expect(!isExact(lineGap: 1))
        #expect(!isExact(lineGap: 9))
        #expect(!isExact(endGap: 3))
        #expect(!isExact(endGap: 2))
        #expect(!isExact(white: -1))
        #expect(!isExact(white: 1_000_000))
    }
}
