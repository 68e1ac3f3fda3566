import Testing
import TideoverSignatures

struct CertificateTimeTests {
    @Test(
        arguments: [
            ("700101000000Z", 0), ("691231235959Z", -1000), ("500101000000Z", -631_152_000_000),
            ("491231235959Z", 2_524_607_999_000), ("000229000000Z", 951_782_400_000),
            ("250919194451Z", 1_758_311_091_000), ("271013174723Z", 1_823_449_643_000),
        ] as [(String, Int64)]
    )
    func `the short form counts years from 1950 to 2049`(text: String, expected: Int64) {
        #expect(CertificateTime.utcTime(text.utf8) == expected)
    }

    @Test(
        arguments: [
            ("19700101000000Z", 0), ("00000301000000Z", -62_162_035_200_000),
            ("20000229235959Z", 951_868_799_000), ("99991231235959Z", 253_402_300_799_000),
            ("19691231235959Z", -1000), ("20500101000000Z", 2_524_608_000_000),
        ] as [(String, Int64)]
    )
    func `the long form has four digits of year`(text: String, expected: Int64) {
        #expect(CertificateTime.generalizedTime(text.utf8) == expected)
    }

    @Test(arguments: [
        "", "260101000000", "2601010000Z", "260101000000+0000", "261301000000Z", "260001000000Z",
        "260132000000Z", "260100000000Z", "250229000000Z", "260101240000Z", "260101006000Z",
        "260101000060Z", "26O101000000Z", "260101000000z", " 60101000000Z", "-60101000000Z",
    ])
    func `a time not in UTC to the second is refused`(text: String) {
        #expect(CertificateTime.utcTime(text.utf8) == nil)
        #expect(CertificateTime.generalizedTime(("20" + text).utf8) == nil)
        #expect(CertificateTime.generalizedTime(text.utf8) == nil)
    }

    @Test func `fractional seconds are refused in certificates`() {
        #expect(CertificateTime.generalizedTime("20260101000000.5Z".utf8) == nil)
        #expect(CertificateTime.generalizedTime("21000229000000Z".utf8) == nil)
    }

    @Test func `reading and writing agree over eight centuries`() {
        for step in 0..<4000 as Range<Int64> {
            let instant = (step - 2000) * 7_300_000_000 / 1000 * 1000
            let text = CertificateTime.text(instant)
            let digits = text.filter { $0 != "-" && $0 != ":" && $0 != "T" }
            #expect(CertificateTime.generalizedTime(digits.utf8) == instant, "\(text)")
        }
        #expect(CertificateTime.text(1_778_061_600_007) == "2026-05-06T10:00:00.007Z")
        #expect(CertificateTime.text(-1) == "1969-12-31T23:59:59.999Z")
        #expect(CertificateTime.text(.min).hasSuffix("16:47:04.192Z"))
    }
}
