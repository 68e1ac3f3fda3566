import CTideoverMicrohttpd
import Glibc

/// The thread of a keeper.
enum KeeperThread {
    /// Starts a thread, which then owns the keeper.
    static func start(_ keeper: consuming Keeper) throws(HTTPServerError) {
        let box = Unmanaged.passRetained(KeeperBox(keeper))
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runKeeper, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw .system(call: "pthread_create", code: code)
        }
        pthread_detach(thread)
    }
}

/// Transfers a keeper to its thread.
private final class KeeperBox {
    private var keeper: Keeper?

    init(_ keeper: consuming Keeper) { self.keeper = consume keeper }

    func run() {
        guard let keeper = keeper.take() else { return }
        keeper.run()
    }
}

private func runKeeper(_ box: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let box else { return nil }
    pthread_setname_np(pthread_self(), "http-keeper")
    Unmanaged<KeeperBox>.fromOpaque(box).takeRetainedValue().run()
    return nil
}
