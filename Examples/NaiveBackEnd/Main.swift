import Glibc
import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer

/// Serves the naive back end on loopback, at the given port or 8090, until it is stopped.
///
/// A second argument names the key file for queries to Google, such as
/// `store/service-account.json`. The variable `NAIVE_CHECK` selects the date that is compared with
/// the clock: `expiry` (the default) or `grace`. `NAIVE_ROOT` names the trusted root certificate,
/// such as `store/root.der`. Without it, signatures are not verified.
@main
enum Main {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let port = arguments.first.flatMap { Int($0) } ?? 8090
        let play = try arguments.dropFirst().first.map { path in
            try PlayClient(keyFile: file(path), connect: connect)
        }
        let root = try variable("NAIVE_ROOT").map(file)
        let backEnd = try NaiveBackEnd(check(), root: root, play: play, clock: time)
        let server = try HTTPServer(port: port, handler: backEnd.handler)
        // Not by `print`, which buffers unless the output is a terminal.
        let words = Array("a naive back end on http://\(server.address)\n".utf8)
        write(STDOUT_FILENO, words, words.count)
        try await Task.sleep(for: .seconds(1 << 30))
    }

    private static func check() -> NaiveBackEnd.Check {
        let name = variable("NAIVE_CHECK") ?? NaiveBackEnd.Check.expiry.rawValue
        guard let check = NaiveBackEnd.Check(rawValue: name) else {
            let names = NaiveBackEnd.Check.allCases.map(\.rawValue).joined(separator: " or ")
            end("unknown NAIVE_CHECK '\(name)'; set it to \(names)", code: 64)
        }
        return check
    }

    /// A rehearsal with --authority creates the files, so the back end starts second.
    private static func file(_ path: String) throws -> [UInt8] {
        guard access(path, F_OK) == 0 else {
            end("no \(path) yet: a rehearsal with --authority makes it", code: 66)
        }
        return try FileInput.read(path, atMost: 1 << 16)
    }

    private static func end(_ sentence: String, code: Int32) -> Never {
        let words = Array("\(sentence)\n".utf8)
        write(STDERR_FILENO, words, words.count)
        exit(code)
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    private static let hasOwnClock = variable("NAIVE_CLOCK") == "own"

    /// The author of the key file chose the host, so any address is allowed.
    private static func connect(to origin: String) throws -> Handler {
        try HTTPClient(userAgent: "naive").handler(
            under: Destination(try HTTPURL(origin), addresses: .any, limits: .storeAnswer)
        )
    }

    /// Returns the store's time from the request if a rehearsal sent it, as milliseconds since
    /// 1970. Otherwise, or if the variable `NAIVE_CLOCK` is `own`, returns the machine's time.
    private static func time(of request: Request) -> Int64 {
        if !hasOwnClock,
            let told = request.headers["Tideover-Clock"].flatMap({ Instant(rfc3339: $0) })
        {
            return told.millisecondsSince1970
        }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }
}
