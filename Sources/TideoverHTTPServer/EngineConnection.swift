import CTideoverMicrohttpd
import TideoverHTTP

/// The engine's handle of a connection.
///
/// The I/O thread may use it inside the engine's callbacks, and any thread while the connection is
/// suspended. `Connection` ensures this with its lock.
struct EngineConnection: Sendable {
    /// The engine's pointer as a number: a pointer is not `Sendable` and could not be stored under
    /// a lock.
    private let address: UInt

    init(_ pointer: OpaquePointer) { address = UInt(bitPattern: pointer) }

    /// The engine's pointer.
    var pointer: OpaquePointer? { OpaquePointer(bitPattern: address) }

    /// Queues a response; returns false if the engine accepts none.
    func send(_ response: Response, closing: Bool) -> Bool {
        guard let reply = Reply.engineResponse(response, closing: closing) else { return false }
        defer { MHD_destroy_response(reply) }
        return MHD_queue_response(pointer, UInt32(response.status), reply) == .YES
    }

    /// Stops all input and output of the connection.
    func suspend() { MHD_suspend_connection(pointer) }

    /// Resumes input and output.
    func resume() { MHD_resume_connection(pointer) }
}
