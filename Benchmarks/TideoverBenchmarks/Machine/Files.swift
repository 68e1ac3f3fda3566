import Glibc
import TideoverCommandLine

/// Helpers for files.
enum Files {
    static func write(_ bytes: [UInt8], to path: String) throws {
        guard let file = fopen(path, "w") else {
            throw CommandFailure(.cannotCreate, "cannot write \(path)")
        }
        defer { fclose(file) }
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
            throw CommandFailure(.io, "cannot write all of \(path)")
        }
    }

    /// Returns the text of a file; empty if it does not exist.
    static func text(_ path: String) -> String {
        let bytes = try? FileInput.read(path, atMost: 16 << 20)
        return String(decoding: bytes ?? [], as: UTF8.self)
    }

    /// Returns 0 if the file does not exist.
    static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Removes a folder and the files in it.
    static func removeFolder(_ path: String) {
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

/// Clocks of the system, in nanoseconds.
enum Clocks {
    static func now(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
