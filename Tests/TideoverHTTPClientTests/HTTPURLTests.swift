import Testing
import TideoverHTTP
import TideoverHTTPClient

@Suite struct HTTPURLTests {
    @Test(arguments: [
        ("http://127.0.0.1:8080/a/b?c=d", "http://127.0.0.1:8080/a/b?c=d"),
        ("https://example.com", "https://example.com:443/"),
        ("HTTP://Example.com/", "http://Example.com:80/"),
        ("http://[::1]:81/x", "http://[::1]:81/x"),
        ("http://example.com/a/../b", "http://example.com:80/b"),
        ("http://2130706433/", "http://127.0.0.1:80/"),
        ("http://0x7f.1/", "http://127.0.0.1:80/"),
        ("http://127.1/", "http://127.0.0.1:80/"),
        ("http://017700000001/", "http://127.0.0.1:80/"),
    ])
    func `a URL is read as libcurl reads it`(text: String, canonical: String) throws {
        #expect(try HTTPURL(text).text == canonical)
    }

    @Test(arguments: [
        ("", HTTPURLError.malformed), ("example.com", .malformed), ("/a", .malformed),
        ("http://", .malformed), ("http://a b/", .malformed), ("http://a\u{0}/", .malformed),
        ("http://é/", .malformed), ("http://a:70000/", .malformed), ("http://a:0/", .malformed),
        ("http://a\\@b/", .malformed), ("http://[fe80::1%25lo]/", .malformed),
        ("http://a%2f/", .malformed), ("ftp://a/", .notHTTP(scheme: "ftp")),
        ("file:///etc/passwd", .notHTTP(scheme: "file")),
        ("gopher://a/", .notHTTP(scheme: "gopher")),
        ("http://u@a/", .credentials), ("http://u:p@a/", .credentials),
        ("http://:p@a/", .credentials),
        ("http://a/#b", .fragment),
    ])
    func `an unusable URL is refused`(text: String, reason: HTTPURLError) {
        #expect(throws: reason) { try HTTPURL(text) }
    }

    @Test(arguments: [
        ("http://a/", "/v1/x", "http://a:80/v1/x"),
        ("http://a", "/", "http://a:80/"),
        ("http://a/prefix", "/v1", "http://a:80/prefix/v1"),
        ("http://a/prefix/", "/v1/", "http://a:80/prefix/v1/"),
        ("http://a/p?key=1", "/v1", "http://a:80/p/v1?key=1"),
        ("http://a/p", "/u%2F42", "http://a:80/p/u%2F42"),
        ("http://a/p", "/%2E%2E/x", "http://a:80/p/%2E%2E/x"),
    ])
    func `a path is appended to the base`(base: String, path: String, whole: String) throws {
        #expect(try HTTPURL(base).appending(path: path)?.text == whole)
    }

    @Test(arguments: [
        "", "v1", "/a/../b", "/..", "/a/./b", "/a b", "/a?b", "/a#b", "/%zz",
    ])
    func `a path outside of the base is refused`(path: String) throws {
        #expect(try HTTPURL("http://a/p").appending(path: path) == nil)
    }

    @Test func `query items are encoded`() throws {
        let items = [QueryItem(name: "a b", value: "1&2"), QueryItem(name: "c", value: "")]
        let url = try HTTPURL("http://a/p?k=v").appending(path: "/x", query: items)
        #expect(url?.text == "http://a:80/p/x?k=v&a%20b=1%262&c=")
    }

    @Test func `the description contains neither path nor query`() throws {
        let url = try HTTPURL("https://hooks.example.com/secret-path?token=secret")
        let destination = Destination(url, addresses: .any)
        var dumped = ""
        dump(destination, to: &dumped)
        for text in ["\(url)", String(reflecting: url), "\(destination)", dumped] {
            #expect(text.contains("https://hooks.example.com:443"))
            #expect(!text.contains("secret"))
        }
    }
}
