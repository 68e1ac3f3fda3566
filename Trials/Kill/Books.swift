import Glibc
import TideoverLocks
import TideoverSandbox

/// What the sender knows by itself: what it sent, and what was acknowledged to it. In memory, and in a
/// journal, to which every line is written before the next thing happens.
final class Books: Sendable {
    /// One customer's notifications, which are sent one after the other.
    struct Account: Sendable {
        let customer: String
        let isListed: Bool
        let uuids: [String]
        /// How many were sent at least once.
        var sent = 0
        /// How many were answered 200.
        var acknowledged = 0
        /// How many were found in the storage when it was last looked at.
        var stored = 0
        /// Whether something of it was lost, so that nothing more can be expected of it.
        var isAbandoned = false

        init(_ life: Store.Life) {
            customer = life.customer
            isListed = life.isListed
            uuids = life.letters.map(\.uuid)
        }
    }

    private struct State {
        var accounts: [Int: Account] = [:]
        /// Whose storage must be looked at again.
        var touched: Set<Int> = []
        var nextLife: Int
        var unexpected: [String] = []
    }

    private let state: Locked<State>
    private let journal: Int32

    /// Books of lives from a number on.
    init(journal path: String, from first: Int) {
        journal = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        precondition(journal >= 0, "the journal can be written beside the configuration")
        state = Locked(State(nextLife: first))
    }

    deinit { close(journal) }

    // MARK: What happens

    /// The number of a life that nobody has begun.
    func begin() -> Int {
        state.withLock { state in
            defer { state.nextLife += 1 }
            return state.nextLife
        }
    }

    /// Is told before the first byte of a notification leaves.
    func sends(_ index: Int, of life: Store.Life) {
        state.withLock { state in
            state.touched.insert(life.number)
            var account = state.accounts[life.number] ?? Account(life)
            account.sent = max(account.sent, index + 1)
            state.accounts[life.number] = account
        }
        note("sent", life.letters[index].uuid)
    }

    /// Is told once the last byte of a 200 has come.
    func acknowledged(_ index: Int, of life: Store.Life) {
        state.withLock { $0.accounts[life.number]?.acknowledged = index + 1 }
        note("acknowledged", life.letters[index].uuid)
    }

    /// Is told of an answer that should not have been given.
    func unexpected(_ sentence: String) {
        state.withLock { $0.unexpected.append(sentence) }
        note("unexpected", sentence)
    }

    private func note(_ word: String, _ rest: String) {
        let line = Array("\(word) \(rest)\n".utf8)
        _ = write(journal, line, line.count)
    }

    // MARK: What is asked

    var unexpected: [String] { state.withLock { $0.unexpected } }

    var acknowledgedCount: Int {
        state.withLock { $0.accounts.values.reduce(0) { $0 + $1.acknowledged } }
    }

    var accounts: [Int: Account] { state.withLock { $0.accounts } }

    /// Those sent to since the last time this was asked.
    func takeTouched() -> [Int: Account] {
        state.withLock { state in
            defer { state.touched = [] }
            return state.accounts.filter { state.touched.contains($0.key) }
        }
    }

    func update(_ number: Int, _ account: Account) {
        state.withLock { $0.accounts[number] = account }
    }
}
