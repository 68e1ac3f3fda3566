import Testing
import TideoverJSON

@Suite struct ClosestNameTests {
    static let keys = ["bundleId", "appAppleId", "issuerId", "keyId", "privateKeyFile", "id"]

    @Test(arguments: [
        ("bundelId", "bundleId"), ("bundleID", "bundleId"), ("BUNDLEID", "bundleId"),
        ("bundle", "bundleId"), ("apAppleId", "appAppleId"), ("apppAppleId", "appAppleId"),
        ("keyIdd", "keyId"), ("privateKeyPile", "privateKeyFile"), ("di", "id"), ("ids", "id"),
    ])
    func `a typing error gets the intended name`(name: String, meant: String) {
        #expect(closestName(to: name, among: Self.keys) == meant)
    }

    @Test(arguments: ["", "x", "xy", "colour", "file", "keyFile", "bundleIdentifier"])
    func `a name that resembles none gets no suggestion`(name: String) {
        #expect(closestName(to: name, among: Self.keys) == nil)
    }

    @Test func `the first of equally close names is suggested, a closer one before it`() {
        #expect(closestName(to: "cat", among: ["car", "can"]) == "car")
        #expect(closestName(to: "event", among: ["evens", "events", "event"]) == "event")
    }

    @Test(arguments: [
        ("publicUrl", "publicURL"), ("lisen", "listen"), ("stor", "storage"), ("sto", "storage"),
        ("webhook", "webhooks"),
    ])
    func `the only name with the same beginning is suggested too`(name: String, meant: String) {
        let keys = ["listen", "publicURL", "storage", "webhooks", "app"]
        #expect(closestName(to: name, among: keys) == meant)
    }

    @Test func `a beginning shared by several names suggests none`() {
        #expect(closestName(to: "--app", among: ["--apple-number", "--app-identifier"]) == nil)
        #expect(closestName(to: "--", among: ["--json"]) == nil)
    }

    @Test func `a very long name is handled cheaply and suggests none`() {
        let long = String(repeating: "a", count: 1_000_000)
        #expect(closestName(to: long, among: [long]) == nil)
    }

    @Test func `without candidates there is no suggestion`() {
        #expect(closestName(to: "id", among: [String]()) == nil)
    }
}
