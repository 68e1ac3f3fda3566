import Testing
import TideoverPostgreSQL
import TideoverStorage

@Suite struct `An address of a database` {
    private func setting(_ keyword: String, of text: String) throws -> String? {
        try PostgreSQLAddress(text).settings.last { $0.keyword == keyword }?.value
    }

    @Test(arguments: [
        "postgres://db.example.com/t", "postgres://u@10.0.0.1/t", "postgres://[fe80::1]/t",
        "postgres://localhost,db.example.com/t", "postgresql://localhost.example.com/t",
        "postgres://localhost/t?hostaddr=10.0.0.1",
    ])
    func `has the certificate of a distant host verified`(text: String) throws {
        #expect(try setting("sslmode", of: text) == "verify-full")
    }

    @Test(arguments: [
        "postgres://localhost/t", "postgres://127.0.0.1:5433/t", "postgres://[::1]/t",
        "postgres:///t?host=/run/postgresql", "postgres://%2Frun%2Fpostgresql/t",
    ])
    func `needs no certificate on this machine`(text: String) throws {
        #expect(try setting("sslmode", of: text) == "prefer")
    }

    @Test func `can state another mode, and which server to take`() throws {
        #expect(try setting("sslmode", of: "postgres://db/t?sslmode=require") == "require")
        #expect(try setting("target_session_attrs", of: "postgres://a,b/t") == "read-write")
        let any = "postgres://a,b/t?target_session_attrs=any"
        #expect(try setting("target_session_attrs", of: any) == "any")
        let other = "postgres://a/t?client_encoding=LATIN1"
        #expect(try setting("client_encoding", of: other) == "UTF8")
    }

    @Test(arguments: [.notPermitted, .readOnly, .notAStorage] as [StorageError.Reason])
    func `that is refused has advice about a database, not only about a file`(
        reason: StorageError.Reason
    ) {
        let error = StorageError(reason, place: "the PostgreSQL database t")
        #expect(error.advice.contains("database"))
    }

    @Test(arguments: [
        "postgres://u:secret@db/t", "postgres://db/t?password=secret", "postgres://db/t?secret=1",
        "postgres://secret%zz@db/t", "host=db password=secret dbname=t",
    ])
    func `with a password or an unknown part is refused, and not repeated`(text: String) {
        let error = #expect(throws: StorageError.self) { try PostgreSQLAddress(text) }
        #expect(error?.reason == .notPermitted)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(arguments: ["postgres:///t", "postgres://u@db", "postgres://"])
    func `names a host and a database`(text: String) {
        let error = #expect(throws: StorageError.self) { try PostgreSQLAddress(text) }
        #expect(error?.reason == .notPermitted)
    }

    @Test func `is told in messages without the user`() throws {
        let address = try PostgreSQLAddress("postgres://me@a.example,b.example:5433/t")
        #expect(address.place == "the PostgreSQL database t at a.example, b.example")
    }

    @Test func `where nothing listens is unavailable`() {
        let error = #expect(throws: StorageError.self) {
            try PostgreSQLStorage(address: "postgres:///t?host=/nonexistent")
        }
        #expect(error?.reason == .unavailable)
    }
}
