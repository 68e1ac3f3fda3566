import Glibc
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverLocks
import TideoverSQLite
import TideoverServer

@testable import tideover

@Suite(.timeLimit(.minutes(20))) struct ReloaderTests {
    @Test func `a reload that waits for its file does not prevent a stop`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let storage = try SQLiteStorage(path: "\(folder.path)/x.db")
        let service = try Service(
            apps: [],
            storage: storage,
            version: "test",
            clock: { Instant(millisecondsSince1970: 1_777_629_600_000) },
            log: { _ in }
        )
        let (begun, begin) = AsyncStream<Void>.makeStream()
        // The disk does not answer before the end of the test.
        let isEnded = Locked(false)
        defer { isEnded.withLock { $0 = true } }
        let reloader = Reloader(log: { _ in }) { _, _ in
            begin.yield()
            while !isEnded.withLock({ $0 }) { usleep(1_000) }
            throw CancellationError()
        }
        let configuration = Configuration(server: .init(), storage: .sqlite(path: "x"), apps: [])
        await reloader.start(configuration, LiveService(service))
        let reload = Task { await reloader.reload() }
        for await _ in begun { break }
        #expect(await reloader.fingerprint == configuration.fingerprint)
        await reloader.refuse()
        #expect(await reload.value == .refused("The server is starting or stopping."))
        await reloader.stop()
        await storage.close()
    }
}
