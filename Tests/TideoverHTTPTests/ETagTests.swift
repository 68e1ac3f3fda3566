import Testing
import TideoverHTTP

@Suite struct ETagTests {
    @Test func `a tag is written in quotes`() {
        #expect(ETag.weak("17").description == "W/\"17\"")
        #expect(ETag.strong("17").description == "\"17\"")
    }

    @Test(arguments: [
        "\"17\"", "W/\"17\"", "\"x\", W/\"17\"", " \"x\",\"17\" ", "*", " * ", ", ,\"17\",,",
    ])
    func `a list that names the tag matches, weak or not`(field: String) {
        #expect(ETag.weak("17").matches(ifNoneMatch: field))
        #expect(ETag.strong("17").matches(ifNoneMatch: field))
    }

    @Test(arguments: [
        "", "17", "\"18\"", "\"17", "w/\"17\"", "\"17\" \"18\"", "\"17\"x", "*, \"17\"", "**",
        "\"1 7\"", "W/ \"17\"", "\"17\", oops",
    ])
    func `anything else does not match`(field: String) {
        #expect(!ETag.weak("17").matches(ifNoneMatch: field))
    }

    @Test func `a request matches a tag in any of its lines`() {
        var request = Request(path: "/")
        #expect(!request.holds(.weak("a")))
        request.headers = ["If-None-Match": "\"b\"", "if-none-match": "W/\"a\""]
        #expect(request.holds(.weak("a")))
        #expect(!request.holds(.weak("c")))
    }

    @Test func `a 304 response has the tag and no body`() {
        let response = Response.notModified(.weak("a"))
        #expect(response.status == 304)
        #expect(response.headers["etag"] == "W/\"a\"")
        #expect(response.body.isEmpty)
    }
}
