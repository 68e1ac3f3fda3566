import Glibc
import TideoverCommandLine

/// A folder that exists while a command runs.
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
            // By address: a copy of the field would read past entries that are shorter than it.
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
            let start = UnsafeRawPointer(entry) + offset
            let name = String(cString: start.assumingMemoryBound(to: CChar.self))
            unlink("\(path)/\(name)")
        }
        closedir(entries)
        rmdir(path)
    }
}
