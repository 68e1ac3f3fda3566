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

    @Test(arguments: [
        ("publicUrl", "publicURL"), ("lisen", "listen"), ("stor", "storage"), ("sto", "storage"),
        ("webhook", "webhooks"),
    ])
    func `the only name that begins like it is suggested too`(name: String, meant: String) {
        let keys = ["listen", "publicURL", "storage", "webhooks", "app"]
        #expect(closestName(to: name, among: keys) == meant)
    }

    @Test func `a beginning shared by several suggests none of them`() {
        #expect(closestName(to: "--app", among: ["--apple-number", "--app-identifier"]) == nil)
        #expect(closestName(to: "--", among: ["--json"]) == nil)
    }

    @Test func `a very long name costs nothing and suggests nothing`() {
        let long = String(repeating: "a", count: 1_000_000)
        #expect(closestName(to: long, among: [long]) == nil)
    }

    @Test func `no candidates, no suggestion`() {
        #expect(closestName(to: "id", among: [String]()) == nil)
    }
}
