import Testing
import TideoverDashboard
import TideoverJSON

/// The writer of HTML.
@Suite struct HTMLTests {
    private func written(_ html: HTML) -> String {
        String(decoding: HTMLWriter.document(html), as: UTF8.self)
    }

    @Test(arguments: [
        ("<b>", "&lt;b&gt;"), ("a & b", "a &amp; b"), ("\"'", "&quot;&#39;"),
        ("&amp;", "&amp;amp;"), ("\u{0}\u{1B}", "\u{FFFD}\u{FFFD}"), ("😀", "😀"),
        ("a\nb", "a\nb"), ("\u{202E}x", "\u{202E}x"),
    ])
    func `text is escaped in content and in attributes`(text: String, escaped: String) {
        let html = HTML.tag(.p, [.of(.title, text)], .text(text))
        #expect(written(html) == "<!DOCTYPE html><p title=\"\(escaped)\">\(escaped)</p>")
    }

    @Test func `an interpolated value is text`() {
        let name = "<script>"
        #expect(written("Hello \(name)") == "<!DOCTYPE html>Hello &lt;script&gt;")
    }

    @Test func `a name is isolated, and controls of direction in it are visible`() {
        let name = HTML.name("paid \u{202E}dekover\u{202C} \u{2067}א\u{2069}")
        let shown = "paid [U+202E]dekover[U+202C] [U+2067]א[U+2069]"
        #expect(written(name) == "<!DOCTYPE html><bdi>\(shown)</bdi>")
    }

    @Test func `a void element has no end`() {
        #expect(written(.tag(.input, [.flag(.required)])) == "<!DOCTYPE html><input required>")
    }

    @Test func `no element with raw content can be created`() {
        let raw = ["script", "style", "textarea", "iframe", "object", "embed", "base", "noscript"]
        #expect(Tag.allCases.filter { raw.contains($0.rawValue) } == [])
    }

    @Test func `a link stays within the dashboard, whatever its segments are`() {
        for text in ["../..", "//example.com", "javascript:alert(1)", "a/b?c#d", "\"><b>", "é😀"] {
            let link = Link(["apps", text], [("at", text)])
            #expect(link.text.hasPrefix("/dashboard/apps/"))
            #expect(
                link.text.utf8.allSatisfy { byte in
                    byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"")
                        && byte != UInt8(ascii: "<")
                }
            )
            #expect(link.text.split(separator: "/").count == 3)
        }
    }
}
