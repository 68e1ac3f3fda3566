import Synchronization
import TideoverHTTP
import TideoverLocks
import TideoverServer

/// The current service, which can be replaced while requests run.
final class LiveService: Sendable {
    /// A service and the number of its running requests.
    private final class Place: Sendable {
        let service: Service
        let running = Atomic(0)
        /// The handlers, created once: each contains a copy of the service.
        private let handlers: [Service.Entrance: Handler]

        init(_ service: Service) {
            self.service = service
            handlers = Dictionary(
                uniqueKeysWithValues: Service.Entrance.allCases.map {
                    ($0, service.handler(at: $0))
                }
            )
        }

        func handler(at entrance: Service.Entrance) -> Handler {
            handlers[entrance] ?? service.handler(at: entrance)
        }
    }

    private let current: Locked<Place>
    let threads: TaskThreads?

    /// Requests run on `threads`, if there are any.
    init(_ service: Service, on threads: TaskThreads? = nil) {
        self.threads = threads
        current = Locked(Place(service))
    }

    var service: Service { current.withLock { $0 }.service }

    /// Passes each request to the service that is current when it arrives.
    func handler(at entrance: Service.Entrance = .all) -> Handler {
        { request in
            let place = self.current.withLock { place in
                place.running.add(1, ordering: .relaxed)
                return place
            }
            defer { place.running.subtract(1, ordering: .releasing) }
            guard let threads = self.threads else {
                return try await place.handler(at: entrance)(request)
            }
            return try await threads.run {
                try await place.handler(at: entrance)(request)
            }
        }
    }

    /// Replaces the current service. The returned function waits until the former one has answered
    /// all of its requests, for at most `patience`.
    func replace(
        by service: Service,
        patience: Duration = .seconds(10)
    ) -> @Sendable () async -> Void {
        let place = Place(service)
        let former = current.withLock { current in
            let former = current
            current = place
            return former
        }
        return {
            let deadline = ContinuousClock.now + patience
            while former.running.load(ordering: .acquiring) > 0, ContinuousClock.now < deadline {
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }
}
