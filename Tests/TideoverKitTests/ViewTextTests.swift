import Foundation
import Testing

/// Checks the text of the views, which no compiler checks on Linux beyond its syntax.
@Suite struct ViewTextTests {
    private static let lines: [Substring] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "Sources/TideoverKit/Views/Views.swift")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: false)
    }()

    /// The lines of each view's body and of its other functions.
    private static var bodies: [ArraySlice<Substring>] {
        lines.indices.compactMap { start in
            let isBody = lines[start].contains("var body: some View {")
            guard isBody || lines[start].hasPrefix("    private func ") else { return nil }
            let end = lines[start...].firstIndex { $0 == "    }" } ?? start
            return lines[start...end]
        }
    }

    @Test func `each view is short and decides nothing`() {
        #expect(Self.bodies.count == 6)
        for body in Self.bodies {
            #expect(body.count < 30)
            for line in body {
                // The only comparison is the one that reports the foreground.
                let code = line.replacing("if phase == .active", with: "")
                let words = ["&&", "||", "!", " ? ", " ?? ", "==", "guard", "for ", "while"]
                #expect(words.filter { code.contains($0) } == [], "\(line)")
            }
        }
    }

    @Test func `texts come from the models and follow the customer's text size`() {
        let texts = Self.lines.filter { $0.contains("Text(") }
        #expect(texts.count == 7)
        for line in texts { #expect(line.contains("Text(verbatim: ")) }
        #expect(!Self.lines.contains { $0.contains("size:") || $0.contains("fixedSize") })
    }

    @Test func `VoiceOver reads each notice as one element`() {
        let notices = Self.lines.indices.filter { Self.lines[$0].contains("WordsOnScreen(") }
        #expect(notices.count == 2)
        for index in notices {
            #expect(Self.lines[index + 1].contains(".accessibilityLabel(Text(verbatim: model."))
        }
    }
}
