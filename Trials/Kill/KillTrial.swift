import Glibc
import TideoverCommandLine
import TideoverHTTP
import TideoverLocks
import TideoverSandbox

/// Kills one or several servers under load repeatedly, or stops them in order, always on the same
/// storage. Compares its data with the acknowledged notifications.
struct KillTrial {
    /// A failure outside the subject of the trial.
    struct Failure: ReportableFailure {
        let message: String
        let exitCode = ExitCode.failure
    }

    private static let connections = 16
    private let site: Site
    private let command: ServerCommand
    private let serverCount: Int
    private let isWrong: Bool
    /// Whether servers are stopped by SIGTERM, as in a rolling restart, and not killed.
    private let isOrderly: Bool
    private let books: Books
    private let carriers: [Locked<Carrier>]
    private var inspector: Inspector
    private var random: SeededRandom
    private(set) var startKills = 0

    /// Starts with undisturbed lives, whose data is the standard for all others.
    init(
        _ site: Site,
        _ command: ServerCommand,
        servers: Int,
        seed: UInt64,
        isWrong: Bool,
        isOrderly: Bool
    ) throws {
        let store = Store(seed: seed, end: systemMilliseconds())
        let books = Books(journal: "\(site.folder)/journal", from: 2 * Self.livesInPeace)
        self.site = site
        self.command = command
        serverCount = servers
        self.isWrong = isWrong
        self.isOrderly = isOrderly
        self.books = books
        carriers = (0..<Self.connections).map { _ in
            Locked(Carrier(site, store, books, isWrong: isWrong))
        }
        random = SeededRandom(seed: seed)
        let standard = try Peace(site: site, command: command, store: store, books: books)
            .standard()
        inspector = Inspector(site, books, standard)
    }

    static let livesInPeace = 8

    /// Starts, loads, ends and inspects once.
    mutating func run() throws {
        if !isOrderly { try killWhileStarting() }
        let (servers, ports) = try start()
        try askAboutTheLatest(ports[0])
        let load = carry(to: ports, isFinishing: false)
        pause(Int(random.number(in: 50...400)))
        try endAll(servers)
        load.join()
        round += 1
        try inspectTheTouched()
    }

    private func start() throws -> (servers: [ServerProcess], ports: [Int]) {
        let servers = try (0..<serverCount).map { number in
            try site.start(command, log: "server-\(number)")
        }
        return (servers, try servers.map { try $0.port() })
    }

    /// Ends one server after another, in any order, while the load on the others continues.
    private mutating func endAll(_ servers: [ServerProcess]) throws {
        var rest = servers
        while rest.count > 1 {
            try end(rest.remove(at: Int(random.number(in: 0...Int64(rest.count - 1)))))
            expectTheOthers()
            pause(Int(random.number(in: 0...150)))
        }
        try end(rest[0])
    }

    /// The servers that are left must go on soon.
    private mutating func expectTheOthers() {
        let before = books.acknowledgedCount
        guard !waited(upTo: Self.patience, until: { books.acknowledgedCount > before }) else {
            return
        }
        idle.append("round \(round): the others acknowledged nothing for \(Self.patience) ms")
    }

    /// As long as one server may hold up the others when it is cut off, in milliseconds.
    private static let patience = 12_000

    private func end(_ server: ServerProcess) throws {
        guard !isOrderly else { return try stop(server) }
        let end = server.kill()
        guard end == .signalled(SIGKILL) else {
            throw Failure(
                message:
                    "the server ended by itself (\(String(describing: end))): \(server.lastWords)"
            )
        }
    }

    /// After the last kill: checks that every sent notification is acknowledged and stored.
    mutating func finish() throws {
        let (servers, ports) = try start()
        try askAboutTheLatest(ports[0])
        carry(to: ports, isFinishing: true).join()
        for server in servers { try stop(server) }
        try inspector.inspect(books.accounts)
        inspector.expectNothingUnanswered()
        latest = Array(books.accounts.keys)
        let last = try site.start(command)
        try askAboutTheLatest(last.port())
        last.kill()
    }

    // MARK: Steps

    private var latest: [Int] = []
    private var round = 0
    private var idle: [String] = []

    /// Sometimes kills the server before it listens.
    private mutating func killWhileStarting() throws {
        guard random.number(in: 0...4) == 0 else { return }
        let server = try site.start(command)
        pause(Int(random.number(in: 0...40)))
        server.kill()
        startKills += 1
    }

    private func stop(_ server: ServerProcess) throws {
        guard let end = server.stop(), end == .exited(0) || isWrong else {
            throw Failure(message: "the server did not stop in order: \(server.lastWords)")
        }
    }

    private mutating func askAboutTheLatest(_ port: Int) throws {
        try inspector.ask(about: latest, at: port)
    }

    /// Loads all servers. What one of them did not acknowledge goes to another one next.
    private func carry(to ports: [Int], isFinishing: Bool) -> Threads {
        let (carriers, round) = (carriers, round)
        return Threads.start(carriers.count) { number in
            let port = ports[(number + round) % ports.count]
            carriers[number].withLock { $0.carry(to: port) { isFinishing } }
        }
    }

    private mutating func inspectTheTouched() throws {
        let touched = books.takeTouched()
        latest = Array(touched.keys)
        try inspector.inspect(touched)
    }

    // MARK: Results

    var unexpected: [String] { idle + books.unexpected + inspector.wrong + inspector.problems }
    var lost: Int { inspector.lost.count }
    var doubled: Int { inspector.doubled.count }
    var acknowledged: Int { books.acknowledgedCount }
    var isSound: Bool { inspector.problems.isEmpty }

    /// Whether every acknowledged notification is stored once, with the correct answers.
    var holds: Bool { lost == 0 && doubled == 0 && unexpected.isEmpty }
}

/// Lives on a server that is not killed: one for each kind of customer and number of notifications.
struct Peace {
    let site: Site
    let command: ServerCommand
    let store: Store
    let books: Books

    func standard() throws -> Inspector.Standard {
        let server = try site.start(command)
        let wire = try Wire(server.port())
        let lives = (0..<2 * KillTrial.livesInPeace).map(store.life)
        var chosen: [Bool: [Store.Life]] = [:]
        for isListed in [true, false] {
            chosen[isListed] = Array(lives.filter { $0.isListed == isListed }.prefix(4))
        }
        for (count, life) in chosen.values.flatMap({ $0.enumerated() }) {
            for index in 0..<count { try tell(index, of: life, over: wire) }
        }
        guard server.stop() != nil else {
            throw KillTrial.Failure(message: "the server did not stop: \(server.lastWords)")
        }
        return try traces(of: chosen)
    }

    private func tell(_ index: Int, of life: Store.Life, over wire: Wire) throws {
        books.sends(index, of: life)
        let answer = try wire.post(site.body(of: life.letters[index]), to: Site.notifications)
        guard answer.status == 200 else {
            throw KillTrial.Failure(
                message: "in peace: \(String(decoding: answer.body, as: UTF8.self))"
            )
        }
        books.acknowledged(index, of: life)
        // Long enough for the hasty server to store it too.
        pause(200)
    }

    private func traces(of chosen: [Bool: [Store.Life]]) throws -> Inspector.Standard {
        let audit = try site.audit()
        let events = try audit.events()
        return try chosen.mapValues { lives in
            try lives.map { life in
                var traces = try audit.traces(of: life.customer)
                traces.events = events[life.customer] ?? 0
                return traces
            }
        }
    }
}
