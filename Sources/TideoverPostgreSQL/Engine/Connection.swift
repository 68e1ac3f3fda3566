import CTideoverPostgreSQL
import Glibc
import TideoverCore
package import TideoverStorage

/// A connection to a server, used by one thread at a time.
///
/// It is always in pipeline mode: a statement is sent without waiting for the answer to the one
/// before, so that many statements cost one round trip. A statement that is repeated is prepared: it
/// is parsed once, and soon planned once. Behind a pooler such as PgBouncer, which may give every
/// transaction another session, nothing outlives a transaction on the server.
package final class Connection {
    private enum Expected {
        case answer(Answer)
        /// The answer to the preparation of a statement.
        case preparation(of: UnsafePointer<UInt8>)
        case end
    }

    let place: String
    private let handle: OpaquePointer
    /// Milliseconds after which a wait ends and the connection counts as lost.
    var patience: Int64
    private var expected: [Expected] = []
    /// Answers before this position of `expected` were received.
    private var received = 0
    /// Whether a part of the answer at this position was received.
    private var hasResult = false
    private var isLost = false
    /// Whether all transactions have the same session on the server, so that statements are
    /// prepared.
    private var keepsSession = false
    private var statements = PreparedStatements()
    /// The number of times that something was sent and its answer awaited.
    private(set) var roundTripCount = 0
    /// Whether the server ended the latest work in favour of another transaction.
    package private(set) var hadConflict = false

    /// Connects, and blocks the thread meanwhile: at most the address's `connect_timeout` for each
    /// host.
    ///
    /// - Throws: `unavailable` if no server answers in time or none can write, `notPermitted` if it
    ///   refuses the user.
    package init(_ address: PostgreSQLAddress, patience: Int64) throws(StorageError) {
        place = address.place
        self.patience = patience
        guard let handle = address.connect() else {
            throw StorageError(.unavailable, place: place, detail: "no memory is left")
        }
        self.handle = handle
        guard PQstatus(handle) == CONNECTION_OK else {
            let error = StorageError(Self.refusal(handle), place: place, detail: message)
            throw error
        }
        // Notices, such as that a table exists, would be printed.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
            throw lost("the connection has no pipeline")
        }
        try adoptSession()
    }

    /// Finds out whether the connection leads to the database itself. A pooler answers with a number
    /// of its own for the process.
    private func adoptSession() throws(StorageError) {
        let process = try ask(SQL.process).first { $0.integer(0) }
        keepsSession = process == Int64(PQbackendPID(handle))
        guard keepsSession else { return }
        try ask(SQL.tuneSession)
        try wait()
    }

    /// Why a connection was refused: libpq has only a text for it, and two flags.
    private static func refusal(_ handle: OpaquePointer) -> StorageError.Reason {
        PQconnectionNeedsPassword(handle) == 1 || PQconnectionUsedPassword(handle) == 1
            ? .notPermitted : .unavailable
    }

    deinit { PQfinish(handle) }

    /// Whether it can be used: neither lost nor closed by the server.
    var isUsable: Bool { !isLost && PQstatus(handle) == CONNECTION_OK }

    // MARK: Statements

    /// Sends a statement.
    ///
    /// - Throws: `unavailable`.
    @discardableResult
    package func ask(
        _ sql: StaticString,
        with values: [SQLValue]
    ) throws(StorageError) -> Answer {
        guard !isLost else { throw lost("the connection was lost") }
        let block = ParameterBlock(values)
        let answer = Answer(self)
        let isSent =
            if let name = try preparedName(of: sql, block) {
                sendPrepared(name, block)
            } else {
                send(sql, block)
            }
        guard isSent == 1 else { throw lost(message) }
        expected.append(.answer(answer))
        return answer
    }

    /// Returns the name of a prepared statement, which is prepared before if necessary; nil for one
    /// that is sent as it is.
    private func preparedName(
        of sql: StaticString,
        _ block: ParameterBlock
    ) throws(StorageError) -> String? {
        guard keepsSession else { return nil }
        switch statements.use(of: sql.utf8Start, block.types) {
        case .unprepared: return nil
        case .prepared(let name): return name
        case .repeated(let name):
            let count = Int32(block.types.count)
            guard PQsendPrepare(handle, name, sql.text, count, block.types) == 1 else {
                throw lost(message)
            }
            expected.append(.preparation(of: sql.utf8Start))
            return name
        }
    }

    private func sendPrepared(_ name: String, _ block: ParameterBlock) -> Int32 {
        block.withAddresses { addresses in
            PQsendQueryPrepared(
                handle,
                name,
                Int32(addresses.count),
                addresses,
                block.lengths,
                block.formats,
                1
            )
        }
    }

    @discardableResult
    package func ask(_ sql: StaticString, _ values: SQLValue...) throws(StorageError) -> Answer {
        try ask(sql, with: values)
    }

    /// Sends a statement whose first two parameters are an app and an environment.
    @discardableResult
    func ask(
        _ sql: StaticString,
        in scope: AppScope,
        _ values: SQLValue...
    ) throws(StorageError) -> Answer {
        let place = [SQLValue.text(scope.app), .text(scope.environment.rawValue)]
        return try ask(sql, with: place + values)
    }

    private func send(_ sql: StaticString, _ block: ParameterBlock) -> Int32 {
        block.withAddresses { addresses in
            PQsendQueryParams(
                handle,
                sql.text,
                Int32(addresses.count),
                block.types,
                addresses,
                block.lengths,
                block.formats,
                1
            )
        }
    }

    /// Waits for the answers to all statements sent.
    ///
    /// - Throws: the first failure among them; the server has skipped the statements after it.
    func wait() throws(StorageError) {
        try finishSending()
        roundTripCount += 1
        hadConflict = false
        var failure: ServerFailure?
        let deadline = Deadline(in: patience)
        while received < expected.count {
            try awaitResult(deadline)
            guard let result = PQgetResult(handle) else {
                try endOfResults()
                continue
            }
            hasResult = true
            if let found = try take(result, for: expected[received]), failure == nil {
                failure = found
            }
        }
        let answered = expected
        expected = []
        received = 0
        if let failure {
            for case .answer(let answer) in answered { answer.fail(failure.error) }
            hadConflict = failure.isConflict
            throw failure.error
        }
    }

    /// Sends what is still to be sent, and asks the server to answer.
    func finishSending() throws(StorageError) {
        guard !isLost else { throw lost("the connection was lost") }
        guard PQpipelineSync(handle) == 1 else { throw lost(message) }
        expected.append(.end)
        guard PQflush(handle) >= 0 else { throw lost(message) }
    }

    /// The results of a statement end with nil.
    private func endOfResults() throws(StorageError) {
        guard hasResult else { throw lost("the server's answers have ended too early") }
        hasResult = false
        received += 1
    }

    private func take(
        _ result: OpaquePointer,
        for expected: Expected
    ) throws(StorageError) -> ServerFailure? {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            switch expected {
            case .answer(let answer):
                answer.receive(result)
                return nil
            case .preparation:
                PQclear(result)
                return nil
            case .end: break
            }
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            hasResult = false
            received += 1
            return nil
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            forget(expected)
            return nil
        case PGRES_FATAL_ERROR:
            defer { PQclear(result) }
            forget(expected)
            guard PQstatus(handle) == CONNECTION_OK else { throw lost(message) }
            let failure = ServerFailure(result, place: place)
            if failure.isOfPreparation { keepsSession = false }
            return failure
        default: break
        }
        PQclear(result)
        throw lost("the server's answer has an unknown form")
    }

    /// A statement that the server did not prepare is prepared at its next use.
    private func forget(_ expected: Expected) {
        if case .preparation(let statement) = expected { statements.forget(statement) }
    }

    // MARK: The socket

    /// Waits until a result can be read, and sends meanwhile: a server that waits for its answers
    /// to be read would not read more statements.
    private func awaitResult(_ deadline: Deadline) throws(StorageError) {
        while PQisBusy(handle) == 1 {
            let unsent = PQflush(handle)
            guard unsent >= 0 else { throw lost(message) }
            guard try poll(unsent == 1 ? POLLIN | POLLOUT : POLLIN, deadline) else {
                throw lost("no answer in \(patience) ms")
            }
            guard PQconsumeInput(handle) == 1 else { throw lost(message) }
        }
    }

    /// Returns false after the deadline.
    private func poll(_ events: Int32, _ deadline: Deadline) throws(StorageError) -> Bool {
        while true {
            var entry = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
            guard entry.fd >= 0 else { throw lost(message) }
            let count = Glibc.poll(&entry, 1, Int32(clamping: deadline.milliseconds))
            if count >= 0 || errno != EINTR { return count > 0 }
        }
    }

    private var message: String {
        let lines = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        return lines.split(separator: "\n").first.map(String.init) ?? "the connection was lost"
    }

    /// Marks the connection as lost.
    func lost(_ detail: String) -> StorageError {
        isLost = true
        return StorageError(.unavailable, place: place, detail: detail)
    }
}

/// The statements that a session on the server has prepared, by their texts.
private struct PreparedStatements {
    enum Use {
        /// It is sent as it is.
        case unprepared
        /// It has to be prepared under this name.
        case repeated(String)
        case prepared(String)
    }

    private struct Prepared {
        let name: String
        let types: [UInt32]

        /// Whether parameters can be sent for it; a null has no type.
        func fits(_ types: [UInt32]) -> Bool {
            self.types.count == types.count
                && zip(self.types, types).allSatisfy { $0 == $1 || $1 == 0 }
        }
    }

    private var known: Set<UnsafePointer<UInt8>> = []
    private var prepared: [UnsafePointer<UInt8>: Prepared] = [:]
    private var count = 0

    mutating func use(of statement: UnsafePointer<UInt8>, _ types: [UInt32]) -> Use {
        if let found = prepared[statement] {
            return found.fits(types) ? .prepared(found.name) : .unprepared
        }
        guard !known.insert(statement).inserted, !types.contains(0) else { return .unprepared }
        // Each name is used once, even if the preparation fails.
        count += 1
        let new = Prepared(name: "tideover_\(count)", types: types)
        prepared[statement] = new
        return .repeated(new.name)
    }

    mutating func forget(_ statement: UnsafePointer<UInt8>) { prepared[statement] = nil }
}

extension StaticString {
    fileprivate var text: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

/// An instant of the system's steady clock.
struct Deadline {
    private let nanoseconds: UInt64

    init(in milliseconds: Int64) {
        nanoseconds = Self.now + UInt64(max(0, milliseconds)) * 1_000_000
    }

    /// The milliseconds left, rounded up; 0 afterwards.
    var milliseconds: Int64 {
        let now = Self.now
        return now >= nanoseconds ? 0 : Int64((nanoseconds - now + 999_999) / 1_000_000)
    }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

extension Connection {
    /// Decodes rows of this connection's answers.
    var rows: StoredRowReader { StoredRowReader(place) }
}
