import Testing
import TideoverJSON
import TideoverSignatures

/// Signatures of one key with RSA, made by arithmetic from encoded messages with one defect each.
struct RS256PaddingTests {
    private let message = Array("the tide comes in".utf8)
    private let key: RSAPublicKey

    init() throws {
        key = try RSAPublicKey(modulus: Self.number(Self.modulus), exponent: [1, 0, 1])
    }

    private static func number(_ text: String) throws -> [UInt8] {
        try #require(Base64.decode(text.utf8.filter { $0 != UInt8(ascii: "\n") }, .standard))
    }

    @Test func `the signature of the message is valid for it alone`() throws {
        let signature = try Self.number(Self.valid)
        #expect(key.verify(signature: signature, of: message))
        #expect(!key.verify(signature: signature, of: message + [0]))
    }

    @Test(arguments: [
        withoutParameters, otherDigest, shortPadding, brokenPadding, encryptionPadding, bareDigest,
    ])
    func `a message encoded in another way is refused`(signature: String) throws {
        #expect(try !key.verify(signature: Self.number(signature), of: message))
    }

    @Test func `a number outside the modulus, and one that needs no key, is refused`() throws {
        let modulus = try Self.number(Self.modulus)
        let zero = [UInt8](repeating: 0, count: 256)
        let one = Array(zero.dropLast()) + [1]
        let beyond = Self.sum(try Self.number(Self.valid), modulus)
        let beforeModulus = Array(modulus.dropLast()) + [try #require(modulus.last) - 1]
        for number in [zero, one, beforeModulus, modulus, beyond] {
            #expect(!key.verify(signature: number, of: message))
        }
    }

    /// Returns a sum that fits in the same number of bytes.
    private static func sum(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
        var (bytes, carry) = (one, 0)
        for index in bytes.indices.reversed() {
            carry += Int(one[index]) + Int(other[index])
            bytes[index] = UInt8(carry & 0xFF)
            carry >>= 8
        }
        return bytes
    }

    // MARK: Numbers, in base64

    /// The modulus; the exponent is 65537.
    private static let modulus = """
        hrFNezNmvq6LYJLOGRUoy8CQTYkpJbprKPmEz31W0kMgmSEahVrsEr08upPCQC/4MExLFsUQBL+ndV6O9ygd3yNW
        eMnHVkepW715B2wE7UyePZc//3ZlJZGYhxezSiafK7mIczv8o0HjKWf7sSKmNEifJn4LxbQt+81glOZlrtktHV+n
        TdJYocu5F7pIPY7pWEAJWatmqy25vwj+/sAlv7kOgrztX49oww26k3CueC21xfaqH4oAxeECpdwaQwMZ/xIlt0xY
        3sAlufQ4yMu/KF0UTPtX/+JcI3O3e4i0rZGPoAtxOZSW+OXiheKh6VaDtjQvMta59BZUi9vM9q2Btw==
        """

    /// The signature of the message.
    private static let valid = """
        d7DRgFLqjA08E0N5dSFr445YqvtfIeaga5ihILaSiS9AiJhE+zhQWF5Ycnxep7WoLikbjPdQzUeqbr7pZld7KtKk
        6YEXCfsH3EkMbegDfx6wmuutinNJE5iLosLum6BfxfPaTTMa0+2RFH5sYpdSiWw9KYPQST1jx1kKuWNSaPYYO+oQ
        JX5ztgM1NuGNn6OeYlYtFLyDomfJAtw8jxu8UE69LSNW//3niwwTjkGobZM69PcgVp8nRq4mSXT9jLJcYMFYlDaw
        w+oQOHi2LkDP2Po9XeejEq4LpDfDXp0abf5/cjVkkjoLfaTbooIuzQAGyamqeWFEtBBiSkoaJdgkoA==
        """

    /// Its digest names no parameters.
    private static let withoutParameters = """
        ctvIpr+QV4yED65d70gZTpk4gxuVSDD2pj3+E/GUT5yk+R8+Q+07XQ9ejdaAic8ijlrrjnEQRo2VsPkP57k82F8P
        WEn0TskTZFVrrY0uAQYmYY4whDP+huNRQ1l44Oy7Love0j80lq8lt8kCR4FUkRX1WGKT+3FogBVleaMHTk/54+8P
        YqgozRwWF8OzzlcheeScwOsSf3enSOfkujxRjxji+xEoDP2CnQ5KXddVYrongqdY24Zz2jp8Z8pnl2ZKS7HDEJN0
        dQOlD+p2s/t0F6Fszh9kpz+ZGcgpDBMy6yzfTQUE9zBnH/IyoQKkbTn+yxCgQl5JayNQexhMBFxojQ==
        """

    /// Its digest is named as one of SHA-384.
    private static let otherDigest = """
        PD1mkDLVC766vmOuJhY6MDM7XKjQgrM4MncjO4zuwuOTDU9m1zV2NVYeAFxHY8ziyRe6IELqZum5uvExTzu2Y7MG
        MDBWTTKCwlha5ABaEDdL2NAGR14Z67tXr285gxDPaxtgbU3z1P0Mb68KaIBjSnR4bUTmDF9ppYmTojVdTWWVc6Wy
        VUbx+rOYO6UnWWX+sP2fyspN4O/Hga9NEYu09PZdB267wdfrEDedEsMZTs0wkRUWdzHZyjLgpKiFVA5pvSFqrjrT
        raTdJ5Z0DsYNauLpI+ynNsaEnAHomLly3OSpIwWW8VzvMqCBmPIO2ddOsF+eIJz2ieM2goidPdqIDw==
        """

    /// Its padding has the least length, and other bytes follow the digest.
    private static let shortPadding = """
        dUrP7kmZcLMCIFoi+eCrfEZjLdD0aMI+1d1Tuqt8cgu29zQYRy0xk8txVsVOYXXL3G9YWNRa/wUJPQLiZShFTAXK
        uTVjq5T78dJCKuijwB1nKyGm/IR2CFQL1cOF/top2FdKoyrnsDSq1qD5IAb9tU/trHi7BddHEgRFSHp4hax1o4dB
        0byYvxVZ325nd/egBgfzzAO9ps8jdRHd8zw3ZB1JUCX8KBlfpvEyHySccaz94jKtJk1gTUcpACfURStK2C92emt9
        qlZaz/hORT9ATlVXbr9XAWVRQ7TT2F3/+UVO7sWRuJgbQVx/+tJuNfie/ffLTOKsKvgORq/Zq4g3xw==
        """

    /// One byte of its padding differs.
    private static let brokenPadding = """
        YRaHnuaGbyBsg6+7derccNMRaq7YAu5yL/QithNodorVEquI7JncAqqttymfccDRc6BNTvcVAhcUIBm3yJVkFXof
        8cWiWnQoHTgl0jwIVLHdo3rbG4Zmwa/KPBYRkdo6SUQUUy1BZ0bQSgkwoEGfaBCkslVL487sdGeVkKHtfhEdyraT
        nXycTOjzdICGg+KwphFSjFoqXPc0/JERTwUG2ED7gXoP6n4LjFOYcOJeEP8SjsV7webBrE/sqzXZ/MdgPnJhsZ67
        khcoCINGHUtyZpm8+wl7qGUS8HgB48EX6P7lbByRFFy7FFPMLlv+6Dxy3I/FVs0Dkp6at4TjpZqruA==
        """

    /// Its padding is that of encryption.
    private static let encryptionPadding = """
        ckCAxlT1hxOhS10YmXBr9KOtTUWQJUpCMnMqvRvvxnTmtchZCSw9sEKCTphmiZhLIyNsfyiC+yr+C3sxyTGAQzIz
        A8oFKETsX5mMWQR9nOsUIVNwmuumN+3MFcAwjxSXj7cer7rIAQulmKRuw08nGkY8IMrnu6KvGWY11C2Lcv4rEoRm
        AJR+YojkGJzzTXcq3lMSdg3sTc3a4NlXDp2GyxlwZeF3Qh2ofJ0oIySgdK/kepxAHbTwa+LAcz5XiX9qfQuZejHa
        gyg+o4YH33OZzgcdtAHEjl5Hs+tEDcDBFjHTpHAE8d9KjIief4+uc0mYSfYsBTKwxlBPM69Ississw==
        """

    /// Its digest has no name.
    private static let bareDigest = """
        AyIgxwLni7TnTaqyCXTKJ0sVyYKcgcEUmyLslyt65R4QjoIronfo5csZYn1B05uUG8u95ZuSghWIY86f++i3imcW
        pJ3C6PWU4LmKjyyHmv3JDYsT7972OwLP3UhIZ+4a9dwltL5VGbhUVXsHJudl3a4JZzrzjaSsrTAH/SELqGOEQKtN
        YUtb4Tpj277loANVK9qRTH59EnWof5iCQzALD+gA5pMJLSDGRR8TYTfpcL/eTF2R6a+0hk+yVELofvHotR85JjOH
        iTZj2IhEBkCj5NgBX+/JH7uXzjbXrwAbHfbNbIUniK8v6vp/YdSkkHYjjU7XYu6Khq4fA2iGfRfsvQ==
        """
}
