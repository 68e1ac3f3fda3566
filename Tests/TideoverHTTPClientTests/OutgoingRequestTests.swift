import Testing
import TideoverHTTP
import TideoverHTTPClient

@Suite struct OutgoingRequestTests {
    private func lines(_ headers: Headers) throws -> [String] {
        let request = Request(method: "POST", path: "/", headers: headers)
        return try OutgoingRequest(request, to: HTTPURL("http://a/")).lines
    }

    @Test func `fields are sent as given, and libcurl's own are removed`() throws {
        #expect(try lines(["A": "1", "B": ""]) == ["A: 1", "B;", "Expect:", "Content-Type:"])
        #expect(try lines(["content-type": "x/y"]) == ["content-type: x/y", "Expect:"])
    }

    @Test func `fields of the connection are set by the client only`() throws {
        let headers: Headers = [
            "host": "evil", "Content-Length": "7", "Transfer-Encoding": "chunked", "A": "1",
            "connection": "close", "expect": "100-continue",
        ]
        #expect(try lines(headers) == ["A: 1", "Expect:", "Content-Type:"])
    }

    @Test(arguments: [
        ("A", "1\r\nB: 2"), ("A", "1\n"), ("A", "\u{0}"), ("A", "\u{7F}"), ("A b", "1"),
        ("A:", "1"), ("", "1"), ("A\r\nB", "1"), ("é", "1"), ("A;", ""),
    ])
    func `a field that would split into two is refused`(name: String, value: String) {
        var headers = Headers()
        headers.append(name, value)
        #expect(throws: HTTPClientError.malformedRequest(.header)) { try lines(headers) }
    }

    @Test(arguments: ["", "get", "CONNECT", "TRACE", "GET /", "GET\r\n"])
    func `an unusual method is refused`(method: String) {
        #expect(throws: HTTPClientError.malformedRequest(.method)) {
            try OutgoingRequest(Request(method: method, path: "/"), to: HTTPURL("http://a/"))
        }
    }
}
