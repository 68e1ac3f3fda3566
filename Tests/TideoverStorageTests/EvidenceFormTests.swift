import Foundation
import Testing
import TideoverJSON
import TideoverStorage

/// The stores' own example files, which are kept outside the repository.
enum Vectors {
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["TIDEOVER_VECTORS"] {
            return URL(filePath: path)
        }
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return root.appending(path: "../shared/vectors")
    }()

    static let present = FileManager.default.fileExists(atPath: folder.path)
}

@Suite struct `The form of evidence` {
    private typealias Headers = [HeaderFingerprint: [UInt8]]

    /// Returns the stored form of some bytes, after checking that it restores them exactly.
    private func stored(_ received: [UInt8]) throws -> (form: [UInt8], headers: Headers) {
        var headers: Headers = [:]
        let encoded = EvidenceForm.encode(received, headers: &headers)
        let decoded = try EvidenceForm(encoded: encoded)
        #expect(decoded.encoded == encoded)
        #expect(decoded.fingerprints == Set(headers.keys))
        #expect(try decoded.received(headers: headers) == received)
        return (encoded, headers)
    }

    @Test func `compresses a notification of 19 KB to 2 KB and keeps its certificates once`() throws
    {
        let body = Notification.body(seed: 1)
        let (form, headers) = try stored(body)
        #expect((18_000...21_000).contains(body.count), "\(body.count)")
        #expect(form.count * 8 < body.count, "\(form.count) of \(body.count)")
        #expect(headers.count == 1)
        #expect(headers.values.first?.count ?? 0 > 4_000)
    }

    @Test func `finds signed documents at any position`() throws {
        var random = SplitMix(seed: 2)
        let header = Notification.header(&random)
        let jws = Notification.jws(["a": 1], header: header, &random)
        for text in [
            jws, "\(jws)\n", "[\"\(jws)\",\"\(jws)\"]", "Bearer \(jws)", "a=\(jws)&b=\(jws)",
            "eyJ \(jws)", "eyJ.{\(jws)",
        ] {
            let (form, headers) = try stored(Array(text.utf8))
            #expect(headers.count == 1)
            #expect(form.count < 400)
        }
    }

    @Test func `takes decoded documents, and only where their text is`() throws {
        var random = SplitMix(seed: 8)
        let header = Notification.header(&random)
        let inner = Notification.jws(["a": 1], header: header, &random)
        let outer = Notification.jws(["inner": .string(inner)], header: header, &random)
        let other = Notification.jws(["a": 2], header: header, &random)
        let received = Array("{\"signedPayload\":\"\(outer)\"}".utf8)
        let decoded = try [other, inner, outer].map { text in
            let payload = text.split(separator: ".")[1]
            return DecodedDocument(
                text: Array(text.utf8)[...],
                payload: try #require(Base64.decode(payload.utf8, .urlSafe))
            )
        }
        var headers: Headers = [:]
        let form = EvidenceForm.encode(received, decoded, headers: &headers)
        let (same, sameHeaders) = try stored(received)
        #expect(form == same)
        #expect(headers == sameHeaders)
    }

    @Test func `keeps text that only looks like a signed document unchanged`() throws {
        let signature = String(repeating: "A", count: 86)
        let texts = [
            "", "e", "eyJ", "eyJ.", "eyJ..", "eyJ.e30.", ".eyJ.e30.\(signature)",
            "eyJ.e30.\(signature).", "eyJ.e30.\(signature)A", "eyJ.e30.\(signature.dropLast())",
            "eyJ.e30.\(signature.dropLast())B", "eyJ.e31.\(signature)", "eyJ.e.\(signature)",
            "eyK.e30.\(signature)", "AeyJ.e30.\(signature)", "eyJ.e30=.\(signature)",
            "eyJ.\u{00E9}30.\(signature)",
        ]
        for text in texts {
            let (_, headers) = try stored(Array(text.utf8))
            #expect(headers.isEmpty, "\(text)")
        }
    }

    @Test func `compresses nested documents to a limited depth`() throws {
        var random = SplitMix(seed: 3)
        var jws = "{}"
        for level in 0..<12 {
            let header: JSONObject = ["alg": "ES256", "level": .integer(Int64(level))]
            jws = Notification.jws(["inner": .string(jws)], header: header, &random)
        }
        let (_, headers) = try stored(Array(jws.utf8))
        #expect(headers.count == 4)
    }

    @Test func `is exact for any bytes`() throws {
        for seed in 0..<300 as Range<UInt64> {
            var random = SplitMix(seed: seed)
            let count = Int.random(in: 0...600, using: &random)
            _ = try stored(random.bytes(count))
            // A small alphabet, so that the shape of a signed document occurs.
            let letters = Array("eyJ.A_-\"=".utf8)
            _ = try stored((0..<count).map { _ in letters.randomElement(using: &random) ?? 0 })
        }
    }

    @Test func `is exact for a notification changed anywhere`() throws {
        var random = SplitMix(seed: 4)
        let body = Notification.body(seed: 5)
        for _ in 0..<100 {
            var changed = body
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: changed.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: changed[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: changed.remove(at: place)
                case 2: changed.insert(UInt8(ascii: "."), at: place)
                default: changed.removeSubrange(place...)
                }
                if changed.isEmpty { break }
            }
            _ = try stored(changed)
        }
    }

    @Test func `that is damaged gives an error or other bytes and never crashes`() throws {
        var random = SplitMix(seed: 6)
        let (form, headers) = try stored(Notification.body(seed: 7))
        var failures = 0
        for _ in 0..<2_000 {
            var damaged = form
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(
                    in: .min ... .max,
                    using: &random
                )
            }
            if Bool.random(using: &random) {
                damaged.removeLast(Int.random(in: 1...damaged.count, using: &random))
            }
            do {
                _ = try EvidenceForm(encoded: damaged).received(headers: headers)
            } catch {
                failures += 1
            }
        }
        #expect(failures > 1_000)
        for length in 0..<form.count {
            #expect(throws: EvidenceFormError.self) {
                try EvidenceForm(encoded: Array(form.prefix(length))).received(headers: headers)
            }
        }
    }

    @Test func `reports its problem`() throws {
        func error(_ bytes: [UInt8]) -> EvidenceFormError? {
            do {
                _ = try EvidenceForm(encoded: bytes).received(headers: [:])
                return nil
            } catch {
                return error
            }
        }
        #expect(error([1, 0]) == nil)
        #expect(error([]) == .cutShort)
        #expect(error([2, 0]) == .unknownVersion(2))
        #expect(error([1, 3, 9]) == .unknownPart(9))
        #expect(error([1, 3, 0, 4, 1, 2, 3]) == .cutShort)
        #expect(error([1, 3, 0, 2, 1, 2]) == .wrongLength(expected: 3, found: 2))
        #expect(error([1, 1, 0, 2, 1, 2]) == .wrongLength(expected: 1, found: 2))
        #expect(error([1, 0x80, 0]) == .malformedLength)
        #expect(error([1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]) == .malformedLength)
        let (form, headers) = try stored(Notification.body(seed: 8))
        #expect(error(form) == headers.keys.first.map { .missingHeader($0) })
    }

    @Test func `with endless nesting is refused before it is expanded`() throws {
        var nested: [UInt8] = []
        for _ in 0..<200 {
            var length = nested.count
            var part: [UInt8] = [1] + Array(repeating: 0, count: 32)
            while length > 0x7F {
                part.append(UInt8(truncatingIfNeeded: length) | 0x80)
                length >>= 7
            }
            nested = part + [UInt8(length)] + nested + Array(repeating: 0, count: 64)
        }
        let error = #expect(throws: EvidenceFormError.self) {
            try EvidenceForm(encoded: [1, 1] + nested)
        }
        #expect(error == .tooDeep)
    }

    @Test(.timeLimit(.minutes(20)), arguments: ["eyJ", "eyJ.", "eyJ.e30.", "eyJ ", "."])
    func `is compressed in linear time`(unit: String) throws {
        let text = String(repeating: unit, count: 256 * 1_024 / unit.utf8.count)
        _ = try stored(Array(text.utf8))
    }

    @Test(.enabled(if: Vectors.present, "vectors are not beside the project"))
    func `is exact for the stores' own examples`() throws {
        let files = FileManager.default.enumerator(
            at: Vectors.folder.appending(path: "apple"),
            includingPropertiesForKeys: [.isRegularFileKey]
        )
        var signed = 0
        for case let file as URL in try #require(files)
        where try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true {
            let (_, headers) = try stored(Array(Data(contentsOf: file)))
            signed += headers.isEmpty ? 0 : 1
        }
        #expect(signed >= 5)
    }
}
