import Testing
import TideoverJSON

@Suite struct ClosestNameTests {
    static let keys = ["bundleId", "appAppleId", "issuerId", "keyId", "privateKeyFile", "id"]

    @Test(arguments: [
        ("bundelId", "bundleId"), ("bundleID", "bundleId"), ("BUNDLEID", "bundleId"),
        ("bundle", "bundleId"), ("apAppleId", "appAppleId"), ("apppAppleId", "appAppleId"),
        ("keyIdd", "keyId"), ("privateKeyPile", "privateKeyFile"), ("di", "id"), ("ids", "id"),
    ])
    func `a slip of the hand finds what was meant`(name: String, meant: String) {
        #expect(closestName(to: name, among: Self.keys) == meant)
    }

    @Test(arguments: ["", "x", "xy", "colour", "file", "keyFile", "bundleIdentifier"])
    func `what resembles nothing gets no suggestion`(name: String) {
        #expect(closestName(to: name, among: Self.keys) == nil)
    }

    @Test func `of equally close names the first is suggested, and a closer one before it`() {
        #expect(closestName(to: "cat", among: ["car", "can"]) == "car")
        #expect(closestName(to: "event", among: ["evens", "events", "event"]) == "event")
    }

    @Test func `no candidates, no suggestion`() {
        #expect(closestName(to: "id", among: [String]()) == nil)
    }
}
