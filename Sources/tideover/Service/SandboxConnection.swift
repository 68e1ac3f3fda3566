import TideoverConfiguration
import TideoverHTTP
import TideoverHTTPClient

/// The connection of a rehearsal's server to the simulated stores that its clock follows.
///
/// `tideover serve --clock` serves only apps that are simulated, so no other server has it.
struct SandboxConnection: Sendable {
    private let clock: FollowedClock
    /// Where the stores' clock is read.
    private let url: HTTPURL
    private let client: HTTPClient

    init(_ clock: FollowedClock, at url: HTTPURL) throws(HTTPClientError) {
        self.clock = clock
        self.url = url
        client = try HTTPClient(userAgent: "tideover/\(Tideover.version)")
    }

    /// Returns the stores' control server for each app with this clock.
    func controls(_ configuration: Configuration) -> [String: Handler] {
        var controls: [String: Handler] = [:]
        for app in configuration.apps {
            guard let stores = app.simulatedStore?.url.flatMap({ try? HTTPURL($0) }),
                stores.appending(path: "/clock") == url
            else { continue }
            controls[app.id] = control(of: stores)
        }
        return controls
    }

    /// The server's clock follows each step at once, so that a page shows the time after it.
    private func control(of stores: HTTPURL) -> Handler {
        var limits = ExchangeLimits.storeAnswer
        // A leap of a year plays everything that happens in it.
        limits.total = .seconds(120)
        let ask = client.handler(under: Destination(stores, addresses: .any, limits: limits))
        return { [clock] request in
            let response = try await ask(request)
            try await clock.look()
            return response
        }
    }
}
