import Testing
import TideoverCore
import TideoverStorage

@Suite struct PresentedTextTests {
    private static let then = Instant(millisecondsSince1970: 1_796_063_659_522)

    private static func presented(_ products: String...) -> PresentedStores {
        var presented = PresentedStores([.appStore: then, .googlePlay: then])
        for isUsed in [true, false] {
            presented.add(
                products.map { AccountOffer(store: .appStore, productId: $0, isUsed: isUsed) },
                at: then
            )
        }
        return presented
    }

    @Test func `a text without offers is read and written as before`() {
        let text = "appStore 1796063659522,googlePlay 1796063659522"
        #expect(PresentedText.read(text) == Self.presented())
        #expect(PresentedText.write(Self.presented()) == text)
        #expect(PresentedText.write(PresentedStores()) == nil)
    }

    /// A mark can form one character with the space or the comma beside it.
    @Test(arguments: ["pro", "pro year", "p:\u{e9}", "\u{301}pro", "pro\u{600}", "pro\u{200d}"])
    func `every product is read as it was written`(product: String) throws {
        let presented = Self.presented(product, "other")
        let text = try #require(PresentedText.write(presented))
        #expect(PresentedText.read(text) == presented)
    }

    @Test(arguments: ["pro,year", "pro\0", ""])
    func `a product that the text cannot have is left out`(product: String) throws {
        let text = try #require(PresentedText.write(Self.presented(product, "other")))
        #expect(PresentedText.read(text) == Self.presented("other"))
    }

    @Test(
        arguments: [
            "", ",", "appStore", "appStore soon", "kiosk 1", "appStore 1 used",
            "appStore 1 perhaps pro", "appStore 99999999999999999999", "appStore  ",
        ]
    )
    func `a part of another form is skipped`(part: String) {
        let beside = PresentedText.read("\(part),googlePlay 1796063659522")
        #expect(beside == PresentedStores([.googlePlay: Self.then]))
        #expect(PresentedText.read(part) == PresentedStores())
    }
}
