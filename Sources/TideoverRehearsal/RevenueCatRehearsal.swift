import TideoverCore
import TideoverHTTP
import TideoverLocks
import TideoverRevenueCat
import TideoverSandbox
import TideoverServer

/// The server's connection to a simulated RevenueCat: its trust and its API access.
struct RevenueCatRehearsal: Sendable {
    let trust: RevenueCatTrust
    let target: ScenarioRelayTarget

    init(_ part: ScenarioRevenueCat, catalogue: Catalogue, clock: @escaping @Sendable () -> Instant)
    {
        let revenueCat = Locked<Handler?>(nil)
        let ask: Handler = { request in
            guard let ask = revenueCat.withLock({ $0 }) else { return Response(status: 503) }
            return try await ask(request)
        }
        var target = ScenarioRelayTarget()
        target.meetRevenueCat = { handler in revenueCat.withLock { $0 = handler } }
        self.target = target
        trust = RevenueCatTrust(
            environments: [.simulated],
            catalogue: catalogue,
            authorization: part.setup.authorization,
            signatureSecret: part.setup.signatureSecret.map { Array($0.utf8) },
            api: RevenueCatAPI(key: part.setup.apiKey, clock: clock, handler: ask)
        )
    }
}
