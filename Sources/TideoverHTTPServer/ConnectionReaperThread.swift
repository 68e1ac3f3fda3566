import CTideoverMicrohttpd
import Glibc

/// The thread of a reaper.
enum ConnectionReaperThread {
    /// Starts a thread, which then owns the reaper.
    static func start(_ reaper: consuming ConnectionReaper) throws(HTTPServerError) {
        let box = Unmanaged.passRetained(ConnectionReaperBox(reaper))
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runReaper, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw .system(call: "pthread_create", code: code)
        }
        pthread_detach(thread)
    }
}

/// Transfers a reaper to its thread.
private final class ConnectionReaperBox {
    private var reaper: ConnectionReaper?

    init(_ reaper: consuming ConnectionReaper) { self.reaper = consume reaper }

    func run() {
        guard let reaper = reaper.take() else { return }
        reaper.run()
    }
}

private func runReaper(_ box: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let box else { return nil }
    pthread_setname_np(pthread_self(), "http-keeper")
    Unmanaged<ConnectionReaperBox>.fromOpaque(box).takeRetainedValue().run()
    return nil
}
