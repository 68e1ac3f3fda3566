import Foundation
import Synchronization
import Testing
import TideoverCore
import TideoverKit

@Suite struct KeptFileTests {
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "tideover-kit-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.path)
    }

    @Test func `a file is replaced as a whole`() async throws {
        try await withFolder { folder in
            let file = KeptFile.onDisk(path: "\(folder)/kept.json")
            #expect(try await file.read() == nil)
            let long = [UInt8](repeating: 65, count: 300_000)
            try await file.write(long)
            #expect(try await file.read() == long)
            try await file.write([66])
            #expect(try await file.read() == [66])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["kept.json"])
        }
    }

    @Test func `an interrupted write leaves the old file`() async throws {
        try await withFolder { folder in
            let file = KeptFile.onDisk(path: "\(folder)/kept.json")
            try await file.write([1, 2, 3])
            // The temporary file left by a process that is killed before the rename.
            #expect(
                FileManager.default.createFile(atPath: "\(folder)/kept.json.new", contents: nil)
            )
            #expect(try await file.read() == [1, 2, 3])
            try await file.write([4])
            #expect(try await file.read() == [4])
        }
    }

    @Test @MainActor func `the main actor does not wait for the disk`() async throws {
        try await withFolder { folder in
            // Opening a pipe to read waits until something opens it to write. That is on a thread of
            // its own: reading may take the only one for tasks.
            let path = "\(folder)/kept.json"
            try #require(mkfifo(path, 0o600) == 0)
            let (isFree, wasFree) = (Flag(), Flag())
            Thread.detachNewThread {
                for _ in 0..<200 where !isFree.isSet { Thread.sleep(forTimeInterval: 0.01) }
                if isFree.isSet { wasFree.set() }
                let pipe = FileHandle(forWritingAtPath: path)
                pipe?.write(Data([7]))
                pipe?.closeFile()
            }
            let reading = Task { @MainActor in
                try await KeptFile.onDisk(path: path).read()
            }
            let other = Task { @MainActor in isFree.set() }
            #expect(try await reading.value == [7])
            await other.value
            #expect(wasFree.isSet)
        }
    }

    private final class Flag: Sendable {
        private let state = Mutex(false)

        var isSet: Bool { state.withLock(\.self) }

        func set() { state.withLock { $0 = true } }
    }

    @Test func `a missing folder is an error, not an empty file`() async {
        await #expect(throws: KeptFileError.self) {
            try await KeptFile.onDisk(path: "/nowhere/kept.json").write([1])
        }
    }

    @Test @MainActor func `a store that was ended writes nothing, also if something holds it`()
        async throws
    {
        let disk = LockedDisk(KeptState(customer: TestPurchases.customer).json)
        await disk.unlock()
        let store = EntitlementStore(
            TestPurchases.settings(withServer: true),
            KitEffects(
                source: TestPurchases.emptyStore,
                file: KeptFile(
                    read: { try await disk.read() },
                    write: { await disk.write($0) }
                ),
                network: { _ in throw CancellationError() },
                verify: { _, _, _ in false },
                clock: { TestPurchases.reading() },
                sleep: { _ in throw CancellationError() }
            )
        )
        await store.start()
        await store.settled()
        var changes = store.changes.makeAsyncIterator()
        _ = await changes.next()
        let before = await disk.bytes
        _ = store.stop()
        store.purchaseEnded("coins", .bought(TestPurchases.coins(7)))
        await store.settled()
        #expect(await disk.bytes == before)
        #expect(await changes.next() == nil)
        #expect(await store.restore() == .notAnswered)
        var later = store.changes.makeAsyncIterator()
        #expect(await later.next() == store.state)
        #expect(await later.next() == nil)
    }

    @Test @MainActor func `the next store reads the file after the writes of the former one`()
        async throws
    {
        let disk = LockedDisk(KeptState(customer: TestPurchases.customer).json)
        await disk.unlock()
        let file = KeptFile(read: { try await disk.read() }, write: { await disk.write($0) })
        let store = EntitlementStore(
            TestPurchases.settings(withServer: true),
            KitEffects(
                source: TestPurchases.emptyStore,
                file: file,
                network: { _ in throw CancellationError() },
                verify: { _, _, _ in false },
                clock: { TestPurchases.reading() },
                sleep: { _ in throw CancellationError() }
            )
        )
        await store.start()
        await store.settled()
        var writes: Task<Void, Never>?
        let observer = store.onChange { [weak store] state in
            // The app starts another store while it is informed of the purchase.
            if state["premium"].access == .granted { writes = store?.stop() }
        }
        store.purchaseEnded("pro", .bought(TestPurchases.subscription(7)))
        let next = file.read(after: try #require(writes))
        let kept = try #require(try await next.read().flatMap(KeptState.init(json:)))
        #expect(kept.queue.map(\.purchase.transactionId) == [7])
        observer.cancel()
    }

    @Test @MainActor func `an app that cannot read its file at first keeps what is in it`()
        async throws
    {
        var kept = KeptState(customer: TestPurchases.customer)
        kept.queue = [QueuedPurchase(TestPurchases.coins(7), of: TestPurchases.customer)]
        let disk = LockedDisk(kept.json)
        let store = EntitlementStore(
            TestPurchases.settings(withServer: true),
            KitEffects(
                source: TestPurchases.emptyStore,
                file: KeptFile(
                    read: { try await disk.read() },
                    write: { await disk.write($0) }
                ),
                network: { _ in throw CancellationError() },
                verify: { _, _, _ in false },
                clock: { TestPurchases.reading() },
                sleep: { _ in throw CancellationError() }
            )
        )
        await store.start()
        await store.settled()
        #expect(await disk.bytes == kept.json)
        await disk.unlock()
        store.enteredForeground()
        await store.settled()
        let written = try #require(KeptState(json: await disk.bytes))
        #expect(written.queue == kept.queue)
        #expect(written.lastSeen == TestPurchases.start)
    }
}

/// A disk that cannot be read before the device is unlocked.
private actor LockedDisk {
    private(set) var bytes: [UInt8]
    private var isLocked = true

    struct Locked: Error {}

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read() throws -> [UInt8] {
        guard !isLocked else { throw Locked() }
        return bytes
    }

    func write(_ bytes: [UInt8]) { self.bytes = bytes }

    func unlock() { isLocked = false }
}
