import Testing
import TideoverHTTP

/// Reading `Accept-Language`.
@Suite struct AcceptLanguageTests {
    @Test(
        arguments: [
            ("de", ["de"]), ("de-AT, de;q=0.9, en;q=0.8", ["de-AT", "de", "en"]),
            ("en;q=0.2,fr;q=0.8,it", ["it", "fr", "en"]), ("a,b,c", ["a", "b", "c"]),
            ("de;q=0", []), ("de;q=0.000,fr;q=1.000", ["fr"]), ("de ; Q=0.5 , fr", ["fr", "de"]),
            ("*;q=0.1,ja", ["ja"]), ("de;q=2,fr;q=x,it;q=0.1234,es;q=,ko;q=-1,zh", ["zh"]),
            ("de;level=1;q=0.5", []), ("", []), (",,", []), ("d\u{e9}", []), ("de_AT", []),
            (String(repeating: "a", count: 36), []),
        ] as [(String, [String])]
    )
    func `languages are ordered by their quality`(header: String, tags: [String]) {
        let request = Request(method: "GET", path: "/", headers: ["Accept-Language": header])
        #expect(request.acceptedLanguages == tags)
    }

    @Test func `only sixteen ranges are read`() {
        let header = (0..<20).map { "x\($0)" }.joined(separator: ",")
        let request = Request(method: "GET", path: "/", headers: ["Accept-Language": header])
        #expect(request.acceptedLanguages == (0..<16).map { "x\($0)" })
        #expect(Request(method: "GET", path: "/").acceptedLanguages == [])
    }
}
