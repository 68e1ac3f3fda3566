import Glibc
import TideoverAppStore
import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverLocks
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverSignatures
import TideoverStorage

/// `device`: measures receipts and passes, relative to the one OpenSSL operation that each needs.
enum DeviceWork {
    private static let folder = Parameter.option(
        "--folder",
        "FOLDER",
        "Where a folder for a database is made",
        default: "/tmp"
    )
    private static let seconds = Parameter.option(
        "--seconds",
        "N",
        "How long each loop runs",
        as: ValueForm<Int>.integer(in: 1...60),
        default: "3"
    )

    static let command = Command(
        "device",
        summary: "measure receipts, passes, and reads of passes",
        examples: [Example("TideoverBenchmarks device", "beside openssl speed, on one core")],
        parameters: [folder, seconds],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let folder = try Run.makeFolder(in: arguments[folder])
        defer { Files.removeFolder(folder) }
        let seconds = arguments[seconds]
        output.print(Machine.description(in: folder))
        let before = try Yardstick.receiptsAndPasses(in: folder, seconds: seconds)
        let loops = try Loops(nanoseconds: Int64(seconds) * 1_000_000_000)
        let reads = try await Reads.count(in: folder, reads: 20_000)
        let after = try Yardstick.receiptsAndPasses(in: folder, seconds: seconds)
        for line in loops.lines(before, after) + reads.lines { output.print(line) }
        return .success
    }

    /// Runs everything once, briefly.
    static func smoke(in folder: String) async throws -> [String] {
        let loops = try Loops(nanoseconds: 20_000_000)
        let reads = try await Reads.count(in: folder, reads: 200)
        return loops.lines(nil, nil) + reads.lines
    }
}

/// The time of one thread for a receipt, and for a pass.
private struct Loops {
    private let purchases: Int
    private let bytes: Int
    /// With new verification of the certificates, and with cached results.
    private let fresh: Times
    private let remembered: Times
    private let pass: Times

    init(nanoseconds: Int64) throws {
        let presented = try PresentedReceipt()
        purchases = presented.purchases
        bytes = presented.container.count
        let trust = try presented.trust()
        fresh = try Times(nanoseconds) { try presented.read(presented.trust()) }
        remembered = try Times(nanoseconds) { try presented.read(trust) }
        let issuer = PassIssuer(issuer: "benchmarks", key: .generate())
        let claims = try Self.claims()
        pass = try Times(nanoseconds) { issuer.issue(claims).compact.count }
    }

    private static func claims() throws -> Pass {
        guard let customer = CustomerID("7e3fb20b-4cdb-47cc-936d-99d65f608138"),
            let issued = Instant(rfc3339: "2026-05-10T00:00:00Z")
        else { throw CommandFailure(.software, "an id or an instant is none") }
        return Pass(
            issuer: "benchmarks",
            audience: "cards",
            customer: customer,
            environment: .production,
            issued: issued,
            notAfter: issued + .days(7),
            version: 17,
            entitlements: [
                Pass.Entitlement(
                    name: "premium",
                    state: .active,
                    reason: "paid",
                    productId: "cards.pro.monthly",
                    accessUntil: issued + .days(20),
                    willRenew: true,
                    nextChange: issued + .days(20),
                    notAfter: issued + .days(7)
                )
            ]
        )
    }

    func lines(_ before: Yardstick.Rates?, _ after: Yardstick.Rates?) -> [String] {
        let rates = before.flatMap { before in after.map { before.mean($0) } }
        func beside(_ times: Times, _ rate: Double?, _ words: String) -> String {
            guard let rate else { return "" }
            let ratio = times.median * rate / 1_000_000
            return ", \(ratio.written) of \(words) (\((1_000_000 / rate).written) us)"
        }
        let verification = "a verification of RSA 2048"
        return [
            "receipt of \(purchases) purchases, \(bytes) bytes, certificates anew: \(fresh.words)"
                + beside(fresh, rates?.verifications, verification),
            "the same, certificates remembered: \(remembered.words)"
                + beside(remembered, rates?.verifications, verification),
            "a pass of one entitlement, signed: \(pass.words)"
                + beside(pass, rates?.signatures, "a signature of Ed25519"),
        ]
    }
}

/// The duration of one run, in microseconds.
private struct Times {
    let median: Double
    let late: Double

    init(_ nanoseconds: Int64, _ body: () throws -> Int) throws {
        var times: [Int64] = []
        let begun = Clocks.now(CLOCK_MONOTONIC)
        var (last, total) = (begun, 0)
        while last - begun < nanoseconds || times.count < 10 {
            total += try body()
            let now = Clocks.now(CLOCK_MONOTONIC)
            times.append(now - last)
            last = now
        }
        precondition(total > 0, "what is measured comes to something")
        times.sort()
        median = Double(times[times.count / 2]) / 1_000
        late = Double(times[times.count * 99 / 100]) / 1_000
    }

    var words: String { "p50 \(median.written) us, p99 \(late.written) us" }
}

/// A receipt as a device presents it, and its trust.
private struct PresentedReceipt {
    let container: [UInt8]
    let purchases: Int
    private let root: [UInt8]

    /// The first nine months of a subscriber.
    init() throws {
        var machine = AppStoreMachine(app: Store.app, seed: 7, now: 1_756_684_800_000)
        try machine.register(
            StoreCustomer(name: "anna", appAccountToken: "7e3fb20b-4cdb-47cc-936d-99d65f608138")
        )
        _ = try machine.perform(.subscribe(product: Store.product, trial: .declined), by: "anna")
        while try machine.receipt(of: "anna").purchaseCount < 9 {
            _ = machine.advance(to: machine.now + 86_400_000)
        }
        let authority = try ReceiptAuthority()
        let receipt = try machine.receipt(of: "anna")
        purchases = receipt.purchaseCount
        container = authority.signed(receipt.content())
        root = authority.root
    }

    func trust() throws -> AppStoreTrust {
        let anchor = try TrustAnchor(name: "receipts", der: root, keys: .rsa)
        return AppStoreTrust(
            identity: AppStoreIdentity(
                bundleId: Store.app.bundleId,
                environments: [.simulated]
            ),
            authorities: [:],
            receiptAuthorities: [anchor: .simulated]
        )
    }

    /// Reads the container to its facts. Returns their number.
    func read(_ trust: AppStoreTrust) throws -> Int {
        let now = Setting.now()
        return try trust.readReceipt(container, at: now).facts(
            learnedAt: now,
            source: .appReceipt,
            evidence: EvidenceID(hex: "")
        ).count
    }
}

/// How often reads sign a pass.
private struct Reads {
    let reads: Int
    let first: Int
    let later: Int

    var lines: [String] {
        ["signatures of the first read: \(first), of \(reads) more: \(later)"]
    }

    /// Reads one customer repeatedly, through the service and its storage.
    static func count(in folder: String, reads: Int) async throws -> Reads {
        let store = try Store()
        let now = Setting.now().millisecondsSince1970
        let configured = try Setting.load(
            Setting.write(in: folder, database: "passes", store: store)
        )
        let signatures = Signatures()
        let plain = try App(configured)
        let app = App(
            id: plain.id,
            environments: plain.environments,
            catalogue: plain.catalogue,
            policy: plain.policy,
            appStore: plain.appStore,
            passes: signatures.issuer
        )
        let path = "\(folder)/passes.db"
        try await Loading(path: path, app: plain, store: store, now: now).load(1..<2)
        let storage = try SQLiteStorage(path: path)
        let service = try Service(
            apps: [app],
            storage: storage,
            version: "1",
            clock: Setting.now,
            log: { _ in }
        )
        let target =
            Setting.customers + Subscriber(1, months: 0, now: now).token
            + "?environment=simulated"
        func read() async throws {
            guard let request = Request(method: "GET", target: target),
                try await service.handler(request).status == 200
            else { throw CommandFailure(.software, "a customer cannot be read") }
        }
        try await read()
        let first = signatures.count
        for _ in 0..<reads { try await read() }
        let later = signatures.count - first
        await storage.close()
        return Reads(reads: reads, first: first, later: later)
    }
}

/// Signs passes and counts them.
private final class Signatures: Sendable {
    private let made = Locked(0)
    private let key = Ed25519PrivateKey.generate()

    var count: Int { made.withLock { $0 } }

    var issuer: PassIssuer {
        PassIssuer(issuer: "benchmarks", key: key.publicKey) { [self] bytes in
            made.withLock { $0 += 1 }
            return key.sign(bytes)
        }
    }
}
