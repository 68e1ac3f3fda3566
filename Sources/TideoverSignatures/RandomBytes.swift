/// Returns bytes of a cryptographically secure source.
package func randomBytes(_ count: Int, _ random: () -> UInt64) -> [UInt8] {
    let bytes = (0..<(count + 7) / 8).flatMap { _ in
        withUnsafeBytes(of: random()) { Array($0) }
    }
    return Array(bytes.prefix(count))
}
