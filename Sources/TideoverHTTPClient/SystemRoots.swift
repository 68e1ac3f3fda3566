import CTideoverCurl
import Glibc

/// Where `TrustedRoots.system` are kept, as libcurl was built to look for them.
public struct SystemRoots: Hashable, Sendable {
    /// The file that holds them, one after another as PEM text; nil if there is none such.
    public let file: String?
    /// The folder that holds each under the name of its digest; nil if there is none such.
    public let folder: String?

    /// The places that libcurl of this process looks at; nil if it has no memory to tell.
    public init?() {
        guard CourierThread.prepared == CURLE_OK, let easy = curl_easy_init() else { return nil }
        defer { curl_easy_cleanup(easy) }
        file = tideover_curl_text(easy, CURLINFO_CAINFO).map { String(cString: $0) }
        folder = tideover_curl_text(easy, CURLINFO_CAPATH).map { String(cString: $0) }
    }

    /// Roots kept in these places.
    public init(file: String?, folder: String?) {
        self.file = file
        self.folder = folder
    }

    /// Whether a file with anything in it, or a folder with any file, is there and can be read.
    public var arePresent: Bool {
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
