import CTideoverCurl
import Glibc

/// The location of `TrustedRoots.system`, from libcurl's build configuration.
package struct SystemRoots: Hashable, Sendable {
    /// The file with all roots as PEM text; nil if there is none.
    package let file: String?
    /// The folder with one file per root, named by its digest; nil if there is none.
    package let folder: String?

    /// Reads the locations from this process's libcurl; nil if it has no memory.
    package init?() {
        guard CurlLoopThread.prepared == CURLE_OK, let easy = curl_easy_init() else { return nil }
        defer { curl_easy_cleanup(easy) }
        file = tideover_curl_text(easy, CURLINFO_CAINFO).map { String(cString: $0) }
        folder = tideover_curl_text(easy, CURLINFO_CAPATH).map { String(cString: $0) }
    }

    /// Creates a value from these locations.
    package init(file: String?, folder: String?) {
        self.file = file
        self.folder = folder
    }

    /// Whether there is a readable file with content, or a readable folder with files.
    package var arePresent: Bool {
        file.map(Self.holdsAnything) == true || folder.map(Self.listsAnything) == true
    }

    private static func holdsAnything(_ path: String) -> Bool {
        var entry = stat()
        return stat(path, &entry) == 0 && entry.st_size > 0 && access(path, R_OK) == 0
    }

    private static func listsAnything(_ path: String) -> Bool {
        guard let folder = opendir(path) else { return false }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            // Roots have names of hexadecimal digits.
            if entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { return true }
        }
        return false
    }
}
