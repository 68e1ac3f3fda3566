import CTideoverMicrohttpd
import TideoverHTTP

/// A connection as the engine knows it.
///
/// It may be used by the I/O thread inside the engine's callbacks, and by any thread while it is
/// suspended; `Connection` sees to that with its lock.
struct EngineConnection: Sendable {
    /// The engine's pointer, as a number: a pointer could not be kept behind a lock.
    private let address: UInt

    init(_ pointer: OpaquePointer) { address = UInt(bitPattern: pointer) }

    /// The engine's pointer.
    var pointer: OpaquePointer? { OpaquePointer(bitPattern: address) }

    /// Has the engine send a response; false if it takes none.
    func send(_ response: Response, closing: Bool) -> Bool {
        guard let reply = Reply.engineResponse(response, closing: closing) else { return false }
        defer { MHD_destroy_response(reply) }
        return MHD_queue_response(pointer, UInt32(response.status), reply) == .YES
    }

    /// Stops all input and output of the connection.
    func suspend() { MHD_suspend_connection(pointer) }

    /// Lets input and output go on.
    func resume() { MHD_resume_connection(pointer) }
}
