import Glibc
import TideoverCommandLine
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

/// A request that a command makes for the operator: to the running server, or, while nobody has the
/// storage, to a service of the command's own. Both answer the same, since both are the same.
struct Errand {
    static let server = Parameter.option(
        "--server",
        "URL",
        "Ask the server at this URL",
        as: ValueForm("an http or https URL") { try? HTTPURL($0) }
    )
    static let note =
        "While a server runs, its user and root need no key: the command reaches it by the socket beside "
        + "the database. Without a server it works on the database itself. --server asks the server "
        + "at a URL, with the admin key in the file that server.adminKeyFile names."

    typealias Finish = (Service) async throws -> Response

    private let configuration: Configuration
    private let path: String
    private let server: HTTPURL?
    private let output: Output

    /// An errand under the configuration read from `path`; `server` leaves no choice whom to ask.
    init(_ configuration: Configuration, _ path: String, server: HTTPURL?, _ output: Output) {
        self.configuration = configuration
        self.path = path
        self.server = server
        self.output = output
    }

    /// The answer to a request, which a server may answer to a key only. A slip in the database's path
    /// should make none, unless it is made on purpose.
    ///
    /// One that only reads leaves the database as it is. `finish` is what a service of the command's own is to do after it has answered, since it ends with
    /// the errand; what that answers counts instead.
    ///
    /// - Throws: `CommandFailure` for whatever is no success.
    func run(
        _ request: Request,
        needsKey: Bool = true,
        makesDatabase: Bool = false,
        onlyReads: Bool = false,
        asksStores: Bool = false,
        finish: Finish? = nil
    ) async throws -> JSONNode {
        if let server {
            return try await ask(server, request, needsKey: needsKey, because: "--server was given")
        }
        guard case .sqlite(let file) = configuration.storage else {
            preconditionFailure("only SQLite is read")
        }
        guard makesDatabase || access(file, F_OK) == 0 else { throw Self.noDatabase(file) }
        do {
            let storage = try onlyReads ? SQLiteStorage(reading: file) : SQLiteStorage(path: file)
            return try await ask(storage, request, finish, asksStores: asksStores || finish != nil)
        } catch let error as StorageError {
            guard case .locked(let holder) = error.reason else {
                throw CommandFailure(.cannotCreate, "\(error)")
            }
            return try await askRunning(file, request, needsKey: needsKey, holder: holder)
        }
    }

    /// The answer of the running server; nothing is done without one.
    func runOnServer(_ request: Request) async throws -> JSONNode {
        if let server {
            return try await ask(server, request, needsKey: true, because: "--server was given")
        }
        guard case .sqlite(let file) = configuration.storage else {
            preconditionFailure("only SQLite is read")
        }
        guard access(Self.socket(besides: file), F_OK) == 0 else {
            throw CommandFailure(
                .unavailable,
                "no server of \(path) runs on this machine\n--server names one at a URL."
            )
        }
        return try await askRunning(file, request, needsKey: true, holder: nil)
    }

    /// Asks one request, as part of a longer errand.
    ///
    /// - Throws: `CommandFailure` for whatever is no success.
    typealias Ask = (Request) async throws -> JSONNode

    /// Runs an errand of many requests, all to the same: to the server, or to one service of the
    /// command's own.
    func converse<Result>(
        makesDatabase: Bool = false,
        _ body: (@escaping Ask) async throws -> Result
    ) async throws -> Result {
        if let server {
            return try await body {
                try await ask(server, $0, needsKey: true, because: "--server was given")
            }
        }
        guard case .sqlite(let file) = configuration.storage else {
            preconditionFailure("only SQLite is read")
        }
        guard makesDatabase || access(file, F_OK) == 0 else { throw Self.noDatabase(file) }
        let storage: SQLiteStorage
        do {
            storage = try SQLiteStorage(path: file)
        } catch {
            guard case .locked(let holder) = error.reason else {
                throw CommandFailure(.cannotCreate, "\(error)")
            }
            return try await body {
                try await askRunning(file, $0, needsKey: true, holder: holder)
            }
        }
        return try await converse(with: storage, body)
    }

    /// Runs an errand of many requests over a database that is thrown away.
    func rehearse<Result>(_ body: (@escaping Ask) async throws -> Result) async throws -> Result {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        return try await converse(with: try SQLiteStorage(path: "\(folder.path)/x.db"), body)
    }

    private func converse<Result>(
        with storage: SQLiteStorage,
        _ body: (@escaping Ask) async throws -> Result
    ) async throws -> Result {
        do {
            let key = APIKey(.admin) { .random(in: .min ... .max) }
            let service = try service(on: storage, key)
            let result = try await body {
                try Self.content(of: try await service.handler($0.presenting(key)))
            }
            await storage.close()
            return result
        } catch {
            await storage.close()
            throw error
        }
    }

    // MARK: The storage

    static func noDatabase(_ file: String) -> CommandFailure {
        CommandFailure(
            .noInput,
            "there is no database at \(file)\n`tideover serve` makes it when it first starts."
        )
    }

    private static func inUse(_ file: String, by holder: Int32?) -> String {
        let process = holder.map { "process \($0)" } ?? "another process"
        return "\(file) is in use by \(process), most likely a running server"
    }

    /// A service that lives as long as the errand, with a key that nobody else ever sees.
    private func service(
        on storage: SQLiteStorage,
        _ key: APIKey,
        asksStores: Bool = false
    ) throws -> Service {
        let connections = asksStores ? try StoreConnections(configuration) : nil
        return try Service(
            apps: try configuration.apps.map {
                try App($0, googlePlay: connections?.googlePlay[$0.id])
            },
            storage: storage,
            version: Tideover.version,
            clock: SystemClock.now,
            log: { [output] line in
                guard line.level == .error, let detail = line.detail else { return }
                output.message("tideover: \(detail)")
            },
            adminKey: key,
            access: connections?.access ?? [:]
        )
    }

    /// Asks a service that lives for this one request, with a key that nobody else ever sees.
    private func ask(
        _ storage: SQLiteStorage,
        _ request: Request,
        _ finish: Finish?,
        asksStores: Bool
    ) async throws -> JSONNode {
        do {
            let key = APIKey(.admin) { .random(in: .min ... .max) }
            let service = try service(on: storage, key, asksStores: asksStores)
            var answer = try await service.handler(request.presenting(key))
            if let finish, answer.status < 300 { answer = try await finish(service) }
            await storage.close()
            return try Self.content(of: answer)
        } catch {
            await storage.close()
            throw error
        }
    }

    // MARK: The server

    /// The socket by which a server of a database is reached on its own machine.
    static func socket(besides database: String) -> String { "\(database).sock" }

    /// Whether a socket belongs to the database's owner, this user or root. In a folder that others
    /// can write to, another user could have made one first.
    private static func isTrusted(_ socket: String, of database: String) -> Bool {
        var entry = stat()
        guard lstat(socket, &entry) == 0, entry.st_mode & S_IFMT == S_IFSOCK else { return false }
        var owner = stat()
        let isOfOwner = stat(database, &owner) == 0 && owner.st_uid == entry.st_uid
        return isOfOwner || entry.st_uid == geteuid() || entry.st_uid == 0
    }

    /// Asks the server that has the database: by its socket, or by TCP where it has none.
    private func askRunning(
        _ file: String,
        _ request: Request,
        needsKey: Bool,
        holder: Int32?
    ) async throws -> JSONNode {
        let socket = Self.socket(besides: file)
        if access(socket, R_OK | W_OK) == 0, Self.isTrusted(socket, of: file) {
            do {
                let local = try HTTPURL("http://localhost")
                return try Self.content(of: try await Self.client(of: local, socket)(request))
            } catch let error as HTTPClientError {
                guard case .cannotConnect = error else {
                    throw CommandFailure(
                        .unavailable,
                        "the server did not answer at \(socket): \(error)"
                    )
                }
            }
        }
        return try await ask(
            try listening(),
            request,
            needsKey: needsKey,
            because: Self.inUse(file, by: holder)
        )
    }

    private func ask(
        _ url: @autoclosure () throws -> HTTPURL,
        _ request: Request,
        needsKey: Bool,
        because reason: String
    ) async throws -> JSONNode {
        let key = try ConfigurationFile.adminKey(of: configuration)
        guard key != nil || !needsKey else {
            throw CommandFailure(
                .unavailable,
                "\(reason), and there is no admin key to ask it with\n"
                    + "Set server.adminKeyFile in \(path) and restart the server, or stop the "
                    + "server for as long as this takes."
            )
        }
        let server = try url()
        if key != nil, server.scheme == .http, !server.isThisMachine {
            output.message("tideover: the admin key goes to \(server) in the clear; better https")
        }
        do {
            let answer = try await Self.client(of: server)(key.map(request.presenting) ?? request)
            return try Self.content(of: answer)
        } catch let error as HTTPClientError {
            throw CommandFailure(
                .unavailable,
                "\(reason); it did not answer at \(server): \(error)\n"
                    + "--server names another URL."
            )
        }
    }

    /// The operator has named the server: any address will do.
    private static func client(of server: HTTPURL, _ socket: String? = nil) throws -> Handler {
        var limits = ExchangeLimits()
        limits.total = .seconds(60)
        limits.bodyBytes = 64 << 20
        let client = try HTTPClient(userAgent: "tideover/\(Tideover.version)")
        return client.handler(
            under: Destination(server, addresses: .any, limits: limits, socket: socket)
        )
    }

    /// Where a server of this configuration is reached from this machine.
    private func listening() throws -> HTTPURL {
        let listen = configuration.server.listen
        let host =
            switch listen.host {
            case "0.0.0.0": "127.0.0.1"
            case let host where host.contains(":"): "[\(host == "::" ? "::1" : host)]"
            default: listen.host
            }
        guard let url = try? HTTPURL("http://\(host):\(listen.port)") else {
            throw CommandFailure(
                .unavailable,
                "a server is running, but server.listen does not tell at which port\n"
                    + "Name it with --server http://\(host):PORT."
            )
        }
        return url
    }

    // MARK: The answer

    private static func content(of answer: Response) throws -> JSONNode {
        let root = try? JSONDocument(answer.body, limits: .local).root
        if (200..<300).contains(answer.status), let root { return root }
        let words = ["title", "detail"].compactMap { root?[$0]?.string }
            .flatMap { $0.split(separator: "\n") }.map { TextLayout.visible(String($0)) }
        let sentence =
            words.isEmpty
            ? "the answer, of status \(answer.status), is none of Tideover's"
            : words.joined(separator: "\n")
        throw CommandFailure(exitCode(answer.status), sentence)
    }

    private static func exitCode(_ status: Int) -> ExitCode {
        switch status {
        case 401, 403: .noPermission
        case 422: .configuration
        case 400..<500: .failure
        default: .unavailable
        }
    }
}

extension Request {
    /// The request with this key, in place of any that it presents.
    func presenting(_ key: APIKey) -> Request {
        var request = self
        request.headers["Authorization"] = "Bearer \(key.text)"
        return request
    }
}

extension HTTPURL {
    fileprivate var isThisMachine: Bool {
        host == "localhost" || host == "[::1]" || host.hasPrefix("127.")
    }
}
