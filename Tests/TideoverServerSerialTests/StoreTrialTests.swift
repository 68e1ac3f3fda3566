import Testing
import TideoverAppStore
import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverJSON
import TideoverRehearsal
import TideoverSandbox
import TideoverServer
import TideoverSignatures

@testable import TideoverTestServer

/// The doctor requests a test notification from the simulated store.
@Suite struct StoreTrialTests {
    /// The outcome of the store's delivery, in steps of two seconds of waiting.
    private enum Post {
        /// The server receives it.
        case delivered
        /// The attempt ends with this result, and the server receives nothing.
        case ends(AppStorePost.SendResult)
        /// The server receives it, and the attempt still ends with this result.
        case deliveredYet(AppStorePost.SendResult)
        /// The store sends nothing.
        case stands
    }

    private struct World {
        let rehearsed: RehearsedStore
        let time: TestTime
        let backEnd: RehearsedBackEnd

        init() throws {
            rehearsed = try RehearsedStore()
            time = TestTime(movesClock: true)
            backEnd = try RehearsedBackEnd(rehearsed, time)
        }

        func trial(
            _ access: StoreAccess? = nil,
            trust other: AppStoreTrust? = nil,
            clockAhead: Milliseconds = .zero,
            post: Post = .delivered
        ) throws -> StoreTrial {
            let trust = try other ?? #require(backEnd.app.appStore)
            return StoreTrial(
                access ?? rehearsed.access(),
                of: backEnd.app.id,
                identity: trust.identity,
                verification: StoreTrial.Verification(
                    check: { trust.check(at: $0) },
                    reason: AppStoreTrust.reason
                ),
                clock: { [time] in time.clock.now + clockAhead },
                uptime: { [time] in time.uptime },
                sleep: { [self] duration in
                    try await time.sleep(duration)
                    try await pass(post)
                },
                patience: .seconds(60)
            )
        }

        private func pass(_ post: Post) async throws {
            if case .stands = post { return }
            let now = time.clock.now.millisecondsSince1970
            while let attempt = try await rehearsed.store.advance(to: now) {
                switch post {
                case .delivered:
                    let status = try await backEnd.post(attempt.body)
                    await rehearsed.store.end(attempt, .init(status: status))
                case .deliveredYet(let result):
                    _ = try await backEnd.post(attempt.body)
                    await rehearsed.store.end(attempt, result)
                case .ends(let result): await rehearsed.store.end(attempt, result)
                case .stands: break
                }
            }
        }

        @Sendable func arrivals() async throws -> [TestArrival] {
            guard
                let request = Request(
                    method: "GET",
                    target: "/v1/apps/cards/arrivals?environment=simulated",
                    headers: TestServer.credentials,
                    body: []
                )
            else { return [] }
            let answer = try await backEnd.service.handler(request)
            return TestArrival.all(in: try JSONDocument(answer.body).root)
        }

        func findings(_ trial: StoreTrial) async throws -> [Finding] {
            let reading = try await trial.run(arrivals: arrivals, telling: { _ in })
            await backEnd.close()
            return Finding.store(reading)
        }
    }

    private func verdicts(_ findings: [Finding]) -> [String] {
        findings.map { "\($0.check.rawValue) \($0.verdict.rawValue)" }
    }

    @Test func `a test notification arrives and is timed`() async throws {
        let world = try World()
        let findings = try await world.findings(try world.trial())
        #expect(
            verdicts(findings)
                == ["store-key ok", "store-clock ok", "store-bundle ok", "test-notification ok"]
        )
        #expect(findings.allSatisfy { $0.subject == "cards simulated" })
        // The trial checks every two seconds; the store sends after one.
        #expect(findings.last?.detail == "it arrived 2.0 s after the request")
    }

    @Test(arguments: [
        (AppStorePost.SendResult.timedOut, "too long", "slow proxy"),
        (.tlsIssue, "TLS", "certificate"),
        (.circularRedirect, "circle", "without a redirect"),
        (.noResponse, "no server answered", "firewall"),
        (.socketIssue, "connection broke", "port"),
        (.unsupportedCharset, "charset", "proxy"),
        (.invalidResponse, "as HTTP", "proxy"),
        (.prematureClose, "closed", "time limits"),
        (.unsuccessfulStatus, "error status", "404"),
        (.other, "does not report why", "Try again"),
        (.success, "another server", "App Store Connect"),
    ])
    func `each result of the store's attempt has its advice`(
        result: AppStorePost.SendResult,
        detail: String,
        advice: String
    ) async throws {
        let world = try World()
        let findings = try await world.findings(try world.trial(post: .ends(result)))
        let finding = try #require(findings.last)
        #expect(finding.check == .testNotification)
        #expect(finding.verdict == .problem)
        #expect(finding.detail.contains(detail), "\(finding.detail)")
        #expect(finding.advice?.contains(advice) == true, "\(finding.advice ?? "")")
    }

    @Test func `a notification that arrives but fails for the store is a problem`() async throws {
        let world = try World()
        let findings = try await world.findings(try world.trial(post: .deliveredYet(.timedOut)))
        #expect(verdicts(findings).last == "test-notification problem")
        #expect(findings.last?.detail.contains("arrived 2.0 s") == true)
    }

    @Test func `the trial waits a bounded time for a store that sends nothing`() async throws {
        let world = try World()
        let begun = world.time.uptime
        let findings = try await world.findings(try world.trial(post: .stands))
        #expect(
            verdicts(findings) == ["store-key ok", "store-clock ok", "test-notification warning"]
        )
        #expect(findings.last?.detail.contains("within 60 s") == true)
        #expect(world.time.uptime - begun == 60_000_000_000)
    }

    @Test func `an unreachable server is not reported as a problem of the store`() async throws {
        struct Deaf: Error, CustomStringConvertible { let description = "it is deaf" }
        let world = try World()
        let trial = try world.trial()
        let reading = try await trial.run(arrivals: { throw Deaf() }, telling: { _ in })
        let finding = try #require(Finding.store(reading).last)
        #expect(finding.verdict == .warning)
        #expect(finding.detail.contains("it is deaf"))
        await world.backEnd.close()
    }

    private struct Unreachable: Error {}

    @Test(arguments: [nil, 500, 503] as [Int?])
    func `a store that is down is reported without a wait`(status: Int?) async throws {
        let world = try World()
        let access = world.rehearsed.access { _ in
            if status == nil { throw Unreachable() }
        }
        if let status {
            await world.rehearsed.store.add(
                AppStoreFaultRule(.unavailable(status: status), times: nil)
            )
        }
        let findings = try await world.findings(try world.trial(access))
        #expect(findings.first?.check == .storeKey)
        #expect(findings.first?.verdict == .warning)
        #expect(!findings.contains { $0.check == .testNotification })
        #expect(world.time.uptime == 0)
    }

    @Test(arguments: [
        (Milliseconds.hours(2), "ahead of"), (Milliseconds(-Milliseconds.hours(2).count), "behind"),
    ])
    func `a wrong clock and a wrong key are distinguished`(
        ahead: Milliseconds,
        side: String
    ) async throws {
        let world = try World()
        let findings = try await world.findings(try world.trial(clockAhead: ahead))
        #expect(verdicts(findings) == ["store-key problem", "store-clock problem"])
        for finding in findings { #expect(finding.detail.contains("7200 s \(side)")) }
    }

    @Test func `a wrong key is reported with advice`() async throws {
        let world = try World()
        let stranger = P256PrivateKey.generate()
        let access = StoreAccess(
            environment: .simulated,
            key: TideoverAppStore.AppStoreAPIKey(
                issuerId: AppStoreRehearsal.issuerId,
                keyId: AppStoreRehearsal.keyId,
                bundleId: "com.example.cards"
            ),
            signer: { stranger.sign($0) },
            handler: world.rehearsed.store.serverAPI
        )
        let findings = try await world.findings(try world.trial(access))
        #expect(verdicts(findings) == ["store-key problem", "store-clock ok"])
        #expect(findings.first?.advice?.contains("issuerId") == true)
    }

    @Test func `an app without a URL for notifications is a problem`() async throws {
        let world = try World()
        await world.rehearsed.store.setHasNotificationURL(false)
        let findings = try await world.findings(try world.trial())
        #expect(
            verdicts(findings) == ["store-key ok", "store-clock ok", "test-notification problem"]
        )
    }

    @Test func `data that the store signs for another app is rejected`() async throws {
        let world = try World()
        let other = AppStoreTrust(
            identity: AppStoreIdentity(
                bundleId: "com.example.other",
                appAppleId: 1_234_567_890,
                environments: [.simulated]
            ),
            authorities: try AppStoreTrust.roots(
                simulated: TrustAnchor(
                    name: "simulated",
                    der: world.rehearsed.authority.root
                )
            )
        )
        let findings = try await world.findings(try world.trial(trust: other))
        let bundle = try #require(findings.first { $0.check == .storeBundle })
        #expect(bundle.verdict == .problem)
        #expect(bundle.detail.contains("com.example.other"))
    }

    @Test func `without a server the trial checks the key and requests no test`() async throws {
        let world = try World()
        let findings = Finding.store(try await world.trial().knock())
        #expect(verdicts(findings) == ["store-key ok", "store-clock ok", "test-notification ok"])
        // A server may listen, and could not be asked to.
        #expect(findings.last?.detail.contains("from a simulated store") == true)
        #expect(await world.rehearsed.store.letters.isEmpty)
        await world.rehearsed.store.add(AppStoreFaultRule(.unauthorized))
        let refused = Finding.store(try await world.trial().knock())
        #expect(verdicts(refused).first == "store-key problem")
        await world.backEnd.close()
    }
}
