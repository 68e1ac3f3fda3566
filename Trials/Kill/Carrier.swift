import TideoverHTTP
import TideoverSandbox

/// Sends notifications over one connection at a time. Those without a response after a kill are
/// sent again first, with a new signature, as a store does.
struct Carrier {
    let site: Site
    let store: Store
    let books: Books
    /// Whether the server acknowledges notifications before it stores them, on purpose.
    let isWrong: Bool
    /// With it, a response 503 is expected while the database cannot be reached.
    let outages: OutageRecord?
    private var current: Store.Life?
    private var next = 0
    private var isRepeating = false
    private var port = 0

    init(
        _ site: Site,
        _ store: Store,
        _ books: Books,
        isWrong: Bool,
        outages: OutageRecord? = nil
    ) {
        self.site = site
        self.store = store
        self.books = books
        self.isWrong = isWrong
        self.outages = outages
    }

    /// Whether no life is unfinished.
    var isIdle: Bool { current == nil }

    /// Sends until the connection breaks or a notification is not acknowledged. Once `isFinishing`
    /// returns true, sends until every started life is acknowledged.
    mutating func carry(to port: Int, isFinishing: () -> Bool) {
        self.port = port
        guard let wire = try? Wire(port, patience: outages?.patience ?? 10) else { return }
        while !isIdle || !isFinishing() {
            let life = current ?? store.life(books.begin())
            current = life
            guard let body = send(life, over: wire) else { return }
            next += 1
            if next == life.letters.count { (current, next) = (nil, 0) }
            guard isWrong || life.number % 8 != 0 || sendAgain(body, over: wire) else { return }
        }
    }

    /// Returns the sent bytes; nil if they were not acknowledged.
    private mutating func send(_ life: Store.Life, over wire: Wire) -> [UInt8]? {
        let body = site.body(of: life.letters[next])
        books.sends(next, of: life)
        let wasSent = isRepeating
        isRepeating = true
        guard let answer = post(body, over: wire) else { return nil }
        guard answer.status == 200, wasSent || answer.says("committed") else {
            books.unexpected("a notification was answered \(answer.status) \(answer.problem ?? "")")
            return nil
        }
        isRepeating = false
        books.acknowledged(next, of: life)
        outages?.acknowledged(at: port)
        return body
    }

    /// A store may repeat an acknowledged notification. The repetition must change nothing.
    private func sendAgain(_ body: [UInt8], over wire: Wire) -> Bool {
        guard let answer = post(body, over: wire) else { return false }
        if answer.status == 200, answer.says("duplicate") { return true }
        books.unexpected("a repeated notification was answered \(answer.status)")
        return false
    }
    /// Returns the response; nil if there is none, or an expected 503.
    private func post(_ body: [UInt8], over wire: Wire) -> Response? {
        guard let outages else { return try? wire.post(body, to: Site.notifications) }
        return outages.response(over: wire) { () throws(Wire.Broken) in
            try wire.post(body, to: Site.notifications)
        }
    }
}
