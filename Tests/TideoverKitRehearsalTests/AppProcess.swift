import TideoverCore
import TideoverHTTP
import TideoverKit
import TideoverLocks

/// The process of an app, which every effect passes. It can be killed before any of them: an effect
/// of a killed process never happens, and never returns.
final class AppProcess: Sendable {
    private struct Life {
        var effects = 0
        let limit: Int?
        var isKilled = false
        var endings: [AsyncStream<Void>.Continuation] = []
    }

    private let life: Locked<Life>

    /// Creates a process that is killed after a number of effects; nil for no limit.
    init(effects limit: Int? = nil) { life = Locked(Life(limit: limit)) }

    /// The number of effects so far.
    var effects: Int { life.withLock { $0.effects } }

    private func pass() async {
        let isAlive = life.withLock { life -> Bool in
            if let limit = life.limit, life.effects >= limit {
                life.isKilled = true
                for ending in life.endings { ending.yield() }
                return false
            }
            life.effects += 1
            return true
        }
        guard !isAlive else { return }
        let (never, end) = AsyncStream<Never>.makeStream()
        for await _ in never {}
        end.finish()
    }

    /// Returns when the body has ended, or when the process is killed meanwhile. A killed process
    /// does nothing more.
    func runs(_ body: @escaping @MainActor () async -> Void) async {
        let (ends, end) = AsyncStream<Void>.makeStream()
        let isAlive = life.withLock { life in
            life.endings.append(end)
            return !life.isKilled
        }
        guard isAlive else { return }
        Task { @MainActor in
            await body()
            end.yield()
        }
        for await _ in ends { return }
    }

    func counting(_ effects: KitEffects) -> KitEffects {
        var counted = effects
        counted.source.read = {
            await self.pass()
            return await effects.source.read()
        }
        counted.source.finish = {
            await self.pass()
            await effects.source.finish($0)
        }
        counted.source.sync = {
            await self.pass()
            try await effects.source.sync()
        }
        counted.file.read = {
            await self.pass()
            return try await effects.file.read()
        }
        counted.file.write = {
            await self.pass()
            try await effects.file.write($0)
        }
        counted.network = {
            await self.pass()
            return try await effects.network($0)
        }
        return counted
    }
}
