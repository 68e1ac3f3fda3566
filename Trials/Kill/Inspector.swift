import TideoverHTTP

/// Compares the stored data and the answers with the sender's record.
struct Inspector {
    /// The expected data of a customer, from an undisturbed run: by whether the product is listed,
    /// then by the number of notifications.
    typealias Standard = [Bool: [Traces]]

    let site: Site
    let books: Books
    let standard: Standard
    private(set) var lost: Set<String> = []
    private(set) var doubled: Set<String> = []
    private(set) var wrong: [String] = []
    private(set) var problems: [String] = []

    init(_ site: Site, _ books: Books, _ standard: Standard) {
        self.site = site
        self.books = books
        self.standard = standard
    }

    // MARK: The stored data

    /// Inspects the accounts with new notifications, and all totals. No server may be running,
    /// unless all notifications were acknowledged.
    mutating func inspect(
        _ accounts: [Int: Books.Account],
        besideServers: Bool = false
    ) throws {
        let audit = try site.audit(besideServers: besideServers)
        let events = try audit.events()
        for (number, account) in accounts {
            try inspect(number, account, audit, events[account.customer] ?? 0)
        }
        try addUp(audit)
        problems += try audit.problems()
    }

    private mutating func inspect(
        _ number: Int,
        _ account: Books.Account,
        _ audit: any StoredWork,
        _ events: Int
    ) throws {
        var account = account
        let isStored = try account.uuids.prefix(account.sent).map { try audit.holds($0) }
        account.stored = isStored.count { $0 }
        for (index, uuid) in account.uuids.prefix(account.acknowledged).enumerated()
        where !isStored[index] {
            lost.insert(uuid)
            account.isAbandoned = true
        }
        books.update(number, account)
        guard !account.isAbandoned else { return }
        var traces = try audit.traces(of: account.customer)
        traces.events = events
        compare(traces, account)
    }

    /// A stored notification must have had its effects exactly once.
    private mutating func compare(_ traces: Traces, _ account: Books.Account) {
        guard let expected = standard[account.isListed]?[account.stored], traces != expected else {
            return
        }
        wrong.append("\(account.stored) notifications left \(traces) and not \(expected)")
        let name = account.uuids[max(0, account.stored - 1)]
        if traces.facts < expected.facts || traces.version < expected.version
            || traces.events < expected.events
        {
            lost.insert(name)
        } else {
            doubled.insert(name)
        }
    }

    /// Counters without a key show work that was done twice.
    private mutating func addUp(_ audit: any StoredWork) throws {
        let accounts = books.accounts.values
        let stored = accounts.reduce(0) { $0 + $1.stored }
        let unlisted = accounts.reduce(0) { $0 + ($1.isListed ? 0 : $1.stored) }
        let sums = [
            ("notifications", try audit.evidenceCount(), stored),
            ("counted products", try audit.unlistedCount(), unlisted),
        ]
        for (name, found, expected) in sums where found != expected {
            let sentence = "\(found) \(name) stored where \(expected) were found one by one"
            wrong.append(sentence)
            if found > expected { doubled.insert(sentence) } else { lost.insert(sentence) }
        }
    }

    /// At the end, every sent notification must be acknowledged.
    mutating func expectNothingUnanswered() {
        let count = books.accounts.values.count { $0.acknowledged < $0.sent && !$0.isAbandoned }
        if count > 0 { wrong.append("\(count) customers have notifications without an answer") }
    }

    // MARK: The answers

    /// Requests the answers about the customers whose accounts were just inspected.
    mutating func ask(about customers: [Int], at port: Int) throws {
        let accounts = books.accounts
        let wire = try Wire(port)
        for account in customers.compactMap({ accounts[$0] }) where !account.isAbandoned {
            try ask(about: account, over: wire)
        }
    }

    private mutating func ask(about account: Books.Account, over wire: Wire) throws {
        let answer = try wire.get(Site.snapshot(of: account.customer))
        let version = standard[account.isListed]?[account.stored].version ?? 0
        let isEntitled = account.isListed && (1...2).contains(account.stored)
        let parts = [
            #""customerVersion":\#(version)"#, #""access":\#(isEntitled)"#,
            isEntitled ? #""willRenew":\#(account.stored == 1)"# : #""premium":"#,
        ]
        for part in parts where answer.status != 200 || !answer.says(part) {
            let words = String(decoding: answer.body.prefix(600), as: UTF8.self)
            wrong.append("after \(account.stored) notifications not \(part): \(words)")
        }
    }
}
