import TideoverCore
import TideoverJSON
import TideoverKit

/// A device, its disk, its store and a server, as values. Every action is one effect, and the
/// process can be killed before any of them.
struct SimulatedWorld {
    let settings: KitSettings
    var machine: EntitlementMachine
    /// The content of the disk.
    var disk: [UInt8]?
    /// Whether the disk refuses to be read, as before the first unlock of a device.
    var isUnreadable = false
    /// The transactions that the store offers until they are finished.
    var unfinished: [SignedPurchase] = []
    var statuses: [SignedStatus] = []
    var purchases: [SignedPurchase] = []
    var isReachable = true
    var takesNothing = false
    /// Whether the server's responses do not arrive, although it commits.
    var losesReplies = false
    /// A purchase that the store offers only after it synchronised.
    var offeredAfterSync: SignedPurchase?
    /// Whether the disk is slower than everything else.
    var writesSlowly = false
    /// The server's committed transactions, with the number of times each was new to it.
    var committed: [UInt64: Int] = [:]
    private var committedDocuments: Set<String> = []
    private var committedProducts: Set<String> = []
    var finished: [UInt64] = []
    /// Transactions that were finished before any durable copy existed.
    var lost: [UInt64] = []
    /// The number of times each transaction was presented to the server.
    var presented: [UInt64: Int] = [:]
    var syncs = 0
    var restores: [RestoreOutcome] = []
    var shown: [EntitlementState] = []
    var displayed: [StoreMessage] = []
    var now = TestPurchases.start
    /// The number of effects before the process is killed; nil for no limit.
    var life: Int?
    private(set) var effects = 0

    init(
        withServer: Bool,
        capacity: Int = 256,
        trial: Period? = nil,
        isFileLasting: Bool = true
    ) {
        var settings = TestPurchases.settings(withServer: withServer)
        settings.isFileLasting = isFileLasting
        settings.capacity = capacity
        settings.catalogue.products["pro"]?.trial = trial
        self.settings = settings
        machine = EntitlementMachine(settings: settings)
    }

    /// Makes the store offer a bought subscription.
    mutating func offer(_ purchase: SignedPurchase) {
        unfinished.append(purchase)
        statuses = [TestPurchases.status(purchase)]
    }

    private struct Killed: Error {}

    private var reading: ClockReading {
        ClockReading(clock: now, uptime: now - TestPurchases.start)
    }

    /// Restarts the process from the content of the disk.
    mutating func launch() {
        machine = EntitlementMachine(
            settings: settings,
            kept: isUnreadable ? nil : disk.flatMap(KeptState.init(json:)),
            isKeptRead: !isUnreadable
        )
        send(.launched)
    }

    /// Sends an event and carries out all resulting actions; a killed process is launched again.
    mutating func send(_ event: EntitlementMachine.Event) {
        do throws(Killed) {
            var waiting = [event]
            var writes: [EntitlementMachine.Action] = []
            while !waiting.isEmpty || !writes.isEmpty {
                if waiting.isEmpty { waiting += try carryOut(writes.removeFirst()) }
                for action in machine.happened(waiting.removeFirst(), at: reading) {
                    if writesSlowly, case .write = action {
                        writes.append(action)
                    } else {
                        waiting += try carryOut(action)
                    }
                }
            }
        } catch {
            life = nil
            launch()
        }
    }

    private mutating func carryOut(
        _ action: EntitlementMachine.Action
    ) throws(Killed) -> [EntitlementMachine.Event] {
        if let life, effects >= life { throw Killed() }
        effects += 1
        switch action {
        case .readStore:
            return [
                .storeRead(
                    StoreReading(statuses: statuses, purchases: purchases, unfinished: unfinished)
                )
            ]
        case .readKept:
            return [isUnreadable ? .keptUnreadable : .keptRead(disk.flatMap(KeptState.init(json:)))]
        case .write(let kept, let revision):
            disk = kept.json
            return [.written(revision: revision)]
        case .reconcile(let round, let page, let evidence, _):
            return [answer(evidence, round, page)]
        case .finish(let id): return [finish(id)]
        case .sync:
            syncs += 1
            if let offeredAfterSync { offer(offeredAfterSync) }
            offeredAfterSync = nil
            return [.synced]
        case .publish(let state): shown.append(state)
        case .display(let message): displayed.append(message)
        case .endRestore(let outcome): restores.append(outcome)
        case .verifyPass, .fetchKeys, .wake: break
        }
        return []
    }

    private mutating func finish(_ id: UInt64) -> EntitlementMachine.Event {
        let kept = disk.flatMap(KeptState.init(json:))?.queue.map(\.purchase.transactionId) ?? []
        if !kept.contains(id), committed[id] == nil { lost.append(id) }
        unfinished.removeAll { $0.transactionId == id }
        finished.append(id)
        return .finished(transactionId: id)
    }

    private mutating func answer(
        _ page: EvidencePage,
        _ round: Int,
        _ number: Int
    ) -> EntitlementMachine.Event {
        guard isReachable else { return .reconcileFailed(round: round, page: number) }
        for purchase in page.transactions { presented[purchase.transactionId, default: 0] += 1 }
        for purchase in page.transactions where purchase.isVerified && !takesNothing {
            committedProducts.insert(purchase.productId)
            if committedDocuments.insert(purchase.jws).inserted {
                committed[purchase.transactionId, default: 0] += 1
            }
        }
        guard !losesReplies, let reply = try? ServerReply(body(for: page), to: page) else {
            return .reconcileFailed(round: round, page: number)
        }
        return .reconcileAccepted(round: round, page: number, reply)
    }

    private func body(for page: EvidencePage) -> [UInt8] {
        let isEntitled = committedProducts.contains("pro")
        let end = isEntitled ? (TestPurchases.start + TestPurchases.month).rfc3339 : nil
        let entitlement: JSONObject = [
            "state": .string(isEntitled ? "active" : "never"), "access": .bool(isEntitled),
            "reason": .string(isEntitled ? "paid" : "unknown"), "confidence": "confirmed",
            "productId": isEntitled ? "pro" : .null,
            "accessUntil": end.map(JSONValue.string) ?? .null, "pending": [],
        ]
        let items = page.transactions.indices.map { index -> JSONValue in
            let isTaken = page.transactions[index].isVerified && !takesNothing
            return .object([
                "kind": "transaction", "index": .integer(Int64(index)),
                "verdict": .string(isTaken ? "accepted" : "refused"),
                "reason": .string(isTaken ? "" : "wrong-bundle"),
            ])
        }
        return JSONValue.object([
            "environment": "production", "asOf": .string(now.rfc3339), "customerVersion": 1,
            "entitlements": .object(["premium": .object(entitlement)]),
            "prompt": .object(["kind": "none"]), "items": .array(items),
        ]).encoded()
    }
}
