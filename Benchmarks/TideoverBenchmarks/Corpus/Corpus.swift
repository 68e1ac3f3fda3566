import Glibc
import TideoverCommandLine
import TideoverSandbox

/// A file of distinct notifications. Each is a complete HTTP request after its length in eight
/// digits.
struct Corpus: Sendable {
    let path: String
    let count: Int
    /// The average length of a notification's body in bytes.
    let bodyBytes: Int

    /// The number of customers whose messages alternate, so that a customer's messages are that far
    /// apart.
    private static let block = 50

    /// Creates `count` notifications about the customers from number `first` on. Each customer
    /// began `months` ago and so has about that many messages plus one.
    static func mint(
        _ count: Int,
        of store: Store,
        to path: String,
        customersFrom first: Int,
        months: Int,
        now: Int64
    ) async throws -> Corpus {
        guard let file = fopen(path, "w") else {
            throw CommandFailure(.cannotCreate, "cannot write \(path)")
        }
        defer { fclose(file) }
        var (written, bytes) = (0, 0)
        var next = first
        while written < count {
            let batch = try await bodies(of: store, blocksFrom: next, months: months, now: now)
            next += batch.count * block
            for body in batch.joined().prefix(count - written) {
                write(Self.request(body), to: file)
                written += 1
                bytes += body.count
            }
        }
        return Corpus(path: path, count: written, bodyBytes: bytes / max(1, written))
    }

    /// Returns the bodies of some blocks of customers, block by block.
    private static func bodies(
        of store: Store,
        blocksFrom first: Int,
        months: Int,
        now: Int64
    ) async throws -> [[[UInt8]]] {
        try await withThrowingTaskGroup(of: (Int, [[UInt8]]).self) { group in
            for number in 0..<4 {
                group.addTask { @concurrent in
                    let customers = (first + number * block)..<(first + (number + 1) * block)
                    let said = try customers.flatMap { customer in
                        try Subscriber(customer, months: months, now: now)
                            .notifications(until: now)
                    }
                    let inOrder = said.sorted { $0.at < $1.at }
                    return (number, try inOrder.map { try store.body(of: $0) })
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
                .sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private static func request(_ body: [UInt8]) -> [UInt8] {
        let head =
            "POST \(Setting.notifications) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
        return Array(head.utf8) + body
    }

    private static func write(_ request: [UInt8], to file: UnsafeMutablePointer<FILE>) {
        let digits = String(request.count)
        let length = String(repeating: "0", count: 8 - digits.count) + digits
        fwrite(Array(length.utf8), 1, 8, file)
        fwrite(request, 1, request.count, file)
    }

    /// Returns the bodies of the first notifications of a file.
    static func bodies(in path: String, atMost count: Int) throws -> [[UInt8]] {
        guard let file = fopen(path, "r") else {
            throw CommandFailure(.noInput, "cannot read \(path)")
        }
        defer { fclose(file) }
        var bodies: [[UInt8]] = []
        while bodies.count < count, let length = read(8, from: file),
            let size = Int(String(decoding: length, as: UTF8.self)),
            let request = read(size, from: file)
        {
            // The head of the request contains no `{`.
            bodies.append(Array(request.drop { $0 != UInt8(ascii: "{") }))
        }
        return bodies
    }

    private static func read(
        _ count: Int,
        from file: UnsafeMutablePointer<FILE>
    ) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return fread(&bytes, 1, count, file) == count ? bytes : nil
    }
}
