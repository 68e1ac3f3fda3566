import CTideoverMicrohttpd
import TideoverHTTP

extension RequestHead {
    /// Reads the head that the engine has just parsed; called only from its first access callback.
    ///
    /// Of more than `mostFields` fields only one more is kept, which is enough to reject them.
    init(
        engine: EngineConnection,
        method: UnsafePointer<CChar>,
        version: UnsafePointer<CChar>,
        target: String,
        targetAddress: UInt,
        targetLength: Int,
        mostFields: Int
    ) {
        self.method = String(cString: method)
        self.version = String(cString: version)
        self.target = target
        bytes = tideover_mhd_head_bytes(engine.pointer)

        var layout = HeadLayout(methodAt: UInt(bitPattern: method), length: strlen(method))
        layout.part(at: targetAddress, length: targetLength, followedBy: 1)
        layout.part(at: UInt(bitPattern: version), length: self.version.utf8.count, followedBy: 2)
        var collector = FieldCollector(layout: layout, most: mostFields)
        withUnsafeMutablePointer(to: &collector) {
            _ = MHD_get_connection_values_n(engine.pointer, .HEADER_KIND, collectField, $0)
        }
        fields = collector.fields
        isExact = !Self.engineIsLenient || collector.layout.ends(afterBytes: bytes)
    }

    /// Whether this engine accepts forms that RFC 9112 forbids; it is strict itself from 1.0 on.
    private static let engineIsLenient = MHD_VERSION < 0x0100_0000
}

/// Collects header fields as the engine passes them, one by one.
private struct FieldCollector {
    var layout: HeadLayout
    let most: Int
    var fields: [Headers.Field] = []

    /// Adds a field; returns false to stop.
    mutating func take(
        name: UnsafeBufferPointer<CChar>,
        value: UnsafeBufferPointer<CChar>
    ) -> Bool {
        layout.field(
            name: UInt(bitPattern: name.baseAddress),
            nameLength: name.count,
            value: UInt(bitPattern: value.baseAddress),
            valueLength: value.count
        )
        fields.append(Headers.Field(name: Self.text(name), value: Self.text(value)))
        return fields.count <= most
    }

    private static func text(_ characters: UnsafeBufferPointer<CChar>) -> String {
        String(decoding: UnsafeRawBufferPointer(characters), as: UTF8.self)
    }
}

private func collectField(
    collector: UnsafeMutableRawPointer?,
    kind: MHD_ValueKind,
    name: UnsafePointer<CChar>?,
    nameLength: Int,
    value: UnsafePointer<CChar>?,
    valueLength: Int
) -> MHD_Result {
    guard let collector = collector?.assumingMemoryBound(to: FieldCollector.self) else {
        return .NO
    }
    let wantsMore = collector.pointee.take(
        name: UnsafeBufferPointer(start: name, count: nameLength),
        value: UnsafeBufferPointer(start: value, count: valueLength)
    )
    return wantsMore ? .YES : .NO
}
