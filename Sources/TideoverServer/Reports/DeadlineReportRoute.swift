import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/reports/deadlines`: what must happen by when, soonest first, for each environment
/// of each app.
struct DeadlineReportRoute {
    let contexts: [AppContext]
    let now: Instant
    /// The environments that the App Store is asked about.
    let backfillers: [Backfiller]

    /// The maximum number of deadlines of one environment.
    static let most = 500

    func respond(to request: Request) async throws -> Response {
        let now = now
        let kinds = try kinds(request)
        var writer = JSONWriter()
        try await writer.report(of: contexts, at: now) { context, environment in
            let (app, storage) = (context.app, context.storage)
            let waiting = context.consumption[app.id, environment]?.waiting ?? []
            let history = try backfillers.first(app.id, environment)?.historyEnd()
            let certificates = app.appStore?.certificateEnds(in: environment) ?? []
            let all = try await context.longRead { read in
                var deadlines = DeadlineList(app, environment, at: now)
                try storage.eachLineageRecord(in: AppScope(app.id, environment)) { record in
                    try read.goOn()
                    deadlines.add(record)
                }
                for request in waiting { deadlines.add(request) }
                if let history { deadlines.add(historyEnd: history) }
                for end in certificates { deadlines.add(end) }
                return deadlines.all
            }
            let found = all.filter { kinds.contains($0.kind) }
            return { writer in
                writer.field("deadlines", objects: found.prefix(Self.most)) {
                    $0.writeFields(to: &$1)
                }
                writer.field("more", found.count > Self.most)
            }
        }
        return .json(bytes: writer.bytes, headers: ["Cache-Control": "private, no-store"])
    }

    private func kinds(_ request: Request) throws -> Set<ReportedDeadline.Kind> {
        guard let text = request.queryValue("kind") else {
            return Set(ReportedDeadline.Kind.allCases)
        }
        guard let kind = ReportedDeadline.Kind(rawValue: text) else {
            throw Problem.badDeadlineKind(text)
        }
        return [kind]
    }
}

/// Something that must happen by an instant.
struct ReportedDeadline: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Grace ends, and access with it.
        case graceEnd
        /// The store gives up on the payment of a purchase on hold.
        case holdEnd
        /// Google Play refunds a purchase that is not acknowledged.
        case acknowledgement
        /// The App Store stops waiting for consumption information.
        case consumption
        /// The App Store's history of notifications no longer reaches back to the last walk.
        case notificationHistory
        /// A root certificate that is built in or configured ends.
        case rootCertificate
        /// A certificate that signed data of the App Store ends.
        case signingCertificate
        /// The last answer about a certificate's revocation is no longer current. Only while the
        /// responder does not answer.
        case revocationAnswer

        var sentence: String {
            switch self {
            case .graceEnd: "Access ends unless the payment succeeds."
            case .holdEnd: "The store gives up unless the payment succeeds."
            case .acknowledgement: "Google Play refunds the purchase unless it is acknowledged."
            case .consumption:
                "The App Store decides about a refund without consumption information."
            case .notificationHistory:
                "The App Store forgets notifications that were missed, unless a backfill succeeds."
            case .rootCertificate:
                "Data that is signed later under this root is rejected."
            case .signingCertificate:
                "The App Store signs with another certificate; this one is rejected."
            case .revocationAnswer:
                "The certificate counts as unchecked, unless the responder answers again."
            }
        }
    }

    let kind: Kind
    let at: Instant
    var customer: CustomerID?
    var purchase: Lineage?
    var product: String?
    var certificate: String?

    func writeFields(to writer: inout JSONWriter) {
        writer.field("kind", kind.rawValue)
        writer.field("at", at.rfc3339)
        writer.field("customer", customer?.text)
        writer.field("purchase", purchase?.key)
        writer.field("product", product)
        writer.field("certificate", certificate)
        writer.field("sentence", kind.sentence)
    }
}

/// The deadlines of one app in one environment after an instant.
struct DeadlineList {
    private let now: Instant
    private let history: PolicyHistory
    private var found: [ReportedDeadline] = []

    init(_ app: App, _ environment: Environment, at now: Instant) {
        self.now = now
        history = app.policyHistory(in: environment)
    }

    /// Soonest first.
    var all: [ReportedDeadline] {
        found.filter { $0.at > now }.sorted {
            ($0.at, $0.kind.rawValue, $0.purchase?.key ?? $0.certificate ?? "")
                < ($1.at, $1.kind.rawValue, $1.purchase?.key ?? $1.certificate ?? "")
        }
    }

    mutating func add(_ record: LineageRecord) {
        let lineageHistory = LineageHistory(
            lineage: record.lineage,
            facts: record.facts,
            catalogue: history.catalogue.value(at: now)
        )
        let customer = record.owners.owner(at: now)
        let policy = history.policy.value(at: now)
        let standing = lineageHistory.standing(at: now, policy: policy)
        switch standing.state {
        case .grace:
            if let end = standing.graceUntil ?? standing.accessUntil {
                add(.graceEnd, at: end, customer, record.lineage, standing.productId)
            }
        // The store resumes a paused subscription by itself.
        case .hold where standing.reason != .paused:
            let later = lineageHistory.boundaries(policy: policy).filter { $0 > now }.sorted()
            let end = later.first {
                lineageHistory.standing(at: $0, policy: policy).state != .hold
            }
            if let end { add(.holdEnd, at: end, customer, record.lineage, standing.productId) }
        default: break
        }
        guard record.lineage.store == .googlePlay else { return }
        let plan = PlayPlan(
            PlayLineageWords(record.facts),
            pace: lineageHistory.pace,
            PlayMemory()
        )
        for purchase in plan.acknowledgements {
            add(.acknowledgement, at: purchase.dueBy, customer, record.lineage, purchase.productId)
        }
    }

    mutating func add(_ request: ConsumptionRequest) {
        add(.consumption, at: request.deadline, nil, request.lineage, nil)
    }

    mutating func add(historyEnd: Instant) {
        add(.notificationHistory, at: historyEnd, nil, nil, nil)
    }

    mutating func add(_ end: CertificateEnd) {
        let kind: ReportedDeadline.Kind =
            switch end.subject {
            case .root: .rootCertificate
            case .signing: .signingCertificate
            case .revocationAnswer: .revocationAnswer
            }
        found.append(ReportedDeadline(kind: kind, at: end.at, certificate: end.certificate))
    }

    private mutating func add(
        _ kind: ReportedDeadline.Kind,
        at instant: Instant,
        _ customer: CustomerID?,
        _ purchase: Lineage?,
        _ product: String?
    ) {
        found.append(
            ReportedDeadline(
                kind: kind,
                at: instant,
                customer: customer,
                purchase: purchase,
                product: product
            )
        )
    }
}

extension Problem {
    fileprivate static func badDeadlineKind(_ found: String) -> Problem {
        let names = ReportedDeadline.Kind.allCases.map { "`\($0.rawValue)`" }.joined(
            separator: ", "
        )
        return Problem(
            "bad-deadline-kind",
            detail: "`kind` is one of \(names).",
            members: ["parameter": "kind", "found": .string(found)]
        )
    }
}
