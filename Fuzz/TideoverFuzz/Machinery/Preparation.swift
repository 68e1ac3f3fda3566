import Glibc
import TideoverSignatures

/// Writes a fuzzer's starting files: `NAME/seeds/*`, `NAME/words` in the format of libFuzzer's
/// dictionaries, and the maximum length of an input in `NAME/limit`.
enum Preparation {
    static func write(_ fuzzer: Fuzzer, to folder: String) {
        let own = "\(folder)/\(fuzzer.name)"
        for path in [folder, own, "\(own)/seeds"] { mkdir(path, 0o755) }
        for seed in fuzzer.seeds() {
            expect(
                seed.count <= fuzzer.maximumByteCount,
                "a seed of \(fuzzer.name) has \(seed.count) bytes"
            )
            let digest = SHA256.hash(seed).prefix(8).map { hexadecimal($0) }.joined()
            File.write(seed, to: "\(own)/seeds/\(digest)")
        }
        let words = fuzzer.words.map { "\"\(escaped($0))\"\n" }.joined()
        File.write(Array(words.utf8), to: "\(own)/words")
        File.write(Array("\(fuzzer.maximumByteCount)\n".utf8), to: "\(own)/limit")
    }

    private static func escaped(_ word: String) -> String {
        word.utf8.map { byte in
            let isPlain = (0x20...0x7E).contains(byte) && byte != 0x22 && byte != 0x5C
            return isPlain ? String(UnicodeScalar(byte)) : "\\x" + hexadecimal(byte)
        }.joined()
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}

/// Reads and writes complete files.
enum File {
    static func write(_ bytes: [UInt8], to path: String) {
        guard let file = fopen(path, "wb") else { Failure.stop("cannot write \(path)") }
        let written = fwrite(bytes, 1, bytes.count, file)
        expect(fclose(file) == 0 && written == bytes.count, "cannot write \(path)")
    }

    /// Returns nil if the file does not exist.
    static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "rb") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
    }
}
