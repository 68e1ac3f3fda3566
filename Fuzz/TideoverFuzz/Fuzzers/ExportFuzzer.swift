import TideoverCore
import TideoverJSON
import TideoverServer
import TideoverStorage

extension Fuzzer {
    static let exportLine = Fuzzer(
        "export-line",
        promise: """
            a line of an export is read or refused in words; one that is read is written again as a \
            line that reads as the same, and is written in one way only; evidence has the digest that \
            is its id
            """,
        maximumByteCount: 8192,
        seeds: { ExportSeeds.lines },
        words: StoredRecord.Kind.allCases.map { "\"kind\":\"\($0.rawValue)\"" } + [
            "\"environment\":\"production\"", "\"position\":0", "\"text\":\"", "\"base64\":\"",
        ],
        mutate: Mutations.json,
        check: { ExportChecks.check($0) }
    )
}

private enum ExportChecks {
    static func check(_ input: [UInt8]) {
        let line: ExportLine
        do {
            line = try ExportLine(input, app: "cards")
        } catch {
            expect(!error.code.isEmpty && !error.sentence.isEmpty, "a refusal without words")
            return
        }
        let text = line.json
        let again = unfailing("what was written of a line is refused") {
            try ExportLine(text, app: "cards")
        }
        expect(again == line, "a line reads as another: \(String(decoding: text, as: UTF8.self))")
        expect(again.json == text, "a line is written in two ways")
        expect(!text.contains(UInt8(ascii: "\n")), "a line is two")
        if case .record(.evidence(let evidence, _), _) = line {
            expect(EvidenceID(of: evidence.bytes) == evidence.id, "other bytes than its digest's")
        }
    }
}

enum ExportSeeds {
    private static let lineage =
        #""lineage":{"store":"appStore","environment":"production","id":"1","ownership":"purchased"}"#
    private static let id = "0199f2a0-0000-7000-8000-000000000001"
    private static let at = #""2026-05-06T10:00:00.000Z""#

    static let lines: [[UInt8]] = {
        let piece = Array("{\"a\":\"\u{e9}\"}".utf8)
        var records: [StoredRecord] = [
            .evidence(evidence(piece)),
            .evidence(
                evidence([0xFF, 0x00]),
                idle: IdleMark(
                    since: Instant(millisecondsSince1970: 1_778_061_600_000),
                    subject: "l"
                )
            ),
        ]
        records += SimulatedLife.usualFacts.prefix(4).map { .fact($0) }
        let written = records.map { ExportLine.record($0, .production).json }
        return written + others.map { Array($0.utf8) }
    }()

    private static func evidence(_ bytes: [UInt8]) -> Evidence {
        Evidence(
            id: EvidenceID(of: bytes),
            dedupeKey: "notification:1",
            source: .appStoreNotification,
            signedAt: nil,
            receivedAt: Instant(millisecondsSince1970: 1_778_061_600_000),
            bytes: bytes
        )
    }

    private static let others = [
        #"{"format":"tideover-export","version":1,"app":"cards","holds":"everything"}"#,
        #"{"kind":"owner","environment":"production","position":0,"owner":{\#(lineage),"customer":"anna","why":"accountToken"}}"#,
        #"{"kind":"alias","environment":"production","alias":"a","customer":"anna","from":\#(at),"why":"","by":"k"}"#,
        #"{"kind":"event","environment":"production","id":"\#(id)","customer":"anna","customerVersion":1,"event":"x","effectiveAt":\#(at),"data":{"a":1}}"#,
        #"{"kind":"told","environment":"production","customer":"anna","name":"n","event":"\#(id)"}"#,
        #"{"kind":"audit","environment":"production","id":"\#(id)","name":null,"audit":{"kind":"claimed","at":\#(at),"customer":"anna","other":null,"lineage":null,"actor":"customer","by":null,"why":"w"}}"#,
        #"{"kind":"prompt","environment":"production","customer":"anna","id":"p","prompt":"soft","shownAt":\#(at),"response":null}"#,
        #"{"kind":"bookmark","environment":"production","name":"storeAction:0","bookmark":{"value":"x"}}"#,
        #"{"kind":"customer","environment":"production","customer":"ben","customerVersion":1,"derivedAt":\#(at),"dueAt":null,"reconciledAt":\#(at),"presented":{"appStore":\#(at)},"answer":{}}"#,
        #"{"kind":"customer","environment":"production","customer":"anna","customerVersion":1,"derivedAt":\#(at),"dueAt":null,"reconciledAt":null,"answer":{"entitlements":{}}}"#,
    ]
}
