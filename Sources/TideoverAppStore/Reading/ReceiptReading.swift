import TideoverCore
import TideoverJSON

/// What a check of a receipt gives back once everything about its signature holds.
public struct VerifiedReceipt: Sendable {
    /// The signed content.
    public let content: [UInt8]
    public let authority: Authority

    public init(content: [UInt8], authority: Authority) {
        self.content = content
        self.authority = authority
    }
}

/// Verifies the container of a receipt (PKCS #7, in BER or DER). It throws if anything about the
/// signature or the certificates does not hold; what it throws reaches whoever asked for the reading
/// unchanged.
public typealias ReceiptCheck = (_ container: [UInt8]) throws -> VerifiedReceipt

extension AppStoreReader {
    /// Reads an app receipt as StoreKit 1 hands it over: the container itself, or in base64.
    ///
    /// - Throws: ``AppStoreRefusal``, or whatever the check throws.
    public func readReceipt(_ input: [UInt8], check: ReceiptCheck) throws -> AppStoreReading {
        try readReceipt(Self.container(input), isInAnswer: false, check)
    }

    /// Reads an answer of verifyReceipt that somebody hands in. Nobody vouches for what it says by
    /// itself, so nothing of it is believed but the signed receipt that it carries.
    ///
    /// - Throws: ``AppStoreRefusal``, or whatever the check throws.
    public func readReceiptAnswer(_ input: [UInt8], check: ReceiptCheck) throws -> AppStoreReading {
        let answer = try Self.receiptAnswer(input)
        guard let receipt = answer.latestReceipt else { throw AppStoreRefusal.unsignedAnswer }
        return try readReceipt(Self.container(Array(receipt.utf8)), isInAnswer: true, check)
    }

    /// Reads an answer of verifyReceipt that we asked for ourselves, over a connection on which whoever
    /// answered proved to be `authority`. It tells more than a receipt: whether subscriptions renew.
    ///
    /// - Throws: ``AppStoreRefusal``.
    public func readReceiptAnswer(
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

    /// Reads whatever the App Store signed, by what it looks like: a receipt, an answer of
    /// verifyReceipt with a receipt in it, or any of what `read(_:check:)` reads.
    ///
    /// - Throws: ``AppStoreRefusal``, or whatever one of the checks throws.
    public func read(
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
            Stated<StoreEnvironment>($0.known?.environment.rawValue ?? $0.raw)
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

    /// The bytes of a container, of which base64 begins with an M.
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

/// What some bytes look like before anything in them is believed.
public enum AppStoreInput: Hashable, Sendable {
    /// A receipt: a container of PKCS #7, or its base64.
    case receipt
    /// A JSON object with the members of an answer of verifyReceipt.
    case receiptAnswer
    /// A value of `SKPaymentTransaction.transactionReceipt`: a property list, or its base64.
    case transactionReceipt
    /// Any other JSON object, or what begins like one.
    case object
    case other

    public init(_ input: [UInt8]) {
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

    /// Whether the key `"purchase-info"` of a property list is in a text, or in what it encodes.
    private static func isTransactionReceipt(_ text: ArraySlice<UInt8>) -> Bool {
        let isPlain = text.first == UInt8(ascii: "{")
        // In base64 a brace is `ew` or `ey`.
        guard isPlain || text.first == UInt8(ascii: "e") else { return false }
        let list = isPlain ? Array(text) : Base64.decode(text.filter { !$0.isSpace }, .standard)
        guard let list, list.first == UInt8(ascii: "{") else { return false }
        let key = Array("\"purchase-info\"".utf8)
        // JSON, too, can have the key; only a property list has an equals sign behind it.
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
    /// Whether this is white space in ASCII.
    var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
