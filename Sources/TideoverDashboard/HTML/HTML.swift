/// A part of an HTML document as a value.
///
/// Text is escaped when it is written. Elements come from the closed list of `Tag`, which has no
/// element with raw content, so no text can become markup, a script or a style.
package indirect enum HTML: Hashable, Sendable {
    case text(String)
    case element(Tag, [Attribute], [HTML])
    case group([HTML])
    /// A script of this server, loaded as a module.
    case module(Link)

    package static let nothing = HTML.group([])

    /// Creates an element with its content.
    package static func tag(
        _ tag: Tag,
        _ attributes: [Attribute] = [],
        _ content: HTML...
    ) -> HTML {
        .element(tag, attributes, content)
    }

    /// Creates a text from outside, isolated from the direction of the text around it. Controls of
    /// direction in it are written as code points, so that they cannot disguise it.
    package static func name(_ text: String) -> HTML {
        .element(.bdi, [], [.text(VisibleText.of(text))])
    }

    /// Creates a text that the app shows or sends, unchanged: languages written from right to left
    /// can need controls of direction.
    static func message(_ text: String) -> HTML {
        .element(.bdi, [], [.text(text)])
    }
}

extension HTML: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) { self = .text(text) }
}

extension HTML: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: HTML...) { self = .group(elements) }
}

/// The elements that a page may use.
package enum Tag: String, Hashable, Sendable, CaseIterable {
    case html, head, meta, title, link, body, header, nav, main, footer, section
    case h1, h2, h3, p, a, ul, li, dl, dt, dd, table, caption, thead, tbody, tr, th, td
    case form, label, input, select, option, button, div, span, time, data, bdi, details, summary,
        strong, code
    case svg, g, rect, line, path, text, figure, figcaption

    /// Whether the element has neither content nor an end tag.
    var isVoid: Bool {
        switch self {
        case .meta, .link, .input: true
        default: false
        }
    }
}

/// An attribute of an element. Addresses can only be links within this server.
package struct Attribute: Hashable, Sendable {
    let name: String
    /// Nil for an attribute without a value.
    let value: String?

    /// The attributes with any text as a value; none of them is an address, a script or a style.
    package enum Name: String, Sendable {
        case `class`, id, lang, title, name, value, type, `for`, role, content, charset, datetime
        case scope, rel, method, autocomplete, placeholder, x, y, width, height, rx, x1, x2, y1, y2
        case d, viewBox, tabindex, maxlength, min, max, step
        case isCurrent = "aria-current"
        case isHidden = "aria-hidden"
        case label = "aria-label"
        case labelledBy = "aria-labelledby"
    }

    package enum Flag: String, Sendable { case required, autofocus, open }

    package static func of(_ name: Name, _ value: String) -> Attribute {
        Attribute(name: name.rawValue, value: value)
    }

    package static func of(_ name: Name, _ value: Int) -> Attribute { of(name, String(value)) }

    package static func flag(_ flag: Flag) -> Attribute {
        Attribute(name: flag.rawValue, value: nil)
    }

    package static func href(_ link: Link) -> Attribute {
        Attribute(name: "href", value: link.text)
    }

    package static func action(_ link: Link) -> Attribute {
        Attribute(name: "action", value: link.text)
    }

    package static func `class`(_ names: String) -> Attribute { of(.class, names) }
}
