import CTideoverMicrohttpd
import Glibc

/// A server's running libmicrohttpd daemon, used only by the reaper.
///
/// Its callbacks receive the `ServerCore` as their context and attach a `Connection` to each
/// connection of the engine.
struct Engine: ~Copyable {
    private let daemon: OpaquePointer
    private let core: ServerCore

    init?(_ core: ServerCore) {
        let limits = core.limits
        let memory = max(64 * 1024, 4 * limits.headBytes)
        // A closing connection leaves the server's count slightly before the engine's.
        let connections = UInt32(limits.connections + 64)
        let daemon = tideover_mhd_start(
            memory,
            connections,
            engineProceeds,
            engineBegan,
            engineCompleted,
            engineConnectionChanged,
            Unmanaged.passUnretained(core).toOpaque()
        )
        guard let daemon else { return nil }
        self.daemon = daemon
        self.core = core
    }

    /// Closes every connection and waits for the I/O thread to end. No connection may be suspended.
    deinit { MHD_stop_daemon(daemon) }

    /// Hands over a socket; returns false if the engine closed it instead.
    func take(_ socket: Int32, _ address: inout sockaddr_storage, _ length: socklen_t) -> Bool {
        withSocketAddress(&address) { MHD_add_connection(daemon, socket, $0, length) } == .YES
    }
}

private func engineProceeds(
    context: UnsafeMutableRawPointer?,
    engine: OpaquePointer?,
    target: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?,
    version: UnsafePointer<CChar>?,
    part: UnsafePointer<CChar>?,
    partLength: UnsafeMutablePointer<Int>?,
    exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let engine, let method, let version, let partLength, let connection = connection(engine)
    else { return .NO }
    let bytes = UnsafeRawBufferPointer(start: part, count: part == nil ? 0 : partLength.pointee)
    partLength.pointee = 0
    let goesOn = connection.proceed(
        engine: EngineConnection(engine),
        method: method,
        version: version,
        part: bytes
    )
    return goesOn ? .YES : .NO
}

private func engineBegan(
    context: UnsafeMutableRawPointer?,
    target: UnsafePointer<CChar>?,
    engine: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    if let engine, let target, let connection = connection(engine) {
        connection.began(target: target, engine: EngineConnection(engine))
    }
    return nil
}

private func engineCompleted(
    context: UnsafeMutableRawPointer?,
    engine: OpaquePointer?,
    exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    code: MHD_RequestTerminationCode
) {
    guard let engine, let connection = connection(engine) else { return }
    connection.completed(isWhole: code == .REQUEST_TERMINATED_COMPLETED_OK)
}

private func engineConnectionChanged(
    context: UnsafeMutableRawPointer?,
    engine: OpaquePointer?,
    slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    code: MHD_ConnectionNotificationCode
) {
    guard let context, let engine, let slot else { return }
    let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    if code == .CONNECTION_NOTIFY_STARTED {
        guard let connection = core.connection(of: tideover_mhd_connection_socket(engine)) else {
            return
        }
        slot.pointee = Unmanaged.passRetained(connection).toOpaque()
        connection.joined()
    } else if let pointer = slot.pointee {
        slot.pointee = nil
        let connection = Unmanaged<Connection>.fromOpaque(pointer).takeRetainedValue()
        if connection.closed() { core.linger(connection.socket) }
        core.remove(connection)
    }
}

private func connection(_ engine: OpaquePointer) -> Connection? {
    tideover_mhd_connection_context(engine).map {
        Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue()
    }
}
