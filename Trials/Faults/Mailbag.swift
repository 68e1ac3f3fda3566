import TideoverHTTP
import TideoverSandbox

/// Notifications for one server, and their results.
struct Mailbag {
    /// A notification, by its life and its place in it.
    struct Letter: Hashable {
        let life: Int
        let index: Int
    }

    let site: Site
    let store: Store
    private(set) var acknowledged: [Letter] = []
    private(set) var refused: [Letter] = []
    private var nextLife: Int

    /// Creates notifications of a store with lives that end now or at another instant, in
    /// milliseconds since 1970.
    init(_ site: Site, end: Int64 = systemMilliseconds(), spacing: Int64 = 3_600_000, from: Int = 0)
    {
        self.site = site
        var store = Store(seed: 1, end: end)
        store.spacing = spacing
        self.store = store
        nextLife = from
    }

    /// Sends the first notification of a new life and records the result.
    mutating func sendNext(over wire: Wire) throws -> Response {
        defer { nextLife += 1 }
        return try send(Letter(life: nextLife, index: 0), over: wire)
    }

    /// Sends all rejected notifications again. Returns the responses that still reject them.
    mutating func sendRefused(over wire: Wire) throws -> [Response] {
        let letters = refused
        refused = []
        return try letters.map { try send($0, over: wire) }.filter { $0.status != 200 }
    }

    private mutating func send(_ letter: Letter, over wire: Wire) throws -> Response {
        let life = store.life(letter.life)
        let answer = try wire.post(
            site.body(of: life.letters[letter.index]),
            to: Site.notifications
        )
        if answer.status == 200 { acknowledged.append(letter) } else { refused.append(letter) }
        return answer
    }

    /// Customers who bought a listed product and have access.
    var entitled: [String] {
        acknowledged.map { store.life($0.life) }.filter(\.isListed).map(\.customer)
    }

    /// Requests the answers of some of them. Returns the number of incorrect ones.
    func wrongAnswers(over wire: Wire, atMost count: Int = 50) throws -> Int {
        try entitled.suffix(count).count { customer in
            let answer = try wire.get(Site.snapshot(of: customer))
            return answer.status != 200 || !answer.says(#""access":true"#)
        }
    }

    /// Checks the file of a stopped server: it contains every acknowledged notification and nothing
    /// else, and is intact.
    func inspect(into finding: inout Finding) throws {
        let audit = try Audit(site.database)
        let lost = try acknowledged.count { letter in
            try !audit.holds(store.life(letter.life).letters[letter.index].uuid)
        }
        let problems = try audit.problems()
        finding.expect(lost == 0, "\(lost) of \(acknowledged.count) acknowledged are lost")
        finding.expect(problems.isEmpty, "the file is damaged: \(problems)")
        let stored = try audit.evidenceCount()
        finding.expect(
            stored == Set(acknowledged).count,
            "\(stored) notifications are stored, \(Set(acknowledged).count) were acknowledged"
        )
    }
}
