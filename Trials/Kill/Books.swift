import Glibc
import TideoverLocks
import TideoverSandbox

/// The sender's own record of sent and acknowledged notifications.
///
/// It is in memory and in a journal. Every journal line is written before the next step.
final class Books: Sendable {
    /// One customer's notifications, which are sent one after the other.
    struct Account: Sendable {
        let customer: String
        let isListed: Bool
        let uuids: [String]
        /// The number that were sent at least once.
        var sent = 0
        /// The number that were answered 200.
        var acknowledged = 0
        /// The number that the last inspection found in the storage.
        var stored = 0
        /// Whether one of its notifications was lost, so that no further result is expected.
        var isAbandoned = false

        init(_ life: Store.Life) {
            customer = life.customer
            isListed = life.isListed
            uuids = life.letters.map(\.uuid)
        }
    }

    private struct State {
        var accounts: [Int: Account] = [:]
        /// The lives that must be inspected again.
        var touched: Set<Int> = []
        var nextLife: Int
        var unexpected: [String] = []
    }

    private let state: Locked<State>
    private let journal: Int32

    /// Creates a record of lives from a number on.
    init(journal path: String, from first: Int) {
        journal = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        precondition(journal >= 0, "the journal can be written beside the configuration")
        state = Locked(State(nextLife: first))
    }

    deinit { close(journal) }

    // MARK: Recording

    /// Returns the number of a new life.
    func begin() -> Int {
        state.withLock { state in
            defer { state.nextLife += 1 }
            return state.nextLife
        }
    }

    /// Records a notification before its first byte is sent.
    func sends(_ index: Int, of life: Store.Life) {
        state.withLock { state in
            state.touched.insert(life.number)
            var account = state.accounts[life.number] ?? Account(life)
            account.sent = max(account.sent, index + 1)
            state.accounts[life.number] = account
        }
        note("sent", life.letters[index].uuid)
    }

    /// Records an acknowledgement after the last byte of a 200.
    func acknowledged(_ index: Int, of life: Store.Life) {
        state.withLock { $0.accounts[life.number]?.acknowledged = index + 1 }
        note("acknowledged", life.letters[index].uuid)
    }

    /// Records an incorrect response.
    func unexpected(_ sentence: String) {
        state.withLock { $0.unexpected.append(sentence) }
        note("unexpected", sentence)
    }

    private func note(_ word: String, _ rest: String) {
        let line = Array("\(word) \(rest)\n".utf8)
        _ = write(journal, line, line.count)
    }

    // MARK: Reading

    var unexpected: [String] { state.withLock { $0.unexpected } }

    var acknowledgedCount: Int {
        state.withLock { $0.accounts.values.reduce(0) { $0 + $1.acknowledged } }
    }

    var accounts: [Int: Account] { state.withLock { $0.accounts } }

    /// Returns the accounts with new notifications since the last call.
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
