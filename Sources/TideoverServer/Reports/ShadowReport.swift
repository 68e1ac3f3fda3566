import TideoverCore
import TideoverJSON
import TideoverStorage

/// A page of customers with stored responses of RevenueCat, compared with our answers.
struct ShadowReport: Sendable {
    private let customers: [CustomerShadow]
    /// The last customer of the page; nil if it is empty.
    private let last: CustomerID?
    private let more: Bool

    /// Reads the stored responses of an app, customer by customer; it blocks its thread.
    /// `environment` is the one of our answers. It compares at most `limit` customers after
    /// `after`.
    init(
        _ context: AppContext,
        _ environment: Environment,
        after: CustomerID?,
        limit: Int,
        at now: Instant,
        _ read: LongRead
    ) throws {
        let (app, storage) = (context.app, context.storage)
        var groups: [(customer: CustomerID, answers: [KeptAnswer])] = []
        var place = after.map(RelayedAnswer.place(behind:))
        let pageLength = 200
        reading: while let reader = app.revenueCat?.reader {
            let page = try storage.evidence(
                in: AppScope(app.id, app.answeredEnvironment),
                keyed: RelayedAnswer.prefix,
                after: place,
                limit: pageLength
            )
            try read.goOn()
            for piece in page {
                guard let customer = RelayedAnswer.customer(in: piece.dedupeKey) else { continue }
                if groups.last?.customer != customer {
                    guard groups.count <= limit else { break reading }
                    groups.append((customer, []))
                }
                if let answer = KeptAnswer(piece, reader) {
                    groups[groups.count - 1].answers.append(answer)
                }
            }
            guard page.count == pageLength else { break }
            place = page.last?.dedupeKey
        }
        more = groups.count > limit
        last = groups.prefix(limit).last?.customer
        customers = try groups.prefix(limit).compactMap { customer, answers in
            try read.goOn()
            let key = CustomerKey(app: app.id, environment: environment, customer: customer)
            return CustomerShadow(answers, try storage.knownLineages(of: key, now: now), of: app)
        }
    }

    /// Compares all responses about one customer; nil if none is stored.
    static func customer(
        _ key: CustomerKey,
        in context: AppContext,
        at now: Instant
    ) throws -> CustomerShadow? {
        let (app, storage) = (context.app, context.storage)
        guard let reader = app.revenueCat?.reader else { return nil }
        let kept = try storage.evidence(
            in: AppScope(app.id, app.answeredEnvironment),
            keyed: RelayedAnswer.prefix(of: key.customer),
            after: nil,
            limit: mostAnswers
        )
        let answers = kept.compactMap { KeptAnswer($0, reader) }
        return CustomerShadow(answers, try storage.knownLineages(of: key, now: now), of: app)
    }

    /// An upper limit for the responses about one customer, larger than any real number.
    private static let mostAnswers = 10_000

    func writeFields(to writer: inout JSONWriter, after: CustomerID?) {
        let differing = customers.filter(\.differs)
        let times = customers.map(\.time)
        writer.field("customers", customers.count)
        writer.field("differing", differing.count)
        writer.field("lockoutMinutes", times.reduce(0) { $0 + $1.denied.minutes })
        writer.field("entitledMinutes", times.reduce(0) { $0 + $1.entitled.minutes })
        writer.field("differences", objects: differing) { $0.writeFields(to: &$1) }
        writer.field("next", (last ?? after)?.text)
        writer.field("more", more)
    }
}
