#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension KeptFile {
    /// Returns the file at a path in an existing folder. A write creates a temporary file, flushes
    /// it to the disk, and then renames it. Both run apart from the caller's actor.
    public static func onDisk(path: String) -> KeptFile {
        KeptFile(
            read: { try await DiskFile(path: path).read() },
            write: { try await DiskFile(path: path).replace(by: $0) }
        )
    }
}

/// The reason why the kept file could not be read or written.
public struct KeptFileError: Error, Hashable {
    public var operation: String
    /// The system's error number.
    public var code: Int32
}

private struct DiskFile {
    let path: String
    /// More than the kit ever writes. A longer file is not the kit's: its beginning is returned,
    /// which is not a kept state.
    private static let mostBytes = 8 << 20

    /// Waits for the disk, so it must not run on the main actor of the kit.
    @concurrent
    func read() async throws(KeptFileError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw KeptFileError(operation: "open", code: errno)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= Self.mostBytes {
            let count = chunk.withUnsafeMutableBytes { all in
                repeated { systemRead(descriptor, all.baseAddress, all.count) }
            }
            guard count >= 0 else { throw KeptFileError(operation: "read", code: errno) }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// Waits for the disk, so it must not run on the main actor of the kit.
    @concurrent
    func replace(by bytes: [UInt8]) async throws(KeptFileError) {
        let beside = "\(path).new"
        let descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw KeptFileError(operation: "create", code: errno) }
        do throws(KeptFileError) {
            try write(bytes, to: descriptor)
            guard fsync(descriptor) == 0 else {
                throw KeptFileError(operation: "flush", code: errno)
            }
        } catch {
            close(descriptor)
            throw error
        }
        close(descriptor)
        guard rename(beside, path) == 0 else {
            throw KeptFileError(operation: "rename", code: errno)
        }
    }

    private func write(_ bytes: [UInt8], to descriptor: Int32) throws(KeptFileError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { all in
                repeated {
                    systemWrite(
                        descriptor,
                        all.baseAddress?.advanced(by: written),
                        all.count - written
                    )
                }
            }
            guard count > 0 else { throw KeptFileError(operation: "write", code: errno) }
            written += count
        }
    }

    /// Repeats a call that a signal interrupted.
    private func repeated(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}

private func systemRead(_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(file, bytes, count)
}

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(file, bytes, count)
}
