import Testing
import TideoverHTTP

@Suite struct HeadersTests {
    @Test func `names compare without regard to case and keep their order`() {
        var headers: Headers = ["X-A": "1", "x-b": "2", "x-a": "3"]
        #expect(headers["X-a"] == "1")
        #expect(headers.all("x-A") == ["1", "3"])
        headers["X-A"] = "4"
        #expect(headers.fields.map(\.name) == ["x-b", "X-A"])
        headers["x-B"] = nil
        #expect(headers == ["X-A": "4"])
    }

    @Test func `names with other letters are different`() {
        let headers: Headers = ["@a": "1", "[": "2"]
        #expect(headers["`a"] == nil)
        #expect(headers["{"] == nil)
    }
}
