import Glibc
import TideoverCommandLine
import TideoverConfiguration
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON
import TideoverPostgreSQL
import TideoverSQLite
import TideoverServer
import TideoverStorage

/// Sends a command's request for the operator.
///
/// It goes to the running server. If no process has the storage open, a temporary service in the
/// command answers it. Both run the same code, so the answers are the same.
struct AdminClient {
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

    /// Creates a client for the configuration read from `path`. If `server` is given, only that
    /// server is used.
    init(_ configuration: Configuration, _ path: String, server: HTTPURL?, _ output: Output) {
        self.configuration = configuration
        self.path = path
        self.server = server
        self.output = output
    }

    /// Sends a request and returns the answer. With `needsKey`, a server answers only with a key.
    ///
    /// The database is created only with `makesDatabase`, because a wrong path should not create
    /// one. A request that only reads does not change the database. `finish` runs in the temporary
    /// service after the answer, because the service ends with the request. The result of `finish`
    /// replaces the answer.
    ///
    /// - Throws: `CommandFailure` for every answer that is not a success.
    func run(
        _ request: Request,
        needsKey: Bool = true,
        makesDatabase: Bool = false,
        onlyReads: Bool = false,
        asksStores: Bool = false,
        finish: Finish? = nil
    ) async throws -> JSONNode {
        try await Progress.timing("waiting for the answer", on: output) {
            try await answer(
                to: request,
                needsKey: needsKey,
                makesDatabase: makesDatabase,
                onlyReads: onlyReads,
                asksStores: asksStores,
                finish: finish
            )
        }
    }

    private func answer(
        to request: Request,
        needsKey: Bool,
        makesDatabase: Bool,
        onlyReads: Bool,
        asksStores: Bool,
        finish: Finish?
    ) async throws -> JSONNode {
        if let server {
            return try await ask(server, request, needsKey: needsKey, because: "--server was given")
        }
        do {
            let storage = try await LockWait.open(unless: isServed) {
                try open(makesDatabase: makesDatabase, onlyReads: onlyReads)
            }
            return try await ask(storage, request, finish, asksStores: asksStores || finish != nil)
        } catch let error as StorageError {
            let (file, holder) = try holder(of: error)
            return try await askRunning(file, request, needsKey: needsKey, holder: holder)
        }
    }

    /// Returns the answer of the running server; throws if no server runs.
    func runOnServer(_ request: Request) async throws -> JSONNode {
        if let server {
            return try await ask(server, request, needsKey: true, because: "--server was given")
        }
        guard case .sqlite(let file) = configuration.storage else {
            throw CommandFailure(
                .unavailable,
                "several servers can use the PostgreSQL database of \(path)\n"
                    + "Name one at a URL with --server."
            )
        }
        guard access(Self.socket(besides: file), F_OK) == 0 else {
            guard await isServed() else {
                throw CommandFailure(
                    .unavailable,
                    "no server of \(path) runs on this machine\nName one at a URL with --server."
                )
            }
            // It was started before `storage` changed. The key is not sent to it: without its socket,
            // nothing shows that it is this configuration's server.
            throw CommandFailure(
                .unavailable,
                """
                a server runs at \(configuration.server.listen), but not with \(file)
                A change of `storage` takes effect when it is restarted. To ask it, name it with \
                --server.
                """
            )
        }
        return try await askRunning(file, request, needsKey: true, holder: nil)
    }

    /// Sends one request of several.
    ///
    /// - Throws: `CommandFailure` for every answer that is not a success.
    typealias Ask = (Request) async throws -> JSONNode

    /// Sends several requests to the same receiver: the server or one temporary service.
    func converse<Result>(
        makesDatabase: Bool = false,
        _ body: (@escaping Ask) async throws -> Result
    ) async throws -> Result {
        if let server {
            return try await body {
                try await ask(server, $0, needsKey: true, because: "--server was given")
            }
        }
        let storage: any Storage
        do {
            storage = try await LockWait.open(unless: isServed) {
                try open(makesDatabase: makesDatabase)
            }
        } catch let error as StorageError {
            let (file, holder) = try holder(of: error)
            return try await body {
                try await askRunning(file, $0, needsKey: true, holder: holder)
            }
        }
        return try await converse(with: storage, body)
    }

    /// Sends several requests to a service with a temporary database, which is then removed.
    func rehearse<Result>(_ body: (@escaping Ask) async throws -> Result) async throws -> Result {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        return try await converse(with: try SQLiteStorage(path: "\(folder.path)/x.db"), body)
    }

    private func converse<Result>(
        with storage: any Storage,
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

    /// Opens the storage in this process. Other processes can have a PostgreSQL database open, but
    /// not an SQLite file.
    ///
    /// - Throws: `StorageError`; `CommandFailure` if there is no database and none may be created.
    private func open(makesDatabase: Bool, onlyReads: Bool = false) throws -> any Storage {
        switch configuration.storage {
        case .sqlite(let file):
            guard makesDatabase || access(file, F_OK) == 0 else { throw Self.noDatabase(file) }
            return try onlyReads ? SQLiteStorage(reading: file) : SQLiteStorage(path: file)
        case .postgres(let address):
            return try onlyReads
                ? PostgreSQLStorage(reading: address)
                : PostgreSQLStorage(address: address, makesTables: makesDatabase)
        }
    }

    /// Returns the SQLite file that another process has open, and the process.
    ///
    /// - Throws: `CommandFailure` for every other error.
    private func holder(of error: StorageError) throws -> (file: String, process: Int32?) {
        if case .postgres = configuration.storage, error.reason == .notAStorage {
            throw CommandFailure(
                .noInput,
                "\(error.place) has no tables of Tideover\n"
                    + "`tideover serve` creates them at its first start."
            )
        }
        guard case .sqlite(let file) = configuration.storage,
            case .locked(let process) = error.reason
        else { throw CommandFailure(.cannotCreate, "\(error)") }
        return (file, process)
    }

    static func noDatabase(_ file: String) -> CommandFailure {
        CommandFailure(
            .noInput,
            "there is no database at \(file)\n`tideover serve` creates it at its first start."
        )
    }

    private static func inUse(_ file: String, by holder: Int32?) -> String {
        let process = holder.map { "process \($0)" } ?? "another process"
        return "\(file) is in use by \(process), possibly a running server"
    }

    /// Creates a temporary service with a key that is never shown.
    private func service(
        on storage: any Storage,
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
            access: connections?.access ?? [:],
            webhooks: WebhookConnections.withoutSending(configuration)
        )
    }

    /// Sends one request to a temporary service, with a key that is never shown.
    private func ask(
        _ storage: any Storage,
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

    /// Returns the path of the local socket that a database's server listens on.
    static func socket(besides database: String) -> String { "\(database).sock" }

    /// Whether a socket belongs to the database's owner, this user or root. In a folder that others
    /// can write to, another user could have created it first.
    private static func isTrusted(_ socket: String, of database: String) -> Bool {
        var entry = stat()
        guard lstat(socket, &entry) == 0, entry.st_mode & S_IFMT == S_IFSOCK else { return false }
        var owner = stat()
        let isOfOwner = stat(database, &owner) == 0 && owner.st_uid == entry.st_uid
        return isOfOwner || entry.st_uid == geteuid() || entry.st_uid == 0
    }

    /// Returns the socket of a database's server; nil if there is none that this user can and should
    /// connect to.
    private static func usableSocket(of file: String) -> String? {
        let socket = socket(besides: file)
        // A longer path fits into no socket address.
        guard socket.utf8.count <= 107, access(socket, R_OK | W_OK) == 0,
            isTrusted(socket, of: file)
        else { return nil }
        return socket
    }

    /// Whether a server answers for this configuration, by its socket or by TCP.
    func isServed() async -> Bool {
        guard case .sqlite(let file) = configuration.storage else { return false }
        let request = Request(path: "/healthz")
        if let socket = Self.usableSocket(of: file),
            let client = try? Self.client(ofSocket: socket, patience: .seconds(1)),
            (try? await client(request)) != nil
        {
            return true
        }
        guard let url = try? listening(),
            let client = try? Self.client(of: url, patience: .seconds(1)),
            let answer = try? await client(request)
        else { return false }
        // Another program can listen at this port.
        return (try? JSONDocument(answer.body, limits: .local).root["version"]) != nil
    }

    /// Sends a request to the server that has the database open: by its socket, or by TCP if it has
    /// none.
    private func askRunning(
        _ file: String,
        _ request: Request,
        needsKey: Bool,
        holder: Int32?
    ) async throws -> JSONNode {
        if let socket = Self.usableSocket(of: file) {
            do {
                return try Self.content(of: try await Self.client(ofSocket: socket)(request))
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
                "\(reason), and no admin key is configured for requests to it\n"
                    + "Set server.adminKeyFile in \(path) and restart the server, or stop the "
                    + "server while this command runs."
            )
        }
        let server = try url()
        if key != nil, server.scheme == .http, !server.isThisMachine {
            output.message("tideover: the admin key is sent to \(server) unencrypted; use https")
        }
        do {
            let answer = try await Self.client(of: server)(key.map(request.presenting) ?? request)
            return try Self.content(of: answer)
        } catch let error as HTTPClientError {
            throw CommandFailure(
                .unavailable,
                "\(reason); it did not answer at \(server): \(error)\n"
                    + "Name another URL with --server."
            )
        }
    }

    /// The time in which a server must answer. A report over millions of purchases takes minutes.
    private static let patience = Duration.seconds(600)

    /// The operator named the server, so any address is allowed.
    private static func client(
        of server: HTTPURL,
        _ socket: String? = nil,
        patience: Duration = Self.patience
    ) throws -> Handler {
        var limits = ExchangeLimits()
        limits.total = patience
        limits.bodyBytes = 64 << 20
        let client = try HTTPClient(userAgent: "tideover/\(Tideover.version)")
        return client.handler(
            under: Destination(server, addresses: .any, limits: limits, socket: socket)
        )
    }

    private static func client(
        ofSocket socket: String,
        patience: Duration = Self.patience
    ) throws -> Handler {
        try client(of: try HTTPURL("http://localhost"), socket, patience: patience)
    }

    /// Returns the URL of this configuration's server on this machine.
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
                "a server is running, but server.listen contains no port\nName it with "
                    + "--server http://\(host):PORT."
            )
        }
        return url
    }

    // MARK: The answer

    /// Returns the content of an answer.
    ///
    /// - Throws: `CommandFailure` with what a problem says, if the answer is not a success.
    static func content(of answer: Response) throws -> JSONNode {
        let root = try? JSONDocument(answer.body, limits: .local).root
        if (200..<300).contains(answer.status), let root { return root }
        let problems = root?["problems"]?.elements.compactMap(\.string) ?? []
        let customers = root?["customers"]?.elements.compactMap(\.string) ?? []
        let list = customers.isEmpty ? [] : ["customers: \(customers.joined(separator: ", "))"]
        let words = (["title", "detail"].compactMap { root?[$0]?.string } + problems + list)
            .flatMap { $0.split(separator: "\n") }.map { TextLayout.visible(String($0)) }
        let sentence =
            words.isEmpty
            ? "the answer, with status \(answer.status), is not from Tideover"
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
    /// Returns the request with this key, in place of any existing one.
    func presenting(_ key: APIKey) -> Request {
        var request = self
        request.headers["Authorization"] = "Bearer \(key.text)"
        return request
    }
}

extension HTTPURL {
    /// Whether the host is this machine by its address or a name that resolves to loopback only.
    var isThisMachine: Bool { LoopbackGuard.isThisMachine(LoopbackGuard.name(in: host[...])) }
}
