import TideoverCore
import TideoverJSON

/// The result of a receipt check that passed completely.
package struct VerifiedReceipt: Sendable {
    /// The signed content.
    package let content: [UInt8]
    package let authority: Authority

    package init(content: [UInt8], authority: Authority) {
        self.content = content
        self.authority = authority
    }
}

/// Verifies the container of a receipt (PKCS #7, in BER or DER). It throws if the signature or the
/// certificates are invalid. Its errors are passed unchanged to the caller of the reader.
package typealias ReceiptCheck = (_ container: [UInt8]) throws -> VerifiedReceipt

extension AppStoreReader {
    /// Reads an app receipt as StoreKit 1 returns it: the container itself, or in base64.
    ///
    /// - Throws: ``AppStoreRefusal``, or the errors of the check.
    package func readReceipt(_ input: [UInt8], check: ReceiptCheck) throws -> AppStoreReading {
        try readReceipt(Self.container(input), isInAnswer: false, check)
    }

    /// Reads a verifyReceipt response that a client submits. The response itself is not signed, so
    /// only the signed receipt in it is trusted.
    ///
    /// - Throws: ``AppStoreRefusal``, or the errors of the check.
    package func readReceiptAnswer(_ input: [UInt8], check: ReceiptCheck) throws -> AppStoreReading
    {
        let answer = try Self.receiptAnswer(input)
        guard let receipt = answer.latestReceipt else { throw AppStoreRefusal.unsignedAnswer }
        return try readReceipt(Self.container(Array(receipt.utf8)), isInAnswer: true, check)
    }

    /// Reads a verifyReceipt response to our own request. The connection proves that `authority`
    /// sent it. The response contains more than a receipt: whether subscriptions renew.
    ///
    /// - Throws: ``AppStoreRefusal``.
    package func readReceiptAnswer(
        _ body: [UInt8],
        askedOf authority: Authority
    ) throws(AppStoreRefusal) -> AppStoreReading {
        let answer = try Self.receiptAnswer(body)
        try app.require(bundleId: answer.bundleId)
        let claim = answer.environment
        let vouched = authority.environment(claiming: claim?.known)
        return try AppStoreReading(
            Message(
                kind: .receiptAnswer,
                environment: try app.require(vouched, claimed: claim),
                claimedEnvironment: claim?.raw,
                receiptAnswer: answer
            )
        )
    }

    /// Detects the format of App Store content and reads it: a receipt, a verifyReceipt response
    /// with a receipt, or any input of `read(_:check:)`.
    ///
    /// - Throws: ``AppStoreRefusal``, or the errors of the checks.
    package func read(
        _ input: [UInt8],
        check: SignatureCheck,
        receipts: ReceiptCheck
    ) throws -> AppStoreReading {
        switch AppStoreInput(input) {
        case .receipt: try readReceipt(input, check: receipts)
        case .receiptAnswer: try readReceiptAnswer(input, check: receipts)
        case .transactionReceipt, .object, .other: try read(input, check: check)
        }
    }

    private func readReceipt(
        _ container: [UInt8],
        isInAnswer: Bool,
        _ check: ReceiptCheck
    ) throws -> AppStoreReading {
        let verified = try check(container)
        let receipt = try AppStoreReceipt(content: verified.content)
        try app.require(bundleId: receipt.bundleId)
        let claim = receipt.type.map {
            OpenEnum<StoreEnvironment>($0.known?.environment.rawValue ?? $0.raw)
        }
        let vouched = verified.authority.environment(claiming: claim?.known)
        return try AppStoreReading(
            Message(
                kind: .receipt,
                environment: try app.require(vouched, claimed: claim),
                claimedEnvironment: receipt.type?.raw,
                receipt: receipt,
                isInAnswer: isInAnswer
            )
        )
    }

    /// Returns the bytes of a container; its base64 begins with an M.
    private static func container(_ input: [UInt8]) throws(AppStoreRefusal) -> [UInt8] {
        guard input.first != 0x30 else { return input }
        let text = input.filter { !$0.isSpace }
        guard let bytes = Base64.decode(text, .standard) else { throw .notBase64 }
        return bytes
    }

    private static func receiptAnswer(
        _ body: [UInt8]
    ) throws(AppStoreRefusal) -> AppStoreReceiptAnswer {
        let answer: AppStoreReceiptAnswer
        do {
            answer = try AppStoreReceiptAnswer(JSONDocument(body, limits: .storeAnswer).root)
        } catch let error as JSONError {
            throw .malformedJSON(error)
        } catch let refusal as AppStoreRefusal {
            throw refusal
        } catch {
            preconditionFailure("reading an answer fails by a refusal only")
        }
        guard answer.status == 0 else { throw .receiptStatus(answer.status) }
        return answer
    }
}

/// The detected format of unverified bytes.
package enum AppStoreInput: Hashable, Sendable {
    /// A receipt: a container of PKCS #7, or its base64.
    case receipt
    /// A JSON object with the members of a verifyReceipt response.
    case receiptAnswer
    /// A value of `SKPaymentTransaction.transactionReceipt`: a property list, or its base64.
    case transactionReceipt
    /// Any other JSON object, or bytes that begin like one.
    case object
    case other

    package init(_ input: [UInt8]) {
        let text = input.drop(while: \.isSpace)
        if input.first == 0x30 || text.starts(with: "MI".utf8) {
            self = .receipt
        } else if Self.isTransactionReceipt(text) {
            self = .transactionReceipt
        } else if text.first != UInt8(ascii: "{") {
            self = .other
        } else {
            self = Self.isAnswer(input) ? .receiptAnswer : .object
        }
    }

    /// Returns whether a text, or the text that it encodes, has the property list key
    /// `"purchase-info"`.
    private static func isTransactionReceipt(_ text: ArraySlice<UInt8>) -> Bool {
        let isPlain = text.first == UInt8(ascii: "{")
        // Base64 of a brace begins with `ew` or `ey`.
        guard isPlain || text.first == UInt8(ascii: "e") else { return false }
        let list = isPlain ? Array(text) : Base64.decode(text.filter { !$0.isSpace }, .standard)
        guard let list, list.first == UInt8(ascii: "{") else { return false }
        let key = Array("\"purchase-info\"".utf8)
        // JSON can also contain the key; only in a property list does an equals sign follow it.
        return list.indices.dropLast(key.count).contains { start in
            list[start] == key[0] && list[start...].starts(with: key)
                && list[(start + key.count)...].first { !$0.isSpace } == UInt8(ascii: "=")
        }
    }

    private static func isAnswer(_ input: [UInt8]) -> Bool {
        guard let document = try? JSONDocument(input, limits: .storeAnswer) else { return false }
        let members = ["receipt", "latest_receipt", "latest_receipt_info", "environment"]
        return document.root["status"] != nil && document.root["signedPayload"] == nil
            && document.root["signedTransactionInfo"] == nil
            && (members.contains { document.root[$0] != nil }
                || document.root["status"]?.int64 ?? 0 >= 21000)
    }
}

extension UInt8 {
    /// Whether the byte is ASCII white space.
    var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
