import Glibc
import TideoverCommandLine

/// A folder for as long as a command runs.
struct TemporaryFolder {
    let path: String

    init() throws {
        let parent = Terminal.variable("TMPDIR") ?? "/tmp"
        var template = Array("\(parent)/tideover-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw CommandFailure(
                .cannotCreate,
                "cannot make a folder in \(parent): \(String(cString: strerror(errno)))"
            )
        }
        path = String(cString: made)
    }

    /// Removes the folder and the files in it.
    func remove() {
        guard let entries = opendir(path) else { return }
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            unlink("\(path)/\(name)")
        }
        closedir(entries)
        rmdir(path)
    }
}
