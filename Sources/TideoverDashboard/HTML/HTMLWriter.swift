/// Writes HTML as bytes. All markup of the dashboard is created here.
package struct HTMLWriter {
    package private(set) var bytes: [UInt8] = []

    /// Returns a whole document.
    package static func document(_ html: HTML) -> [UInt8] {
        var writer = HTMLWriter()
        writer.bytes += "<!DOCTYPE html>".utf8
        writer.write(html)
        return writer.bytes
    }

    package mutating func write(_ html: HTML) {
        switch html {
        case .text(let text): escape(text)
        case .group(let parts): for part in parts { write(part) }
        case .element(let tag, let attributes, let content):
            open(tag.rawValue, attributes)
            guard !tag.isVoid else { return }
            for part in content { write(part) }
            close(tag.rawValue)
        case .module(let link):
            let source = Attribute(name: "src", value: link.text)
            open("script", [.of(.type, "module"), source])
            close("script")
        }
    }

    private mutating func open(_ tag: String, _ attributes: [Attribute]) {
        bytes.append(UInt8(ascii: "<"))
        bytes += tag.utf8
        for attribute in attributes {
            bytes.append(UInt8(ascii: " "))
            bytes += attribute.name.utf8
            guard let value = attribute.value else { continue }
            bytes += [UInt8(ascii: "="), UInt8(ascii: "\"")]
            escape(value)
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: ">"))
    }

    private mutating func close(_ tag: String) {
        bytes += [UInt8(ascii: "<"), UInt8(ascii: "/")]
        bytes += tag.utf8
        bytes.append(UInt8(ascii: ">"))
    }

    /// Escapes for content and quoted attributes alike. Control characters that HTML forbids become
    /// U+FFFD.
    private mutating func escape(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            case UInt8(ascii: "\n"), UInt8(ascii: "\t"): bytes.append(byte)
            case 0..<0x20, 0x7F: bytes += "\u{FFFD}".utf8
            default: bytes.append(byte)
            }
        }
    }
}
