import Glibc
import TideoverCommandLine
import TideoverConfiguration

/// The requests that wrk sends.
enum Load {
    case notifications(Corpus)
    /// The share of one of several servers among whom a corpus is divided, numbered from 0.
    case share(of: Corpus, servers: Int, number: Int)
    /// Snapshots of customers, by their ids in a file.
    case reads(of: String)
    /// Snapshots of customers and of their numbered copies, which have the number in their ids.
    case copies(of: String, count: Int)
    /// Pages of the dashboard in a session, by the lines of a file between the parts of a path.
    case pages(of: String, PageSearch, cookie: String)
    /// One path, with a header.
    case path(String, header: Header? = nil)

    struct Header {
        let name: String
        let value: String

        /// The header that presents a key.
        static func authorization(_ key: APIKey) -> Header {
            Header(name: "Authorization", value: "Bearer \(key.text)")
        }
    }

    var words: [String] {
        switch self {
        case .notifications(let corpus): ["notifications", corpus.path]
        case .share(let corpus, let servers, let number):
            ["notifications", corpus.path, "\(servers)", "\(number)"]
        case .reads(let file): ["reads", file, Setting.customers, "?environment=simulated"]
        case .copies(let file, let count):
            ["copies", file, Setting.customers, "?environment=simulated", "\(count)"]
        case .pages(let file, let page, let cookie):
            ["reads", file, page.prefix, page.suffix, cookie]
        case .path(let path, let header):
            ["path", path] + (header.map { [$0.name, $0.value] } ?? [])
        }
    }
}

/// The result of wrk (https://github.com/wg/wrk), which loads all measures over HTTP.
struct LoadResult {
    let requests: Double
    let seconds: Double
    let p50Milliseconds: Double
    let p99Milliseconds: Double

    /// Sends a load for some seconds over several connections.
    ///
    /// - Throws: if a response was not 200, or if the notifications ran out and were sent again.
    static func measure(
        _ load: Load,
        to address: String,
        connections: Int,
        seconds: Int,
        in folder: String
    ) throws -> LoadResult {
        let child = try start(
            load,
            to: address,
            connections: connections,
            seconds: seconds,
            name: "wrk",
            in: folder
        )
        return try LoadResult(of: child)
    }

    /// Starts to send a load. Its output is in files of the name.
    static func start(
        _ load: Load,
        to address: String,
        connections: Int,
        seconds: Int,
        name: String,
        in folder: String
    ) throws -> Child {
        try Child(
            [
                "wrk", "--threads", "1", "--connections", "\(connections)",
                "--duration", "\(seconds)s", "--timeout", "30s", "--script",
                "\(folder)/\(Stage.script)",
                "http://\(address)", "--",
            ] + load.words,
            on: Yardstick.loader,
            name: name,
            in: folder
        )
    }

    /// Waits for the end of a load, and reads its result.
    ///
    /// - Throws: if a response was not 200, or if the notifications ran out and were sent again.
    init(of child: Child) throws {
        let code = child.wait()
        guard code == 0 else {
            throw CommandFailure(.unavailable, "wrk ended with \(code)\n\(Files.text(child.told))")
        }
        let text = Files.text(child.said)
        let line = text.split(separator: "\n").last { $0.hasPrefix("RESULT ") }
        let numbers = line?.split(separator: " ").dropFirst().compactMap { Double($0) } ?? []
        guard numbers.count == 7, numbers[0] > 0 else {
            throw CommandFailure(.unavailable, "wrk said no result:\n\(text)")
        }
        guard numbers[2...4] == [0, 0, 0] else {
            throw CommandFailure(
                .unavailable,
                "\(Int(numbers[2])) answers were errors, \(Int(numbers[3])) requests were lost, "
                    + "the notifications were begun anew \(Int(numbers[4])) times"
            )
        }
        requests = numbers[0]
        seconds = numbers[1] / 1_000_000
        p50Milliseconds = numbers[5] / 1_000
        p99Milliseconds = numbers[6] / 1_000
    }
}

/// A server on the measured core.
final class ServerUnderLoad {
    let child: Child
    let address: String

    /// Starts a server that logs `listening` with its address on standard error, as text or JSON.
    init(_ words: [String], name: String, in folder: String) throws {
        child = try Child(words, on: Yardstick.core, name: name, in: folder)
        address = try Self.address(saidBy: child, words)
    }

    private static func address(saidBy child: Child, _ words: [String]) throws -> String {
        for _ in 0..<200 {
            usleep(20_000)
            let lines = Files.text(child.told).split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
            // The last line may be incomplete.
            for line in lines.dropLast() {
                if line.contains("listening"), let found = line.firstRange(of: "http://") {
                    return String(line[found.upperBound...].prefix { $0 != "\"" })
                }
            }
        }
        child.stop()
        let command = words.joined(separator: " ")
        throw CommandFailure(.unavailable, "\(command) does not listen:\n\(Files.text(child.told))")
    }

    /// Loads the server, and measures its resource usage meanwhile.
    func bear(
        _ load: Load,
        connections: Int = 32,
        seconds: Int,
        in folder: String
    ) throws -> Reading {
        let before = child.processorSeconds
        let result = try LoadResult.measure(
            load,
            to: address,
            connections: connections,
            seconds: seconds,
            in: folder
        )
        return Reading(
            perSecond: result.requests / result.seconds,
            processorMicroseconds: (child.processorSeconds - before) / result.requests * 1_000_000,
            p50Milliseconds: result.p50Milliseconds,
            p99Milliseconds: result.p99Milliseconds,
            peakMegabytes: child.peakMegabytes
        )
    }

    /// Divides a corpus among servers that share the measured core, and loads all of them at once.
    ///
    /// - Returns: The rate and processor time of all; the greatest of their latencies.
    static func bear(
        _ corpus: Corpus,
        together servers: [ServerUnderLoad],
        connections: Int = 32,
        seconds: Int,
        in folder: String
    ) throws -> Reading {
        func processorSeconds() -> Double {
            servers.reduce(0) { $0 + $1.child.processorSeconds }
        }
        let before = processorSeconds()
        let loads = try servers.enumerated().map { number, server in
            try LoadResult.start(
                .share(of: corpus, servers: servers.count, number: number),
                to: server.address,
                connections: connections / servers.count,
                seconds: seconds,
                name: "wrk-\(number)",
                in: folder
            )
        }
        let results = try loads.map { try LoadResult(of: $0) }
        let requests = results.reduce(0) { $0 + $1.requests }
        return Reading(
            perSecond: results.reduce(0) { $0 + $1.requests / $1.seconds },
            processorMicroseconds: (processorSeconds() - before) / requests * 1_000_000,
            p50Milliseconds: results.map(\.p50Milliseconds).max() ?? 0,
            p99Milliseconds: results.map(\.p99Milliseconds).max() ?? 0,
            peakMegabytes: servers.reduce(0) { $0 + $1.child.peakMegabytes }
        )
    }
}
