import Testing
import TideoverConfiguration
import TideoverServer

@testable import TideoverTestServer

/// The settings required to pull notifications of Google Play.
@Suite struct ConfigurationPullTests: ConfigurationSuite {
    private static let pull = #"pull: { subscription: "projects/p/subscriptions/s" }"#
    private static let account = #"serviceAccountFile: "play.json""#

    private func play(_ members: String...) -> String {
        let members = [#"packageName: "com.example.cards""#] + members
        return app("googlePlay: { \(members.joined(separator: ", ")) }")
    }

    @Test func `an app can pull, push or do both`() throws {
        let push = #"push: { audience: "https://a.example", email: "a@b" }"#
        let pulled = try load(play(Self.pull, Self.account)).apps.first?.googlePlay
        #expect(pulled?.pull == "projects/p/subscriptions/s")
        #expect(pulled?.audience == nil)
        #expect(pulled?.email == nil)
        let both = try load(play(Self.pull, Self.account, push)).apps.first?.googlePlay
        #expect(both?.pull == "projects/p/subscriptions/s")
        #expect(both?.audience == "https://a.example")
        let pushed = try load(play(push)).apps.first?.googlePlay
        #expect(pushed?.pull == nil)
    }

    @Test func `a pull needs a service account`() {
        #expect(reasons(play(Self.pull)) == [.missing(.fileName)])
    }

    @Test func `Google Play without a push and a pull is rejected`() {
        #expect(reasons(play(Self.account)) == [.missing(.pushOrPull)])
        #expect(
            problems(play()) == [
                "1:64: apps[0].googlePlay.push: missing; expected `push.audience` and "
                    + "`push.email`, or `pull.subscription`: without them no notification of "
                    + "Google Play arrives"
            ]
        )
        let variable = "TIDEOVER_APPS_CARDS_GOOGLE_PLAY_PULL_SUBSCRIPTION"
        let pulled = [variable: "projects/p/subscriptions/s"]
        #expect(reasons(play(Self.account), pulled) == [])
    }

    @Test func `a subscription needs its full name`() {
        let wrong = play(#"pull: { subscription: "play" }"#, Self.account)
        #expect(expectations(wrong) == [.pubSubSubscription])
        #expect(reasons(play("pull: {}", Self.account)) == [.missing(.pubSubSubscription)])
    }

    @Test func `an incomplete push is rejected, also with a pull`() {
        let half = play(Self.pull, Self.account, #"push: { email: "a@b" }"#)
        #expect(reasons(half) == [.missing(.text)])
    }
}
