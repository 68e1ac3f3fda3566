import Foundation
import Testing
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverSignatures
import TideoverTestProcesses

@testable import tideover

/// Tests long-running stores on the machine's clock, over sockets: `sandbox serve --clock wall`.
/// The test sets the clock.
@Suite(.timeLimit(.minutes(20))) final class WallControlServerTests: SuiteWithFolder {
    /// A back end's clock, and the documents it receives with their times.
    private final class Eyes: Sendable {
        private let clock = Locked(WallControlServerTests.began)
        let documents = Locked<[(at: Int64, JSONValue)]>([])
        /// When renewals arrived, since the beginning.
        let renewals = Locked<[Int64]>([])
        let statuses = Locked<Set<Int>>([])

        var now: Int64 { clock.withLock { $0 } }

        func pass(_ length: Int64) { clock.withLock { $0 += length } }

        func see(_ bytes: [UInt8]) {
            let now = now
            guard let root = try? JSONDocument(bytes).root else { return }
            documents.withLock { $0.append((now, JSONValue(root))) }
            let said = root["signedPayload"]?.string.flatMap(content)
            guard said?["notificationType"] == "DID_RENEW" else { return }
            renewals.withLock { $0.append(now - WallControlServerTests.began) }
        }
    }

    /// 90 days after `Examples/store.json5` begins, on 1 May 2026 at 10:00.
    private static let began: Int64 = 1_777_629_600_000 + 90 * 86_400_000

    private let eyes = Eyes()

    override init() throws {
        try super.init()
        try FileManager.default.createDirectory(
            at: folder.appending(path: "examples"),
            withIntermediateDirectories: true
        )
    }

    /// Creates a Tideover server on the wall clock. It rejects data that was signed in its future.
    private func service(asking url: String, _ storage: SQLiteStorage) throws -> Service {
        let example = examples.appending(path: "rehearsed.json5")
        let text = try String(contentsOf: example, encoding: .utf8)
            .replacing("http://127.0.0.1:9090", with: url)
        let file = try write(text, to: "examples/rehearsed.json5")
        let configuration = try ConfigurationFile.load(
            file,
            variables: [:],
            telling: Output(capturingAs: .plain)
        )
        let clock: Clock = { [eyes] in Instant(millisecondsSince1970: eyes.now) }
        let connections = try StoreConnections(configuration, clock: clock)
        return try Service(
            apps: configuration.apps.map {
                try App($0, googlePlay: connections.googlePlay[$0.id])
            },
            storage: storage,
            version: "test",
            clock: clock,
            log: { _ in },
            access: connections.access,
            sleep: { _ in await Task.yield() }
        )
    }

    private let examples = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples")

    private func control(_ words: String..., at url: String) async -> (ExitCode, String) {
        let (code, output) = await Tideover.run(["sandbox", "control"] + words + ["--store", url])
        return (code, output.all)
    }

    @Test func `nothing is dated ahead of the clock, and renewals arrive at the chosen speed`()
        async throws
    {
        let loopbackGuard = Locked<Handler?>(nil)
        let backEnd = try HTTPServer(port: 0) { request in
            try await loopbackGuard.withLock { $0 }?(request) ?? Response(status: 503)
        }
        var visit = try await TargetOptions.made(
            of: ["--target", "http://\(backEnd.address)", "--authority", "\(folder.path)/store"],
            Output(capturingAs: .plain)
        )
        let eyes = eyes
        visit.pace = ScenarioPace(month: nil, clock: { eyes.now }, sleep: { _ in })
        let url = try visit.listen()
        let storeServer = visit.storeServer
        // The stores' answers pass through this server.
        let between = try HTTPServer(port: 0) { request in
            let response = try await storeServer.handler(request)
            eyes.see(response.body)
            return response
        }
        let stage = try Scenario(
            stage: Array(Data(contentsOf: examples.appending(path: "store.json5")))
        ) { _ in [] }
        // One day per second.
        let controlServer = try await ControlServer(
            stage,
            visit,
            speed: 86_400,
            ours: { eyes.now }
        )
        let storage = try SQLiteStorage(path: "\(folder.path)/tideover.db")
        let service = try service(asking: "http://\(between.address)", storage)
        loopbackGuard.withLock {
            $0 = { request in
                let told = request.headers[ForeignBackEnd.clockHeader]
                if let told = told.flatMap({ Instant(rfc3339: $0) }) {
                    #expect(told.millisecondsSince1970 <= eyes.now)
                }
                eyes.see(request.body)
                let response = try await service.handler(request)
                if request.method == "POST" {
                    eyes.statuses.withLock { _ = $0.insert(response.status) }
                }
                return response
            }
        }
        let bought = await control(
            "subscribe",
            "customer=anna",
            "product=cards.pro.monthly",
            "trial=false",
            at: url
        )
        #expect(bought.0 == .success, "\(bought.1)")
        let played = await control(
            "buy",
            "customer=ben",
            "product=cards.pro",
            "plan=monthly",
            at: url
        )
        #expect(played.0 == .success, "\(played.1)")

        for tick in 1...200 {
            eyes.pass(500)
            _ = try await controlServer.catchUp()
            if tick.isMultiple(of: 40) {
                let answer = await service.backfillNow(app: "cards", environment: .simulated)
                #expect(answer.status == 200)
            }
        }
        // Anna's months end 31 and 61 days after the start, and a day is a second; a tick is half a
        // day.
        #expect(eyes.renewals.withLock { $0 } == [31_500, 61_500])
        #expect(eyes.statuses.withLock { $0 } == [200])

        // The stores have caught up, and continue with the clock at its speed.
        for _ in 1...3 {
            eyes.pass(3_600_000)
            _ = try await controlServer.catchUp()
            let now = Instant(millisecondsSince1970: eyes.now)
            #expect(await control(at: url).1.contains("It is \(now.rfc3339) in the store, as fast"))
        }
        let ahead = await control("advance", "by=3 d", at: url)
        #expect(ahead.0 == .data)
        #expect(ahead.1.contains("nothing ahead of it"))
        // Stores that were stopped remain stopped, although the clock continues.
        let stood = Instant(millisecondsSince1970: eyes.now)
        #expect(await control("speed", "factor=0", at: url).0 == .success)
        eyes.pass(3_600_000)
        _ = try await controlServer.catchUp()
        #expect(await control(at: url).1.contains("It is \(stood.rfc3339) in the store."))

        var dates = 0
        for (at, document) in eyes.documents.withLock({ $0 }) {
            for (name, instant) in happened(in: document) {
                dates += 1
                #expect(instant <= at, "\(name)")
            }
        }
        #expect(dates > 30)
        for server in [backEnd, between] { await server.stop() }
        await visit.storeServer.close()
        await storage.close()
    }
}

/// Returns the content of a signed text; nil if it is not one.
private func content(_ compact: String) -> JSONValue? {
    guard let jws = try? JWS(Array(compact.utf8)) else { return nil }
    return (try? JSONDocument(jws.payload).root).map { JSONValue($0) }
}

/// Returns every past instant by name, including those in signed texts.
private func happened(in value: JSONValue) -> [(String, Int64)] {
    if let elements = value.array { return elements.flatMap { happened(in: $0) } }
    if let compact = value.string, let inner = content(compact) { return happened(in: inner) }
    let toCome: Set = ["expiresDate", "gracePeriodExpiresDate", "renewalDate"]
    return (value.object ?? [:]).flatMap { member -> [(String, Int64)] in
        let (name, value) = (member.key, member.value)
        if name.hasSuffix("Date"), let instant = value.int64 {
            return toCome.contains(name) ? [] : [(name, instant)]
        }
        if ["startTime", "publishTime"].contains(name), let text = value.string {
            return [(name, InstantText.read(text) ?? .max)]
        }
        return happened(in: value)
    }
}
