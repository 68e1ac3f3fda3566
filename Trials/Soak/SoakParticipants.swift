import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverSignatures

/// A participant of a soak, which runs on its own threads until the end.
protocol SoakParticipant: Sendable {
    var threadCount: Int { get }
    func run(_ thread: Int, until stop: StopFlag)
}

/// Requests of one kind and their responses.
final class Exchanges: Sendable {
    struct Record: Sendable {
        var latencies = Latencies()
        /// By status; 0 means a connection that broke or timed out.
        var statuses: [Int: Int] = [:]

        var count: Int { statuses.values.reduce(0, +) }
        var accepted: Int { statuses[200, default: 0] }

        /// Statuses other than 200, in order.
        var others: String {
            let others = statuses.filter { $0.key != 200 }.sorted { $0.key < $1.key }
            return others.map { "\($0.value)× \($0.key == 0 ? "broken" : "\($0.key)")" }
                .joined(separator: ", ")
        }
    }

    private let book = Locked(Record())

    var record: Record { book.withLock { $0 } }

    /// Runs an exchange. Returns nil if the connection is unusable.
    func make(_ body: () throws -> Response) -> Response? {
        let begin = ContinuousClock.now
        let answer = try? body()
        let duration = begin.duration(to: .now)
        book.withLock {
            $0.latencies.add(duration)
            $0.statuses[answer?.status ?? 0, default: 0] += 1
        }
        return answer
    }
}

/// A persistent connection, which is opened again once it is closed.
struct Line {
    private let connect: Connect
    private var wire: Wire?

    init(_ connect: @escaping Connect) { self.connect = connect }

    /// Runs an exchange over the existing connection. If the server has closed it, uses a new one,
    /// as HTTP clients do.
    mutating func exchange(
        _ exchanges: Exchanges,
        _ body: (Wire) throws -> Response
    ) -> Response? {
        let kept = wire
        wire = nil
        var used: Wire?
        let answer = exchanges.make {
            if let kept {
                used = kept
                do { return try body(kept) } catch Wire.Broken.closed {}
            }
            let new = try connect()
            used = new
            return try body(new)
        }
        if answer != nil { wire = used }
        return answer
    }
}

/// Notifications that are sent before the attacks begin.
enum Preload {
    /// Sends over two connections. Returns the number that were not accepted.
    static func run(
        _ count: Int,
        as client: Int,
        _ place: SoakPlace,
        _ told: @escaping @Sendable (Int) -> Void,
        send: @escaping @Sendable (_ number: Int, inout Line) -> Bool
    ) -> Int {
        let next = Locked(0)
        let failures = Locked(0)
        let threads = Threads.start(2) { _ in
            var line = Line(place.connect(as: client))
            while true {
                let number = next.withLock { number in
                    defer { number += 1 }
                    return number
                }
                guard number < count else { return }
                if !send(number, &line) { failures.withLock { $0 += 1 } }
                if number % 500 == 499 { told(number + 1) }
            }
        }
        threads.join()
        return failures.withLock { $0 }
    }
}

// MARK: - Honest participants

/// Senders of genuine notifications, which repeat those that were not acknowledged.
final class HonestSenders: SoakParticipant {
    let exchanges = Exchanges()
    let threadCount = SoakClients.senders.count
    /// The time between two notifications of one sender, in milliseconds.
    private static let pace = 400
    private static let lastTries = 60
    private let place: SoakPlace
    private let store: Store
    private let letters = Locked((acknowledged: [String](), open: 0))

    init(_ place: SoakPlace, _ store: Store) {
        self.place = place
        self.store = store
    }

    /// The ids of acknowledged notifications.
    var acknowledged: [String] { letters.withLock { $0.acknowledged } }
    /// The number that were never acknowledged.
    var open: Int { letters.withLock { $0.open } }
    /// The first number of lives begun before the attacks.
    private static let earlier = 10_000_000

    /// Sends the first notifications of many customers. Returns the number that were not accepted.
    func preload(_ count: Int, told: @escaping @Sendable (Int) -> Void) -> Int {
        Preload.run(count, as: SoakClients.senders.lowerBound + 1, place, told) { number, line in
            let letter = self.store.life(Self.earlier + number).letters[0]
            return self.send(letter, over: &line, Exchanges())
        }
    }

    func run(_ thread: Int, until stop: StopFlag) {
        let client = SoakClients.senders.lowerBound + thread
        var line = Line(place.connect(as: client))
        var waiting: [AppStoreNotification] = []
        var number = thread
        while !stop.isSet {
            for letter in store.life(number).letters where !stop.isSet {
                let again = waiting
                waiting = ([letter] + again.prefix(1)).filter { !send($0, over: &line, exchanges) }
                waiting += again.dropFirst()
                stop.wait(Self.pace)
            }
            number += threadCount
        }
        for _ in 0..<Self.lastTries where !waiting.isEmpty {
            waiting = waiting.filter { !send($0, over: &line, exchanges) }
            if !waiting.isEmpty { pause(500) }
        }
        let count = waiting.count
        letters.withLock { $0.open += count }
    }

    private func send(
        _ letter: AppStoreNotification,
        over line: inout Line,
        _ exchanges: Exchanges
    ) -> Bool {
        let body = place.site.body(of: letter)
        let answer = line.exchange(exchanges) { try $0.post(body, to: Site.notifications) }
        guard answer?.status == 200 else { return false }
        letters.withLock { $0.acknowledged.append(letter.uuid) }
        return true
    }
}

/// Devices that present purchases, from the same address as forged notifications.
final class HonestDevices: SoakParticipant {
    let exchanges = Exchanges()
    let threadCount = 1
    private let place: SoakPlace
    private let store: Store
    private let wrong = Locked(0)

    init(_ place: SoakPlace, _ store: Store) {
        self.place = place
        self.store = store
    }

    /// The number of accepted presentations without the purchased access.
    var wrongCount: Int { wrong.withLock { $0 } }

    func run(_ thread: Int, until stop: StopFlag) {
        var line = Line(place.connect(as: SoakClients.device))
        var number = 0
        while !stop.isSet {
            let life = store.life(number)
            number += 1
            guard life.isListed else { continue }
            let body = Presentation.of([life.letters[0]], place.site)
            let answer = line.exchange(exchanges) {
                try $0.post(body, to: SoakPlace.reconcile(life.customer), key: place.publicKey)
            }
            if let answer, answer.status == 200, !answer.says(#""access":true"#) {
                wrong.withLock { $0 += 1 }
            }
            stop.wait(1_000)
        }
    }
}

/// A customer with many purchases of consumables.
final class LargeCustomer: SoakParticipant {
    let exchanges = Exchanges()
    /// 32 new purchases presented at once.
    let presentations = Exchanges()
    let threadCount = 2
    /// The maximum number in one request.
    private static let presented = 32
    private static let token = "5a4e0000-0000-4000-8000-00000000b16b"
    private let place: SoakPlace
    private let store: Store
    private let letters = Locked([String]())

    init(_ place: SoakPlace, _ store: Store) {
        self.place = place
        self.store = store
    }

    var acknowledged: [String] { letters.withLock { $0 } }

    /// Sends the earlier purchases. Returns the number that were not accepted.
    func preload(_ count: Int, told: @escaping @Sendable (Int) -> Void) -> Int {
        Preload.run(count, as: SoakClients.buyer, place, told) { number, line in
            self.buy(number, over: &line, Exchanges())
        }
    }

    func run(_ thread: Int, until stop: StopFlag) {
        var line = Line(place.connect(as: SoakClients.buyer, patience: 60))
        var number = 1_000_000 * (thread + 1)
        while !stop.isSet {
            if thread == 0 {
                _ = buy(number, over: &line, exchanges)
                number += 1
                stop.wait(500)
            } else {
                present(number..<number + Self.presented, over: &line)
                number += Self.presented
                stop.wait(20_000)
            }
        }
    }

    private func buy(_ number: Int, over line: inout Line, _ exchanges: Exchanges) -> Bool {
        let letter = store.purchase(number, by: Self.token)
        let body = place.site.body(of: letter)
        let answer = line.exchange(exchanges) { try $0.post(body, to: Site.notifications) }
        guard answer?.status == 200 else { return false }
        letters.withLock { $0.append(letter.uuid) }
        return true
    }

    private func present(_ numbers: Range<Int>, over line: inout Line) {
        let letters = numbers.map { store.purchase($0, by: Self.token) }
        let body = Presentation.of(letters, place.site)
        _ = line.exchange(presentations) {
            try $0.post(body, to: SoakPlace.reconcile(Self.token), key: place.publicKey)
        }
    }
}

/// Presentations of purchases by a device.
enum Presentation {
    /// Presents the transactions in notifications.
    static func of(_ letters: [AppStoreNotification], _ site: Site) -> [UInt8] {
        let transactions = letters.map { JSONValue.string(transaction(in: site.body(of: $0))) }
        return JSONValue.object(["transactions": .array(transactions)]).encoded()
    }

    static func transaction(in body: [UInt8]) -> String {
        do {
            let payload = try JWS(JSONDocument(body).root["signedPayload"]?.utf8 ?? []).payload
            return try JSONDocument(payload).root["data"]?["signedTransactionInfo"]?.string ?? ""
        } catch {
            preconditionFailure("a notification of a simulated store can be read: \(error)")
        }
    }
}

// MARK: - Attackers

/// A client that extracted the public key of an app, and sends every write that the key permits.
final class KeyAbuser: SoakParticipant {
    let exchanges = Exchanges()
    let threadCount = SoakClients.abusers.count
    private let place: SoakPlace
    private let customer: String
    private let proof: String

    init(_ place: SoakPlace, _ store: Store) {
        self.place = place
        let life = store.life(0)
        customer = life.customer
        proof = Presentation.transaction(in: place.site.body(of: life.letters[0]))
    }

    func run(_ thread: Int, until stop: StopFlag) {
        var line = Line(place.connect(as: SoakClients.abusers.lowerBound + thread))
        var turn = 0
        while !stop.isSet {
            let (id, body) = request("\(thread)-\(turn)", turn)
            _ = line.exchange(exchanges) {
                try $0.post(Array(body.utf8), to: SoakPlace.reconcile(id), key: place.publicKey)
            }
            turn += 1
            stop.wait(5)
        }
    }

    private func request(_ name: String, _ turn: Int) -> (id: String, body: String) {
        switch turn % 5 {
        case 0: ("unknown-\(name)", #"{"nothing":true}"#)
        case 1: ("empty-\(name)", "{}")
        case 2: (customer, conclusion(access: turn / 5 % 2 == 0))
        case 3: ("thief-\(name)", #"{"transactions":["\#(proof)"]}"#)
        default: (String(repeating: "x", count: 257 + turn % 2_000), #"{"nothing":true}"#)
        }
    }

    private func conclusion(access: Bool) -> String {
        #"{"device":{"entitlements":{"premium":{"access":\#(access)}}}}"#
    }
}

/// Back ends that request a long report continuously.
final class ReportReaders: SoakParticipant {
    let exchanges = Exchanges()
    let threadCount = 4
    private let place: SoakPlace

    init(_ place: SoakPlace) { self.place = place }

    func run(_ thread: Int, until stop: StopFlag) {
        while !stop.isSet {
            var line = Line(place.connect(as: SoakClients.reader, patience: 60))
            _ = line.exchange(exchanges) {
                try $0.get("/v1/reports/lockouts?app=\(Site.app)", key: place.secretKey)
            }
            stop.wait(50)
        }
    }
}

/// Clients from many addresses that connect and then send nothing, or very little.
final class Loiterers: SoakParticipant {
    let threadCount = 1
    private let place: SoakPlace
    private let clients: [Int]
    private let count: Int
    private let opening: [UInt8]
    private let morsel: [UInt8]
    private let closed = Locked(0)

    init(
        _ place: SoakPlace,
        _ count: Int,
        from clients: Range<Int>,
        opening: String = "",
        morsel: String = ""
    ) {
        self.place = place
        self.count = count
        self.clients = Array(clients)
        self.opening = Array(opening.utf8)
        self.morsel = Array(morsel.utf8)
    }

    /// The number of connections that the server closed.
    var closedCount: Int { closed.withLock { $0 } }

    func run(_ thread: Int, until stop: StopFlag) {
        let turn = Locked(0)
        let (clients, place) = (clients, place)
        var crowd = Crowd(opening: opening, morsel: morsel) {
            let next = turn.withLock { turn in
                turn += 1
                return turn
            }
            return try place.connect(as: clients[next % clients.count], patience: 1)()
        }
        while !stop.isSet {
            // A full server rejects some of them.
            try? crowd.join(count)
            stop.wait(1_000)
            crowd.look()
            let gone = crowd.lives.count
            closed.withLock { $0 = gone }
        }
    }
}

/// A client that sends forged notifications as fast as they are rejected.
final class Forger: SoakParticipant {
    let threadCount = 1
    /// Below the limit of an address, which other clients share.
    private static let connections = 50
    private let flood: Flood

    init(_ place: SoakPlace) throws {
        flood = Flood(
            requests: try Forgeries(of: place.site).requests,
            connections: Self.connections,
            connect: place.connect(as: SoakClients.forger)
        )
    }

    var answers: [Int: Int] { flood.answers }

    func run(_ thread: Int, until stop: StopFlag) {
        let threads = flood.start()
        while !stop.isSet { pause(100) }
        flood.stop(threads)
    }
}
