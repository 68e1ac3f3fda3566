import Glibc
import TideoverCommandLine
import TideoverLocks

/// A temporary folder for one trial, without links in its path.
struct WorkFolder {
    let path: String
    private static let all = Locked<Set<String>>([])

    init() throws {
        var template = Array(
            "\(Terminal.variable("TMPDIR") ?? "/tmp")/tideover-trial-XXXXXX".utf8CString
        )
        guard let made = mkdtemp(&template), let real = realpath(made, nil) else {
            throw CommandFailure(
                .cannotCreate,
                "cannot make a folder: \(String(cString: strerror(errno)))"
            )
        }
        let path = String(cString: real)
        free(real)
        self.path = path
        Self.all.withLock { _ = $0.insert(path) }
    }

    /// Removes the folder and its contents.
    func remove() {
        Self.all.withLock { _ = $0.remove(path) }
        _ = try? Spawn.run(["rm", "-rf", "--one-file-system", path], log: "/dev/null")
    }

    /// Keeps the folder for inspection.
    func keep() {
        Self.all.withLock { _ = $0.remove(path) }
    }

    static func removeAll() {
        for path in all.withLock({ $0 }) {
            _ = try? Spawn.run(["rm", "-rf", "--one-file-system", path], log: "/dev/null")
        }
    }
}

/// Writes a new file or replaces an existing one.
func writeFile(_ bytes: [UInt8], to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else {
        throw CommandFailure(.cannotCreate, "\(path): \(String(cString: strerror(errno)))")
    }
    defer { close(file) }
    guard write(file, bytes, bytes.count) == bytes.count else {
        throw CommandFailure(.io, "\(path): \(String(cString: strerror(errno)))")
    }
}
