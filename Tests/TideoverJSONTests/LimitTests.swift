import Foundation
import Testing
import TideoverJSON

struct LimitTests {
    @Test(arguments: [(JSONLimits.inbound, 32), (.storeAnswer, 32), (.local, 64)])
    func `nesting at the limit is accepted, one level more is refused`(
        limits: JSONLimits,
        depth: Int
    ) {
        #expect(refusal(of: nested(depth), limits: limits) == nil)
        let refused = refusal(of: nested(depth + 1), limits: limits)
        #expect(refused?.reason == .tooDeep(limit: depth))
        #expect(refused?.offset == depth)
    }

    @Test func `objects count as levels, like arrays`() {
        let text = String(repeating: "{\"a\":[", count: 16)
        let end = String(repeating: "]}", count: 16)
        #expect(refusal(of: text + "0" + end) == nil)
        #expect(refusal(of: text + "[]" + end)?.reason == .tooDeep(limit: 32))
    }

    @Test func `a closed container no longer counts as a level`() {
        let siblings = Array(repeating: nested(31), count: 50).joined(separator: ",")
        #expect(refusal(of: "[\(siblings)]") == nil)
    }

    @Test(arguments: [JSONLimits.inbound, .storeAnswer])
    func `a document at the size limit is accepted, one byte more is refused`(limits: JSONLimits) {
        let text = [UInt8](repeating: 0x20, count: limits.maxBytes - 1) + [0x31]
        #expect(refusal(of: text, limits: limits) == nil)
        let refused = refusal(of: text + [0x20], limits: limits)
        #expect(refused?.reason == .tooLarge(limit: limits.maxBytes))
    }

    @Test func `the limits equal those of the design`() {
        #expect(JSONLimits.inbound.maxBytes == 262_144)
        #expect(JSONLimits.storeAnswer.maxBytes == 4_194_304)
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":", "[[],"])
    func `a hundred thousand opening brackets are an error, not a crash`(opening: String) {
        let text = String(repeating: opening, count: 100_000)
        let limits = JSONLimits(maxBytes: .max, maxDepth: .max)
        #expect(refusal(of: text, limits: .storeAnswer)?.reason == .tooDeep(limit: 32))
        #expect(refusal(of: text, limits: limits)?.reason == .tooDeep(limit: 128))
        #expect(refusal(of: text, syntax: .relaxed, limits: limits)?.reason == .tooDeep(limit: 128))
    }

    @Test func `the deepest document can be read, compared and written on a small stack`()
        async
    {
        let limits = JSONLimits(maxBytes: .max, maxDepth: .max)
        let text = nested(limits.maxDepth)
        let written = await withCheckedContinuation { continuation in
            let thread = Thread {
                let document = try? JSONDocument(text, limits: limits)
                let value = document.map { JSONValue($0.root) }
                let copy = document.map { JSONValue($0.root) }
                let isSame = value == copy && value.hashValue == copy.hashValue
                continuation.resume(returning: isSame ? value?.encoded() : nil)
            }
            thread.stackSize = 512 << 10
            thread.start()
        }
        #expect(written == Array(text.utf8))
    }
}
