import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverJSON
import TideoverLives
import TideoverSignatures
import TideoverStorage

/// Findings from the doctor's readings.
@Suite struct DiagnosisTests {
    private typealias Verdict = Finding.Verdict

    private static let now: Instant = "2026-05-06T10:00:00Z"
    private static let open = FolderReading(isWritable: true, freeBytes: 8 << 30)
    private static let closed = FolderReading(isWritable: false, freeBytes: 8 << 30)

    @Test(arguments: [
        (StorageReading.missing, open, Finding.Verdict.ok, "at its first start"),
        (.missing, closed, .problem, "may not write"),
        (.inUse(holder: 42), open, .ok, "process 42"),
        (.inUse(holder: nil), closed, .ok, "another process"),
        (.read(faults: [], newestEvidence: [:]), open, .ok, "is sound"),
        (.read(faults: [], newestEvidence: [:]), closed, .problem, "may not write"),
        (
            .read(faults: ["row 3", "row 4"], newestEvidence: [:]), open, .problem,
            "row 3, and 1 more"
        ),
        (
            .failed(StorageError(.newerSchema(found: 9, known: 1), place: "/a/b.db")), open,
            .problem,
            "schema 9"
        ),
    ])
    func `a damaged storage is a problem`(
        reading: StorageReading,
        folder: FolderReading,
        verdict: Finding.Verdict,
        words: String
    ) {
        let finding = Finding.storage("/a/b.db", reading, in: folder)
        #expect(finding.verdict == verdict)
        #expect(finding.detail.contains(words), "\(finding.detail)")
        #expect(finding.detail.contains("/a/b.db"))
    }

    @Test(
        arguments: [
            (8 << 30, Finding.Verdict.ok), (1 << 30, .ok), ((1 << 30) - 1, .warning),
            (64 << 20, .warning), ((64 << 20) - 1, .problem), (0, .problem), (nil, .warning),
        ] as [(Int64?, Finding.Verdict)]
    )
    func `a disk with little free space gets a warning or a problem`(
        free: Int64?,
        verdict: Finding.Verdict
    ) {
        #expect(Finding.disk(FolderReading(isWritable: true, freeBytes: free)).verdict == verdict)
    }

    @Test(arguments: [
        (StorageReading.missing, Finding.Verdict.ok), (.inUse(holder: nil), .ok),
        (.read(faults: [], newestEvidence: [:]), .ok),
        (.read(faults: [], newestEvidence: [.production: now - .days(9)]), .ok),
        (.read(faults: [], newestEvidence: [.production: now + .minutes(5)]), .ok),
        (.read(faults: [], newestEvidence: [.sandbox: now + .minutes(6)]), .problem),
        (
            .read(faults: [], newestEvidence: [.sandbox: now, .production: now + .days(1)]),
            .problem
        ),
        (.read(faults: [], newestEvidence: [.simulated: now + .days(900), .sandbox: now]), .ok),
    ])
    func `a clock earlier than the stored data is a problem`(
        reading: StorageReading,
        verdict: Finding.Verdict
    ) {
        #expect(Finding.clock(Self.now, reading).verdict == verdict)
    }

    private struct Silent: Error {}

    @Test func `a simulated store has the current time, or the server follows its clock`() {
        func finding(_ reading: Result<Instant, Silent>, served: Instant? = nil) -> Finding {
            Finding.storeClock(
                of: "cards",
                at: "http://a:1/clock",
                reading,
                now: Self.now,
                served: served
            )
        }
        #expect(finding(.success(Self.now - .minutes(5))).verdict == .ok)
        let elsewhen = finding(.success(Self.now + .days(40)))
        #expect(elsewhen.verdict == .warning)
        #expect(elsewhen.advice?.contains("--clock http://a:1/clock") == true)
        #expect(finding(.failure(Silent())).verdict == .warning)
        let store = Self.now + .days(40)
        #expect(finding(.success(store), served: store - .seconds(2)).verdict == .ok)
        #expect(finding(.success(store), served: Self.now).detail.contains("the server's time"))
    }

    @Test func `a server is advised to follow a clock only if it can`() {
        func app(_ id: String, _ environments: [Environment]) -> Configuration.App {
            Configuration.App(id: id, environments: environments)
        }
        let rehearsal = [app("a", [.simulated]), app("b", [.simulated])]
        let (first, second) = ("http://a:1/clock", "http://b:1/clock")
        func following(
            _ apps: [Configuration.App],
            _ times: [String: Instant]
        ) -> Finding.ClockFollowing { Finding.ClockFollowing(apps, times) }
        let later = Self.now + .days(40)
        #expect(following(rehearsal, [:]) == .possible)
        #expect(following(rehearsal, [first: later]) == .possible)
        #expect(following(rehearsal, [first: later, second: later + .minutes(5)]) == .possible)
        #expect(following(rehearsal, [first: later, second: Self.now]) == .severalClocks)
        let mixed = [app("a", [.simulated]), app("b", [.sandbox, .simulated])]
        #expect(following(mixed, [first: later]) == .otherEnvironments)
        for following in [Finding.ClockFollowing.severalClocks, .otherEnvironments] {
            let finding = Finding.storeClock(
                of: "a",
                at: first,
                Result<Instant, Silent>.success(later),
                now: Self.now,
                following: following
            )
            #expect(finding.advice?.contains("Serve with --clock") == false)
            #expect(finding.advice?.contains("with --month") == true)
        }
    }

    @Test(arguments: [
        (Instant(millisecondsSince1970: 946_684_799_999), Finding.Verdict.problem),
        (Instant(millisecondsSince1970: 946_684_800_000), .ok), (now, .ok),
        (Instant(millisecondsSince1970: 4_102_444_799_000) - .days(30), .ok),
        (Instant(millisecondsSince1970: 4_102_444_799_000) - .days(29), .warning),
        (Instant(millisecondsSince1970: 4_102_444_799_001), .problem),
    ])
    func `a simulated root outside its validity is reported`(
        instant: Instant,
        verdict: Finding.Verdict
    )
        throws
    {
        let template = CertificateTemplate.root(
            subject: "Root",
            notBefore: 946_684_800_000,
            notAfter: 4_102_444_799_000
        )
        let authority = try CertificateAuthority.selfSigned(template, key: .generate(.p256))
        let root = try TrustAnchor(name: "simulated", der: authority.certificate)
        let app = Configuration.App(
            id: "cards",
            environments: [.simulated],
            simulatedStore: .init(root: root)
        )
        #expect(Finding.simulatedRoot(of: app, at: instant)?.verdict == verdict)
        let real = Configuration.App(id: "cards", environments: [.sandbox])
        #expect(Finding.simulatedRoot(of: real, at: instant) == nil)
    }

    @Test(arguments: [
        (ListenReading.free, Finding.Verdict.ok), (.tideover(version: "1.0.0"), .ok),
        (.tideover(version: "0.9.0"), .warning), (.stranger, .problem),
        (.impossible("192.0.2.1:80 is not an address of this machine"), .problem),
    ])
    func `an address is free or serves this Tideover`(
        reading: ListenReading,
        verdict: Finding.Verdict
    ) {
        let finding = Finding.listen(
            at: .standard,
            reading,
            version: "1.0.0",
            isDatabaseOpen: true
        )
        #expect(finding.verdict == verdict)
    }

    @Test(arguments: [
        (ListenReading.free, false, Finding.Verdict.ok), (.free, true, .problem),
        (.tideover(version: "1.0.0"), true, .ok), (.stranger, true, .problem),
        (.stranger, false, .problem),
    ])
    func `the address of RevenueCat's SDKs is free, or served by the running server`(
        reading: ListenReading,
        isServing: Bool,
        verdict: Finding.Verdict
    ) {
        let finding = Finding.sdkListen(
            at: .standard,
            reading,
            version: "1.0.0",
            isDatabaseOpen: isServing,
            isServing: isServing
        )
        #expect(finding.verdict == verdict)
        #expect(finding.subject == "server.sdkListen")
        #expect(finding.advice?.contains("server.listen") != true)
    }

    @Test func `a port used by a server of another database is a problem`() {
        let finding = Finding.listen(
            at: .standard,
            .tideover(version: "1.0.0"),
            version: "1.0.0",
            isDatabaseOpen: false
        )
        #expect(finding.verdict == .problem)
        #expect(finding.detail == "a Tideover with another database answers at 127.0.0.1:8080")
    }

    @Test func `a server is not said to have another database if the database cannot be read`() {
        let finding = Finding.listen(
            at: .standard,
            .tideover(version: "1.0.0"),
            version: "1.0.0",
            isDatabaseOpen: nil
        )
        #expect(finding.verdict == .ok)
        #expect(finding.detail == "a Tideover 1.0.0 answers at 127.0.0.1:8080")
    }

    @Test(
        arguments: [
            (1_024, Finding.Verdict.warning), (1_279, .warning), (1_280, .ok), (Int64.max, .ok),
        ] as [(Int64, Finding.Verdict)]
    )
    func `too few file descriptors for the connections are reported`(
        most: Int64,
        verdict: Finding.Verdict
    ) {
        let reading = FileLimitReading(most: most, process: 42)
        let finding = Finding.fileDescriptors(reading, needed: 1_280, connections: 1_024)
        #expect(finding.verdict == verdict)
    }

    @Test(arguments: [
        (FileReading.missing, Finding.Verdict.warning), (.unreadable, .warning),
        (.readable(rights: 0o600), .ok), (.readable(rights: 0o640), .warning),
        (.readable(rights: 0o644), .warning), (.readable(rights: 0o602), .warning),
    ])
    func `a secret that other users can read is reported`(
        reading: FileReading,
        verdict: Finding.Verdict
    ) {
        let finding = Finding.secretFile("/etc/key.p8", named: "apps[0].x", reading)
        #expect(finding.verdict == verdict)
        #expect(finding.subject == "apps[0].x")
    }

    @Test(arguments: [
        (nil, "production", Finding.Verdict.ok), ("https://a.example", "production", .ok),
        ("http://a.example", "production", .problem), ("http://a.example", "sandbox", .ok),
    ])
    func `production needs a public URL with https`(
        url: String?,
        environment: String,
        verdict: Finding.Verdict
    ) throws {
        let environment = try #require(Environment(rawValue: environment))
        let configuration = Configuration(
            server: .init(publicURL: url),
            storage: .sqlite(path: "x"),
            apps: [.init(id: "cards", environments: [environment])]
        )
        #expect(Finding.publicURL(configuration).verdict == verdict)
    }

    @Test func `an app without products, entitlements or periods is reported`() {
        func finding(_ products: [String: Product]) -> Finding {
            Finding.products(
                of: Configuration.App(
                    id: "cards",
                    environments: [.sandbox],
                    catalogue: Catalogue(products: products)
                )
            )
        }
        #expect(finding([:]).verdict == .warning)
        let endless = finding(["a": Product(entitlements: ["premium"])])
        #expect(endless.verdict == .warning)
        #expect(endless.detail.contains("no period: a"))
        let monthly = Product(entitlements: ["premium"], period: Period(months: 1))
        let lifetime = Product(entitlements: ["plus"], kind: .nonConsumable)
        let good = finding(["a": monthly, "b": lifetime])
        #expect(good.verdict == .ok)
        #expect(good.detail == "2 products unlock plus, premium")
    }

    @Test func `missing TLS roots cause a warning`() {
        let places = ["/etc/a.crt", "/etc/certs"]
        #expect(Finding.roots(arePresent: true, places: places).verdict == .ok)
        let missing = Finding.roots(arePresent: false, places: places)
        #expect(missing.verdict == .warning)
        #expect(missing.detail.contains("/etc/a.crt or /etc/certs"))
        #expect(Finding.roots(arePresent: false, places: []).verdict == .warning)
    }

    @Test func `a configuration is reported with its notices or with all problems`() throws {
        let configuration = try Configuration.load(
            #"{ apps: [{ id: "cards", environments: ["sandbox"] }] }"#
        )
        let findings = Finding.configuration(configuration)
        #expect(findings.map(\.verdict) == [.ok, .warning, .warning])
        let problems = Finding.configuration(problems: ["one", "two"])
        #expect(problems.map(\.detail) == ["one", "two"])
        #expect(problems.allSatisfy { $0.verdict == .problem })
    }

    @Test func `every warning and problem has advice`() {
        let findings = [
            Finding.disk(FolderReading(isWritable: true, freeBytes: 0)),
            Finding.listen(at: .standard, .stranger, version: "1", isDatabaseOpen: false),
            Finding.secretFile("/a", named: "b", .missing),
            Finding.fileDescriptors(
                FileLimitReading(most: 1, process: nil),
                needed: 1_280,
                connections: 1_024
            ),
            Finding.storage("/a", .missing, in: Self.closed),
        ]
        for finding in findings {
            #expect(finding.advice?.isEmpty == false, "\(finding)")
            #expect(finding.verdict != .ok)
        }
    }

    private static func running(_ id: String, _ configuration: String) -> ServerRecord {
        ServerRecord(id: id, version: "1", configuration: configuration)
    }

    @Test(
        arguments: [
            ([], .ok, "none"), ([running("a", "x"), running("b", "x")], .ok, "2 on"),
            ([running("a", "x"), running("b", "y")], .warning, "b (1) has y"),
            ([running("a", "y"), running("b", "y")], .warning, "2 of 2"),
        ] as [([ServerRecord], Finding.Verdict, String)]
    )
    func `servers with another configuration than the file get a warning`(
        servers: [ServerRecord],
        verdict: Finding.Verdict,
        words: String
    ) {
        let finding = Finding.servers(servers, fingerprint: "x")
        #expect(finding.verdict == verdict)
        #expect(finding.detail.contains(words), "\(finding.detail)")
    }

    @Test func `a database that a newer version upgraded is usable, and named`() {
        let finding = Finding.database(.success(DatabaseReading(place: "db", newerSchema: 9)))
        #expect(finding.verdict == .ok)
        #expect(finding.detail.contains("schema 9"))
    }

    @Test(arguments: [
        (999, 0, Finding.Verdict.ok), (1_000, 990, .ok), (1_000, 989, .warning),
    ])
    func `commits as slow as at a machine's limit are reported`(
        count: Int64,
        prompt: Int64,
        verdict: Finding.Verdict
    ) throws {
        var metrics = MetricsReading()
        #expect(Finding.capacity(ofFile: 0, metrics) == nil)
        metrics.commits = MetricsReading.Commits(count: count, prompt: prompt)
        let finding = try #require(Finding.capacity(ofFile: 701_000_000, metrics))
        #expect(finding.verdict == verdict)
        #expect((finding.advice != nil) == (verdict == .warning))
        #expect(finding.detail.contains("701 MB"))
    }

    @Test func `the page for operators lists every check`() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appendingPathComponent("docs/operating.md"),
            encoding: .utf8
        )
        for check in Finding.Check.allCases {
            #expect(page.contains("| `\(check.rawValue)` |"), "\(check.rawValue)")
        }
    }

    @Test(arguments: [
        ("null", "null", Finding.Verdict.ok), (#""2026-05-01T10:00:00Z""#, "null", .warning),
        (#""2026-05-01T10:00:00Z""#, #""failing""#, .problem), ("null", #""gone""#, .problem),
        ("null", #""operator""#, .warning),
    ])
    func `a webhook that fails or was disabled is reported`(
        since: String,
        disabled: String,
        verdict: Finding.Verdict
    ) throws {
        let text =
            #"{"webhooks": [{"id": "h", "failingSince": \#(since), "disabled": \#(disabled)}]}"#
        let app = Configuration.App(id: "cards", environments: [.sandbox])
        let findings = Finding.webhooks(of: app, try JSONDocument(Array(text.utf8)).root)
        #expect(findings.map(\.verdict) == [verdict])
        #expect(findings.map(\.subject) == ["cards h"])
    }

    @Test(arguments: [
        ("[]", Finding.Verdict.ok), (#"["sandbox"]"#, .ok), (#"["production"]"#, .warning),
        (#"["sandbox", "production"]"#, .warning),
    ])
    func `a webhook for an environment that the app does not serve is reported`(
        environments: String,
        verdict: Finding.Verdict
    ) throws {
        let text = #"{"webhooks": [{"id": "h", "environments": \#(environments)}]}"#
        let app = Configuration.App(id: "cards", environments: [.sandbox])
        let finding = try #require(
            Finding.webhooks(of: app, try JSONDocument(Array(text.utf8)).root).first
        )
        #expect(finding.verdict == verdict)
        #expect(finding.detail.hasSuffix(": production") == (verdict == .warning))
        // It may be for several apps, and the configuration is checked by itself.
        let configured = text.replacing(#""id""#, with: #""configured": true, "id""#)
        let findings = Finding.webhooks(of: app, try JSONDocument(Array(configured.utf8)).root)
        #expect(findings.map(\.verdict) == [.ok])
    }
}
