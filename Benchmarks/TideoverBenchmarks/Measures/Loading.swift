import Glibc
import TideoverCommandLine
import TideoverHTTP
import TideoverSQLite
import TideoverServer

/// Fills a database as a server would: every customer's notifications are verified and committed.
struct Loading {
    let path: String
    let app: App
    let store: Store
    let now: Int64

    /// The number of notifications processed concurrently.
    private static let width = 64

    /// Loads the customers of these numbers. Each has one month of history and so one or two
    /// messages.
    func load(_ customers: Range<Int>) async throws {
        let storage = try SQLiteStorage(path: path)
        do {
            let service = try Service(
                apps: [app],
                storage: storage,
                version: "1",
                clock: Setting.now,
                log: { _ in },
                verifications: WorkLimits(running: 2, waiting: Self.width)
            )
            try await send(customers, to: service.handler)
        } catch {
            await storage.close()
            throw error
        }
        await storage.close()
    }

    private func send(_ customers: Range<Int>, to handler: @escaping Handler) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var rest = customers.makeIterator()
            for _ in 0..<Self.width {
                guard let customer = rest.next() else { break }
                group.addTask { @concurrent in try await send(customer, to: handler) }
            }
            while try await group.next() != nil {
                guard let customer = rest.next() else { continue }
                group.addTask { @concurrent in try await send(customer, to: handler) }
            }
        }
    }

    private func send(_ number: Int, to handler: Handler) async throws {
        let customer = Subscriber(number, months: 0, now: now)
        for notification in try customer.notifications(until: now) {
            let request = Request(
                method: "POST",
                path: Setting.notifications,
                body: try store.body(of: notification)
            )
            let response = try await handler(request)
            guard response.status == 200 else {
                let body = String(decoding: response.body, as: UTF8.self)
                throw CommandFailure(.software, "a notification was not committed: \(body)")
            }
        }
    }

    /// Writes the ids of customers, one per line.
    static func writeIDs(of customers: Range<Int>, now: Int64, to path: String) throws {
        let lines = customers.map { Subscriber($0, months: 0, now: now).token }
        try Files.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: path)
    }
}
