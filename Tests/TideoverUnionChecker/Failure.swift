import TideoverJSON

extension UnionChecker {
    /// The body of an error as both SDKs read it.
    package struct Failure: Hashable, Sendable {
        /// The number that selects the error of the app.
        package let code: Int64
        package let message: String
        /// Why attributes were not stored, by name.
        package let attributeErrors: [String: String]

        /// Throws a `Refusal` for a body without a number or a message. iOS reads a number in text
        /// too, and Android reads a body that is not JSON as a failure of the network.
        package init(_ body: [UInt8]) throws {
            let top = try Members(body: body)
            code = try top.needed("code", \.int64)
            message = try top.text("message")
            let nested = try top.nestedAttributeErrors()
            attributeErrors = try top.attributeErrors().merging(nested) { first, _ in first }
        }

        /// Android leaves the purchase alone after this one.
        static let storeNotServed: Int64 = 7662

        /// The errors that say that a receipt can never become valid: of the platform, the owner,
        /// the evidence, the product, the customer's id, the key, the request or its attributes.
        private static let final: Set<Int64> = [
            7000, 7102, 7103, 7106, 7220, 7224, 7225, 7226, 7256, 7263, 7264, storeNotServed,
        ]

        /// Proxies and limits use these, whatever the receipt is.
        private static let unrelated: Set<Int> = [408, 413, 429]

        /// A device finishes a purchase after any 4xx, so every other reason has to be a 5xx.
        func receiptRefusals(status: Int) -> [Refusal] {
            guard status < 500 else { return [] }
            if Self.unrelated.contains(status) {
                return [Refusal("status", "\(status) finishes a purchase")]
            }
            return Self.final.contains(code)
                ? [] : [Refusal("status", "\(status) with \(code) finishes a purchase")]
        }
    }
}

extension Members {
    /// Why attributes were not stored, by name; empty if nothing is stated.
    func attributeErrors() throws -> [String: String] {
        guard let list = node["attribute_errors"], !list.isNull else { return [:] }
        return try objects("attribute_errors").reduce(into: [:]) { errors, one in
            errors[try one.text("key_name")] = try one.text("message")
        }
    }

    /// The same in the answer to a receipt, which may be one without an error.
    func nestedAttributeErrors() throws -> [String: String] {
        guard let nested = node["attributes_error_response"], !nested.isNull else { return [:] }
        return try object("attributes_error_response").attributeErrors()
    }
}
