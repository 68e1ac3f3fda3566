import CTideoverPostgreSQL
import Glibc
package import TideoverStorage

/// Where the servers of a database are, and how to connect.
package struct PostgreSQLAddress: Sendable {
    /// The hosts and the database, without a secret, for messages.
    package let place: String
    /// The keywords of libpq with their values. A later value of a keyword wins.
    package let settings: [(keyword: String, value: String)]

    /// Reads an address such as `postgres://user@a,b/database?passfile=/etc/tideover/pgpass`.
    ///
    /// Unless the address says otherwise, the server's certificate is verified (`verify-full`) on
    /// every host that is neither a socket nor of this machine, and of several hosts one is taken
    /// that can write, or rather a replica.
    ///
    /// - Throws: `notPermitted` for an address that libpq cannot read, contains a password, or
    ///   names no host.
    package init(_ text: String, prefersReplica: Bool = false) throws(StorageError) {
        let stated = try Self.parse(text)
        let names = stated["hostaddr"] ?? stated["host"] ?? ""
        let hosts = names.split(separator: ",").map(String.init)
        let database = stated["dbname"] ?? ""
        place = "the PostgreSQL database \(database) at \(hosts.joined(separator: ", "))"
        guard stated["password"] == nil else {
            throw Self.unusable("it contains a password; name a file with `passfile`")
        }
        guard !hosts.isEmpty, !database.isEmpty else {
            throw Self.unusable("it names no host or no database")
        }
        let isNear = hosts.allSatisfy(Self.isNear)
        var settings = [
            ("sslmode", isNear ? "prefer" : "verify-full"),
            ("target_session_attrs", prefersReplica ? "prefer-standby" : "read-write"),
            ("application_name", "tideover"), ("connect_timeout", "3"),
            ("tcp_user_timeout", "10000"),
            ("keepalives_idle", "30"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ]
        settings += stated.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        settings.append(("client_encoding", "UTF8"))
        self.settings = settings.map { (keyword: $0.0, value: $0.1) }
    }

    /// A socket, or an address of this machine.
    private static func isNear(_ host: String) -> Bool {
        host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
            || host.hasPrefix("127.")
    }

    private static func parse(_ text: String) throws(StorageError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &message) else {
            PQfreemem(message)
            // The message of libpq can repeat the address, with a password in it.
            throw unusable("it is not an address that libpq reads")
        }
        defer { PQconninfoFree(options) }
        var stated: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                stated[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        return stated
    }

    private static func unusable(_ detail: String) -> StorageError {
        StorageError(.notPermitted, place: "The address of the PostgreSQL database", detail: detail)
    }

    /// Connects; nil if no memory is left.
    func connect() -> OpaquePointer? {
        let keywords = settings.map { strdup($0.keyword) } + [nil]
        let values = settings.map { strdup($0.value) } + [nil]
        defer { for text in keywords + values { free(text) } }
        return PQconnectdbParams(
            keywords.map { UnsafePointer($0) },
            values.map { UnsafePointer($0) },
            0
        )
    }
}
