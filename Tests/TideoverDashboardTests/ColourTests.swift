import Testing
import TideoverDashboard

/// The contrast of the style sheet's colours, as WCAG 2.2 computes it.
@Suite struct ColourTests {
    typealias Colours = [String: [Double]]

    /// The light and the dark colours: the custom properties of the two `:root` rules.
    private static let themes: [(name: String, colours: Colours)] = {
        let css = String(decoding: Asset.css.bytes, as: UTF8.self)
        let parts = css.split(separator: ":root {").dropFirst().map { $0.prefix { $0 != "}" } }
        let themes = parts.map { part in
            part.split(separator: "\n").reduce(into: Colours()) { colours, line in
                let words = line.split(separator: ":").map { $0.filter { !" ;".contains($0) } }
                guard words.count == 2, words[1].hasPrefix("#"), words[1].count == 7 else { return }
                colours[words[0]] = stride(from: 1, to: 7, by: 2).compactMap { place in
                    Int(words[1].dropFirst(place).prefix(2), radix: 16).map { Double($0) / 255 }
                }
            }
        }
        return Array(zip(["light", "dark"], themes))
    }()

    private static let phases = Phase.drawn.map(\.style)

    private func luminance(_ colour: [Double]) -> Double {
        let linear = colour.map { value -> Double in
            guard value > 0.04045 else { return value / 12.92 }
            return power((value + 0.055) / 1.055)
        }
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    /// Returns `base` to the power of 2.4: its square times the fifth root of its square, which
    /// Newton's method finds.
    private func power(_ base: Double) -> Double {
        let square = base * base
        var root = 1.0
        for _ in 0..<60 { root = (4 * root + square / (root * root * root * root)) / 5 }
        return square * root
    }

    private func contrast(_ a: [Double], _ b: [Double]) -> Double {
        let (x, y) = (luminance(a), luminance(b))
        return (max(x, y) + 0.05) / (min(x, y) + 0.05)
    }

    @Test func `black on white has the contrast of the standard`() {
        #expect(abs(contrast([0, 0, 0], [1, 1, 1]) - 21) < 0.01)
        // #767676 is the lightest grey that passes AA on white.
        let grey = 118.0 / 255
        #expect(abs(contrast([grey, grey, grey], [1, 1, 1]) - 4.54) < 0.01)
    }

    @Test func `both themes define every colour`() {
        #expect(Self.themes.count == 2)
        #expect(Set(Self.themes[0].colours.keys) == Set(Self.themes[1].colours.keys))
        #expect(Self.themes[0].colours.count >= 22)
    }

    @Test func `text has the contrast of level AA on each ground`() throws {
        for (name, colours) in Self.themes {
            var pairs = ["ink", "quiet", "link", "alarm"].flatMap { [($0, "page"), ($0, "card")] }
            pairs += Self.phases.map { ("\($0)-ink", $0) } + [("card", "link")]
            for (text, ground) in pairs {
                let front = try #require(colours["--\(text)"], "\(text)")
                let back = try #require(colours["--\(ground)"], "\(ground)")
                #expect(contrast(front, back) >= 4.5, "\(name): \(text) on \(ground)")
            }
        }
    }

    @Test func `outlines of shapes and of the focus have the contrast of graphics`() throws {
        for (name, colours) in Self.themes {
            for line in ["ink", "focus", "alarm", "quiet"] {
                let front = try #require(colours["--\(line)"])
                let back = try #require(colours["--card"])
                #expect(contrast(front, back) >= 3, "\(name): \(line)")
            }
        }
    }

    @Test func `phases differ in colour, lightness and shape`() throws {
        #expect(Set(Phase.allCases.map(\.shape)).count == Phase.allCases.count)
        for (name, colours) in Self.themes {
            for (place, phase) in Self.phases.enumerated() {
                for other in Self.phases[(place + 1)...] {
                    let a = try #require(colours["--\(phase)"])
                    let b = try #require(colours["--\(other)"])
                    #expect(contrast(a, b) >= 1.18, "\(name): \(phase) and \(other)")
                }
            }
        }
    }
}
