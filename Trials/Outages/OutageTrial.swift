import Glibc
import TideoverHTTP
import TideoverLocks
import TideoverSandbox

/// Breaks the database of running servers repeatedly, or the way to it, under load. The servers are
/// never started again: they must find the database again by themselves.
struct OutageTrial {
    private static let connections = 16
    /// Seconds in which every request must have a response.
    static let patience = 30
    /// Milliseconds in which a server must commit again after the end of an outage.
    private static let recoveryLimit = 30_000

    /// Milliseconds in which a server must commit while another one is cut off.
    private static let lockLimit: Int64 = 12_000

    private let fault: Fault
    private let books: Books
    private let outages = OutageRecord(patience: patience)
    private let carriers: [Locked<Carrier>]
    private let servers: [ServerProcess]
    private let ports: [Int]
    private let isWrong: Bool
    private var inspector: Inspector
    private var random: SeededRandom
    private var wrong: [String] = []
    private var round = 0
    /// Milliseconds from the end of each outage to the first commit of each server.
    private(set) var recoveries: [Int64] = []
    /// Milliseconds from the beginning of each outage to the same commit.
    private(set) var absences: [Int64] = []
    /// The longest time, in milliseconds, in which a server committed nothing because another one
    /// was cut off.
    private(set) var longestPause: Int64 = 0

    /// Starts with undisturbed lives and with the servers, one for each site.
    init(
        _ sites: [Site],
        audited: Site,
        _ command: ServerCommand,
        fault: String,
        seed: UInt64,
        isWrong: Bool
    ) throws {
        let store = Store(seed: seed, end: systemMilliseconds())
        let books = Books(journal: "\(audited.folder)/journal", from: 2 * KillTrial.livesInPeace)
        self.books = books
        self.isWrong = isWrong
        self.fault = Fault(command: fault, log: "\(audited.folder)/fault.log")
        let outages = outages
        carriers = (0..<Self.connections).map { _ in
            Locked(Carrier(audited, store, books, isWrong: isWrong, outages: outages))
        }
        random = SeededRandom(seed: seed)
        let standard = try Peace(site: audited, command: command, store: store, books: books)
            .standard()
        inspector = Inspector(audited, books, standard)
        servers = try sites.map { try $0.start(command) }
        ports = try servers.map { try $0.port() }
    }

    // MARK: A round

    /// Loads the servers, runs the fault, waits until all work again, and inspects.
    mutating func run() throws {
        outages.begin()
        let isOver = Locked(false)
        let watches = try startWatches()
        let load = load(until: isOver)
        pause(Int(random.number(in: 200...600)))
        let report = try fault.run(round: round)
        for port in ports { expectRecovery(at: port, after: report) }
        pause(300)
        isOver.withLock { $0 = true }
        load.join()
        for watch in watches.map(\.watch) { watch.end() }
        for threads in watches.map(\.threads) { threads.join() }
        expectUnready(report, watches.map(\.watch))
        expectTheOthers(report)
        try expectServers()
        round += 1
        try inspect(books.takeTouched())
    }

    private func startWatches() throws -> [(watch: ReadinessWatch, threads: Threads)] {
        guard let customer = books.accounts.values.first?.customer else { return [] }
        return ports.map { port in
            let watch = ReadinessWatch(port, asking: customer, outages: outages)
            return (watch, watch.start())
        }
    }

    /// Loads all servers until the round is over and every started life is acknowledged.
    private func load(until isOver: Locked<Bool>) -> Threads {
        let (carriers, ports, round) = (carriers, ports, round)
        let isFinishing: @Sendable () -> Bool = { isOver.withLock { $0 } }
        return Threads.start(carriers.count) { number in
            let port = ports[(number + round) % ports.count]
            carriers[number].withLock { carrier in
                var tries = 0
                while !isFinishing() || (!carrier.isIdle && tries < Self.mostTries) {
                    carrier.carry(to: port, isFinishing: isFinishing)
                    if isFinishing() { tries += 1 }
                    pause(Self.repetitionPause)
                }
            }
        }
    }

    /// A store repeats what was not acknowledged after longer; this is the worse load.
    private static let repetitionPause = 100
    private static let mostTries = 100

    // MARK: Expectations

    private mutating func expectRecovery(at port: Int, after report: Fault.Report) {
        let (outages, instant) = (outages, report.restored)
        let isBack = waited(upTo: Self.recoveryLimit) {
            outages.acknowledgement(at: port, after: instant) != nil
        }
        guard isBack, let first = outages.acknowledgement(at: port, after: instant) else {
            wrong.append("round \(round): nothing committed \(Self.recoveryLimit) ms later")
            return
        }
        recoveries.append(first - instant)
        absences.append(first - report.down)
    }

    /// The servers that cannot reach the database must report it, and be ready again at the end.
    private mutating func expectUnready(_ report: Fault.Report, _ watches: [ReadinessWatch]) {
        for number in report.unready where !isWrong {
            guard watches.indices.contains(number),
                watches[number].wasUnready(from: report.down, to: report.restored)
            else {
                wrong.append("round \(round): /readyz of server \(number) never was 503")
                continue
            }
        }
    }

    /// A server that is cut off can hold locks. The others must go on soon.
    private mutating func expectTheOthers(_ report: Fault.Report) {
        guard !report.unready.isEmpty else { return }
        for (number, port) in ports.enumerated() where !report.unready.contains(number) {
            let pause = outages.longestPause(at: port, from: report.down, to: report.restored)
            longestPause = max(longestPause, pause)
            if pause > Self.lockLimit {
                wrong.append("round \(round): server \(number) waited \(pause) ms for another one")
            }
        }
    }

    private mutating func expectServers() throws {
        for (server, port) in zip(servers, ports) {
            guard !server.hasEnded else {
                throw KillTrial.Failure(message: "a server ended by itself: \(server.lastWords)")
            }
            let isReady = waited(upTo: Self.recoveryLimit) {
                (try? Wire(port).get("/readyz"))?.status == 200
            }
            if !isReady { wrong.append("round \(round): a server is not ready again") }
        }
    }

    /// Everything is acknowledged, so the servers have no work. Each must give the right answers.
    private mutating func inspect(_ accounts: [Int: Books.Account]) throws {
        try inspector.inspect(accounts, besideServers: true)
        for port in ports { try inspector.ask(about: Array(accounts.keys), at: port) }
    }

    /// After the last round: inspects everything, also what earlier rounds wrote.
    mutating func finish() throws {
        inspector.expectNothingUnanswered()
        try inspect(books.accounts)
        for server in servers {
            guard let end = server.stop(), end == .exited(0) || isWrong else {
                throw KillTrial.Failure(message: "no stop in order: \(server.lastWords)")
            }
        }
    }

    // MARK: Results

    var unexpected: [String] {
        wrong + outages.unexpected + books.unexpected + inspector.wrong + inspector.problems
    }
    var lost: Int { inspector.lost.count }
    var doubled: Int { inspector.doubled.count }
    var acknowledged: Int { books.acknowledgedCount }
    var refused: Int { outages.refusals }
    var isSound: Bool { inspector.problems.isEmpty }
    var responseTimes: String { outages.responseTimes }
    var holds: Bool { lost == 0 && doubled == 0 && unexpected.isEmpty }
}
