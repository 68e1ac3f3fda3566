package import TideoverCore
import TideoverGooglePlay
package import TideoverJSON
package import TideoverStorage

/// The facts stored about an app's catalogue: the products bought, and the grace granted after
/// failed payments.
package struct StoreSurvey: Hashable, Sendable {
    /// The grace that the store granted after a failed payment.
    package enum Grace: Hashable, Sendable, Comparable {
        /// The store stated that there is none.
        case absent
        /// The store granted this number of days, rounded.
        case days(Int64)
        /// The store granted grace of a length that does not reveal the setting. In a sandbox it is
        /// shortened with the period.
        case granted
    }

    /// Failures of one product with the same grace.
    package struct Failures: Hashable, Sendable {
        package internal(set) var count = 0
        /// When the term before the newest failure ended.
        package internal(set) var newest = Instant.distantPast
    }

    /// The number of terms of each product, by the store's id.
    package private(set) var terms: [String: Int] = [:]
    /// Failed renewals after fully paid terms, by product.
    package private(set) var failures: [String: [Grace: Failures]] = [:]
    /// Failed renewals after an offer; a setting may exclude them from grace.
    package private(set) var failuresAfterOffers = 0

    package init() {}

    /// Adds the facts of one lineage; `catalogue` provides the nominal periods.
    package mutating func add(_ lineageRecord: LineageRecord, _ catalogue: Catalogue) {
        guard lineageRecord.lineage.ownership == .purchased else { return }
        switch lineageRecord.lineage.store {
        case .appStore: addTerms(of: lineageRecord, catalogue)
        case .googlePlay: addAnswers(of: lineageRecord, catalogue)
        case .revenueCat, .tideover: break
        }
    }

    private mutating func addTerms(of lineageRecord: LineageRecord, _ catalogue: Catalogue) {
        var known: [TermKey: Term] = [:]
        var words: [Instant: FailureWords] = [:]
        for fact in lineageRecord.facts {
            switch fact.assertion {
            case .term(let term): known[term.key] = term
            case .outlook(let outlook):
                guard let end = outlook.renewalDate, let grace = outlook.graceEnd, grace > end
                else { continue }
                words[end, default: FailureWords()].graceEnd = grace
            case .condition(let condition):
                guard let end = condition.renewalDate else { continue }
                words[end, default: FailureWords()].add(condition)
            default: break
            }
        }
        for term in known.values { terms[term.productId, default: 0] += 1 }
        for (end, word) in words { count(word, at: end, among: known.values, catalogue) }
    }

    /// Google Play reports the last paid order, and granted grace, but never the absence of grace.
    private mutating func addAnswers(of lineageRecord: LineageRecord, _ catalogue: Catalogue) {
        var paid: [String: Set<String>] = [:]
        var granted: [String: Instant] = [:]
        for fact in lineageRecord.facts {
            switch fact.assertion {
            case .playSubscription(let read):
                for item in read.items {
                    let id = catalogue.listed(item.productId, item.basePlan)
                    guard read.startedAt != nil else { continue }
                    paid[id, default: []].insert(item.orderId ?? read.token.id)
                    guard read.state == .inGrace, let end = item.expiresAt else { continue }
                    granted[id] = max(granted[id] ?? end, end)
                }
            case .playPurchase(let read) where read.state == .purchased:
                for item in read.items {
                    let id = catalogue.listed(item.productId, nil)
                    paid[id, default: []].insert(read.orderId ?? read.token.id)
                }
            default: break
            }
        }
        for (id, orders) in paid { terms[id, default: 0] += orders.count }
        for (id, end) in granted {
            var failures = failures[id]?[.granted] ?? Failures()
            failures.count += 1
            failures.newest = max(failures.newest, end)
            self.failures[id, default: [:]][.granted] = failures
        }
    }

    /// A failure belongs to the term that ends at its date.
    private mutating func count(
        _ word: FailureWords,
        at end: Instant,
        among terms: some Collection<Term>,
        _ catalogue: Catalogue
    ) {
        let term = terms.first { $0.end.map { $0.isWithin(.seconds(1), of: end) } ?? false }
        guard let term, let grace = word.grace(after: term, catalogue[term.productId]?.period)
        else { return }
        guard term.offer == nil else {
            failuresAfterOffers += 1
            return
        }
        var failures = failures[term.productId]?[grace] ?? Failures()
        failures.count += 1
        failures.newest = max(failures.newest, end)
        self.failures[term.productId, default: [:]][grace] = failures
    }
}

/// The store's observations of one failed renewal.
private struct FailureWords {
    var graceEnd: Instant?
    private var isGranted = false
    private var isDenied = false

    mutating func add(_ condition: Condition) {
        if condition.status == .grace || condition.notice == .failedToRenewInGrace
            || condition.notice == .graceExpired
        {
            isGranted = true
        } else if condition.notice == .failedToRenew {
            isDenied = true
        }
    }

    /// Returns nil if nothing failed, or if it is unknown whether there was a grace.
    func grace(after term: Term, _ period: Period?) -> StoreSurvey.Grace? {
        if let graceEnd, let end = term.end {
            let nominal = period?.length(from: term.start)
            guard let nominal, (end - term.start).count * 2 > nominal.count else { return .granted }
            let day = Milliseconds.days(1).count
            return .days(((graceEnd - end).count + day / 2) / day)
        }
        if isGranted { return .granted }
        return isDenied ? .absent : nil
    }
}

// MARK: - JSON

extension StoreSurvey {
    /// Writes the survey into a response to `GET /v1/apps/{app}/survey`.
    package func writeFields(to writer: inout JSONWriter) {
        writer.field(
            "terms",
            array: { writer in
                for (product, count) in terms.sorted(by: { $0.key < $1.key }) {
                    writer.object { writer in
                        writer.field("product", product)
                        writer.field("count", count)
                    }
                }
            }
        )
        writer.field(
            "failures",
            array: { writer in
                for (product, failures) in failures.sorted(by: { $0.key < $1.key }) {
                    for (grace, failures) in failures.sorted(by: { $0.key < $1.key }) {
                        write(product, grace, failures, to: &writer)
                    }
                }
            }
        )
        writer.field("failuresAfterOffers", failuresAfterOffers)
    }

    private func write(
        _ product: String,
        _ grace: Grace,
        _ failures: Failures,
        to writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("product", product)
            switch grace {
            case .absent: writer.field("grace", "none")
            case .granted: writer.field("grace", "granted")
            case .days(let days): writer.field("grace", "P\(days)D")
            }
            writer.field("count", failures.count)
            writer.field("newest", failures.newest.rfc3339)
        }
    }

    /// Reads such a response; nil if it is not one.
    package init?(_ answer: JSONNode) {
        guard let terms = answer["terms"]?.elements, let failures = answer["failures"]?.elements
        else { return nil }
        for term in terms {
            guard let product = term["product"]?.string, let count = term["count"]?.int64 else {
                return nil
            }
            self.terms[product] = Int(count)
        }
        for failure in failures {
            guard let product = failure["product"]?.string,
                let grace = failure["grace"]?.string.flatMap(Grace.init(text:)),
                let count = failure["count"]?.int64,
                let newest = failure["newest"]?.string.flatMap({ Instant(rfc3339: $0) })
            else { return nil }
            self.failures[product, default: [:]][grace] = Failures(
                count: Int(count),
                newest: newest
            )
        }
        failuresAfterOffers = Int(answer["failuresAfterOffers"]?.int64 ?? 0)
    }
}

extension Catalogue {
    /// Returns the id under which the catalogue lists a product of Google Play, or the store's own
    /// id.
    fileprivate func listed(_ product: String, _ basePlan: String?) -> String {
        id(of: PlayProduct(id: product, basePlan: basePlan)) ?? product
    }
}

extension StoreSurvey.Grace {
    fileprivate init?(text: String) {
        switch text {
        case "none": self = .absent
        case "granted": self = .granted
        default:
            guard let period = Period(iso8601: text) else { return nil }
            self = .days(period.days)
        }
    }
}
