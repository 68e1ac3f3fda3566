import Glibc
import TideoverHTTP
import TideoverJSON
import TideoverSQLite

/// A server that queries the store from the beginning, and the data that it leaves.
struct BackEnd {
    /// The time limit of a complete backfill, in milliseconds.
    private static let patience = 120_000

    let site: Site
    let door: StoreDoor
    private let command: ServerCommand

    /// Creates a folder with the server's files.
    init(folder: String, _ store: AskedStore, _ command: ServerCommand) throws {
        guard mkdir(folder, 0o700) == 0 else {
            throw KillTrial.Failure(message: "\(folder): \(String(cString: strerror(errno)))")
        }
        door = try StoreDoor(store)
        self.command = command
        let api = Site.API(
            url: door.url,
            issuerId: AskedStore.issuerId,
            keyId: AskedStore.keyId,
            key: store.key
        )
        site = try Site(folder: folder, authority: store.authority, api: api)
    }

    /// Starts the server. Its backfill continues immediately where the one before stopped.
    func start() throws -> ServerProcess {
        try site.start(command, ["--clock", door.clock])
    }

    /// Whether the server has logged that the backfill is complete.
    static func isThrough(_ server: ServerProcess) throws -> Bool {
        let said = text(of: server.log, atMost: 1 << 20)
        guard !said.contains("backfill stopped"), !server.hasEnded else {
            throw KillTrial.Failure(message: "the backfill did not go on: \(server.lastWords)")
        }
        return said.contains("backfill completed")
    }

    /// Waits for the backfill and requests the answers about all customers. Then it stops the
    /// server and reads its file.
    func traces(of server: ServerProcess, _ customers: [String]) throws -> BackfillTraces {
        var isThrough = false
        _ = try waited(upTo: Self.patience) {
            isThrough = try Self.isThrough(server)
            return isThrough
        }
        guard isThrough else {
            throw KillTrial.Failure(message: "it is not through: \(server.lastWords)")
        }
        let wire = try Wire(server.port())
        var answers: [String: [String]] = [:]
        var happened: Set<String> = []
        for customer in customers {
            let snapshot = try json(wire.get(Site.snapshot(of: customer)).body)
            let timeline = try json(wire.get(Site.timeline(of: customer)).body)
            let transitions = timeline["entitlements"]?["premium"]?["transitions"]?.array ?? []
            for id in transitions.compactMap({ $0["id"]?.string }) {
                happened.insert("\(customer) \(id)")
            }
            // The rest of an answer varies: the number of changes, and when and from which bytes
            // the server learned them. The timeline ends at the date of the newest signature.
            answers[customer] = [
                plain(snapshot["entitlements"]), plain(snapshot["prompt"]),
                plain(timeline).replacing(timeline["asOf"]?.string ?? "", with: "now"),
            ]
        }
        guard server.stop() == .exited(0) else {
            throw KillTrial.Failure(message: "it did not stop in order: \(server.lastWords)")
        }
        return try BackfillTraces(Audit(site.database), answers, happened)
    }

    private func json(_ body: [UInt8]) throws -> JSONValue {
        JSONValue(try JSONDocument(body, limits: .local).root)
    }

    private func plain(_ value: JSONValue?) -> String {
        String(
            decoding: (value ?? .null).without(["learnedAt", "evidence"]).encoded(),
            as: UTF8.self
        )
    }
}

extension JSONValue {
    /// Returns the value without the members of these names, at any depth.
    fileprivate func without(_ names: Set<String>) -> JSONValue {
        switch self {
        case .array(let elements): .array(elements.map { $0.without(names) })
        case .object(let object):
            .object(
                object.reduce(into: JSONObject()) { kept, member in
                    if !names.contains(member.key) {
                        kept[member.key] = member.value.without(names)
                    }
                }
            )
        case .null, .bool, .integer, .double, .string: self
        }
    }
}
