package import TideoverCore
import TideoverJSON
package import TideoverStorage

/// How the changes of a store reached the server, for one app in one environment, and how late. A
/// change is pushed by the store, found by a query, or sent by a device.
///
/// The report counts each change (``LearnedChange``) that was pushed, and others that became true
/// since the first was learned. Older changes could not have been pushed; only their number is
/// reported.
package struct ArrivalReport: Hashable, Sendable {
    package let app: String
    package let environment: Environment
    package let store: Store
    /// When the first change was learned; nil if there is none.
    package let since: Instant?
    /// The delays by the way in which a change first arrived.
    package private(set) var ways: [LearnedChange.Way: DelayDistribution] = [:]
    /// How long changes found only by a query had been true before. Changes dated less than a
    /// minute before are excluded, because a read is signed when it is requested and may have no
    /// other date.
    package private(set) var healing = DelayDistribution()
    /// The number of changes from before `since`, which no other figure includes.
    package private(set) var earlier = 0

    package init(app: String, environment: Environment, store: Store, since: Instant?) {
        self.app = app
        self.environment = environment
        self.store = store
        self.since = since
    }

    /// The denominator of all shares.
    package var changes: Int { ways.values.reduce(0) { $0 + $1.count } }

    /// Returns the share of changes that first arrived in a way.
    package func share(_ way: LearnedChange.Way) -> Share {
        Share(ways[way]?.count ?? 0, of: changes)
    }

    /// Adds the facts of one lineage.
    package mutating func add(_ lineageRecord: LineageRecord) {
        guard lineageRecord.lineage.store == store, let since else { return }
        for change in LearnedChange.changes(among: lineageRecord.facts) {
            guard change.way == .pushed || change.trueSince >= since else {
                earlier += 1
                continue
            }
            ways[change.way, default: DelayDistribution()].add(change.delay)
            if change.way == .asked, change.blindness >= .minutes(1) {
                healing.add(change.blindness)
            }
        }
    }
}

extension ArrivalReport {
    /// Reads the storage twice, page by page: first to find `since`, then to count. It blocks its
    /// thread.
    init(
        _ context: AppContext,
        _ environment: Environment,
        _ store: Store,
        _ read: LongRead
    ) throws {
        let (app, storage) = (context.app.id, context.storage)
        var since: Instant?
        try storage.eachLineageRecord(in: AppScope(app, environment)) { lineageRecord in
            try read.goOn()
            guard lineageRecord.lineage.store == store else { return }
            for fact in lineageRecord.facts where LearnedChange.Way(fact.source) != nil {
                since = min(since ?? fact.learnedAt, fact.learnedAt)
            }
        }
        var report = Self(app: app, environment: environment, store: store, since: since)
        try storage.eachLineageRecord(in: AppScope(app, environment)) {
            try read.goOn()
            report.add($0)
        }
        self = report
    }
}

// MARK: - JSON

extension ArrivalReport {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("app", app)
        writer.field("environment", environment.rawValue)
        writer.field("store", store.rawValue)
        writer.field("since", since?.rfc3339)
        writer.field("changes", changes)
        for way in LearnedChange.Way.allCases {
            writer.field(
                way.rawValue,
                object: { writer in
                    let share = share(way)
                    writer.field("count", share.part)
                    writer.field("of", share.whole)
                    writer.field("share", share.value)
                    writer.field("delay", ways[way] ?? DelayDistribution())
                }
            )
        }
        writer.field("timeToHeal", healing)
        writer.field("earlier", earlier)
    }
}

extension JSONWriter {
    fileprivate mutating func field(_ key: String, _ lengths: DelayDistribution) {
        field(
            key,
            object: { writer in
                writer.field("of", lengths.count)
                writer.field("medianSeconds", lengths.quantile(percent: 50)?.seconds)
                writer.field("p95Seconds", lengths.quantile(percent: 95)?.seconds)
            }
        )
    }
}

extension Milliseconds {
    var seconds: Double { Double(count) / 1_000 }
}
