import Testing
import TideoverHTTP

@Suite struct RequestTargetTests {
    @Test func `a target is a raw path and decoded query items in order`() throws {
        let target = try #require(RequestTarget("/v1/a%2Fb?x=1&y=%C3%A9+z&x=2&flag"))
        #expect(target.path == "/v1/a%2Fb")
        #expect(
            target.query == [
                QueryItem(name: "x", value: "1"), QueryItem(name: "y", value: "é z"),
                QueryItem(name: "x", value: "2"), QueryItem(name: "flag", value: ""),
            ]
        )
    }

    @Test func `empty query items are left out and a second equals sign is part of the value`() {
        #expect(RequestTarget("/?&&a=b=c&")?.query == [QueryItem(name: "a", value: "b=c")])
        #expect(RequestTarget("/?")?.query == [])
        #expect(RequestTarget("/?=v")?.query == [QueryItem(name: "", value: "v")])
    }

    @Test(arguments: [
        ("http://example.com/a?b=c", "/a"), ("https://example.com", "/"),
        ("http://example.com?b=c", "/"), ("http://[::1]:80/x/y", "/x/y"),
    ])
    func `the absolute form is accepted`(text: String, path: String) {
        #expect(RequestTarget(text)?.path == path)
    }

    @Test(arguments: [
        "", "a", "*", "example.com:443", "ftp://host/a", "/a b", "/a#b", "/\u{7F}", "/é", "/a\0",
        "/%", "/%4", "/%zz", "/%FF", "/%C3", "/?a=%", "/?%=a", "/?a=%ED%A0%80", "/?%C0%AF=1",
    ])
    func `a malformed target is refused`(text: String) {
        #expect(RequestTarget(text) == nil)
    }

    @Test func `more combining marks after each other than any word has are refused`() {
        let most = PercentEncoding.encode("a" + String(repeating: "\u{301}\u{327}", count: 15))
        let more = most + PercentEncoding.encode("\u{316}")
        #expect(RequestTarget("/\(most)?\(most)=\(most)") != nil)
        for target in ["/\(more)", "/?\(more)=1", "/?a=\(more)"] {
            #expect(RequestTarget(target) == nil)
        }
    }

    @Test(arguments: [
        ("/", []), ("/v1/apps", ["v1", "apps"]), ("/a%20b/%C3%A9", ["a b", "é"]),
        ("/u/..%2Fetc", ["u", "../etc"]), ("/a+b", ["a+b"]), ("/...", ["..."]),
        ("/a/%2e%2E/b", ["a", "..", "b"]), ("/%2e", ["."]), ("/a%0Ab%7F", ["a\nb\u{7F}"]),
        ("/a%00", ["a\0"]),
    ])
    func `a path splits into decoded segments`(path: String, segments: [String]) {
        #expect(Request(path: path).segments == segments)
    }

    @Test(arguments: [
        "", "v1", "//", "/v1/", "/v1//a", "/.", "/a/..", "/a/../b", "/%", "/%g0", "/%80",
    ])
    func `dot segments and empty segments give no segments`(path: String) {
        #expect(Request(path: path).segments == nil)
    }

    @Test func `the first value of a query item wins`() {
        let request = Request(target: "/?at=1&at=2&flag")
        #expect(request?.queryValue("at") == "1")
        #expect(request?.queryValue("flag") == "")
        #expect(request?.queryValue("none") == nil)
    }

    @Test func `decoding reverses encoding`() {
        let text = "a/b c+d%é\u{0}~-._"
        let encoded = PercentEncoding.encode(text)
        #expect(encoded == "a%2Fb%20c%2Bd%25%C3%A9%00~-._")
        #expect(PercentEncoding.decode(encoded.utf8) == text)
        #expect(PercentEncoding.decode(encoded.utf8, plusIsSpace: true) == text)
    }

    @Test(arguments: [".", "..", "...", "a.b", "a/..", "\n", "\0"])
    func `a path can have any segment`(segment: String) {
        let path = "/a/\(PercentEncoding.encode(segment: segment))/b"
        #expect(RequestTarget(path)?.path == path)
        #expect(Request(path: path).segments == ["a", segment, "b"])
    }

    @Test func `every byte survives encoding`() {
        for scalar in UInt32(0)...0x7FF {
            guard let scalar = Unicode.Scalar(scalar) else { continue }
            let text = String(Character(scalar))
            #expect(PercentEncoding.decode(PercentEncoding.encode(text).utf8) == text)
        }
    }
}
