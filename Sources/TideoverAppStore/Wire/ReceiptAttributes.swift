import TideoverASN1
import TideoverCore

/// The attributes of a receipt or of one purchase in it: numbered values in any order. An absent or
/// empty attribute is nil. A known attribute that is duplicated or has the wrong type is rejected
/// by name.
///
/// `SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`. For most types, the
/// value is itself an ASN.1 value. Apple's list of the types is not complete.
struct ReceiptAttributes {
    private var values: [Name: [UInt8]] = [:]
    /// The values of all purchase attributes, not parsed yet.
    private(set) var purchases: [[UInt8]] = []

    /// The attribute types that are parsed, with their verifyReceipt names.
    enum Name: Int64 {
        case receiptType = 0
        case bundleId = 2
        case applicationVersion = 3
        case opaqueValue = 4
        case digest = 5
        case creationDate = 12
        case inApp = 17
        case appPurchaseDate = 18
        case originalApplicationVersion = 19
        case expirationDate = 21
        case quantity = 1701
        case productId = 1702
        case transactionId = 1703
        case purchaseDate = 1704
        case originalTransactionId = 1705
        case originalPurchaseDate = 1706
        case productType = 1707
        case expiresDate = 1708
        case webOrderLineItemId = 1711
        case cancellationDate = 1712
        case isTrialPeriod = 1713
        case isInIntroOfferPeriod = 1719
        case promotionalOfferId = 1721

        var words: String { "receipt attribute \(rawValue)" }
    }

    init(_ content: [UInt8]) throws(AppStoreRefusal) {
        do {
            let set = try BERReader.only(content[...])
            guard set.identifier == BERValue.set else {
                throw BERError.unexpectedTag(set.identifier)
            }
            var elements = set.elements
            while !elements.isAtEnd { try add(elements.next(BERValue.sequence)) }
        } catch let error as BERError {
            throw .malformedReceipt(error)
        } catch let refusal as AppStoreRefusal {
            throw refusal
        } catch {
            preconditionFailure("reading a receipt fails by a refusal only")
        }
    }

    private mutating func add(_ attribute: BERValue) throws {
        var fields = attribute.elements
        let type = try fields.next(BERValue.integer).integer()
        _ = try fields.next(BERValue.integer).integer()
        let value = try fields.nextOctets()
        try fields.end()
        guard let name = Name(rawValue: type) else { return }
        if name == .inApp {
            purchases.append(value)
        } else if values.updateValue(value, forKey: name) != nil {
            throw AppStoreRefusal.malformed(field: name.words)
        }
    }

    /// Returns the value unchanged.
    func bytes(_ name: Name) -> [UInt8]? { values[name] }

    func string(_ name: Name) throws(AppStoreRefusal) -> String? {
        let text = try value(name) { value throws(BERError) in try value.text() }
        return text.flatMap { $0.isEmpty ? nil : $0 }
    }

    func integer(_ name: Name) throws(AppStoreRefusal) -> Int64? {
        try value(name) { value throws(BERError) in try value.integer() }
    }

    /// 0 or 1.
    func flag(_ name: Name) throws(AppStoreRefusal) -> Bool? {
        guard let number = try integer(name) else { return nil }
        guard number == 0 || number == 1 else { throw .malformed(field: name.words) }
        return number == 1
    }

    /// Returns a date from RFC 3339 text. An empty text means no date.
    func date(_ name: Name) throws(AppStoreRefusal) -> Instant? {
        guard let text = try string(name) else { return nil }
        guard let instant = Instant(rfc3339: text) else { throw .malformed(field: name.words) }
        return instant
    }

    private func value<Value>(
        _ name: Name,
        _ read: (BERValue) throws(BERError) -> Value
    ) throws(AppStoreRefusal) -> Value? {
        guard let bytes = values[name], !bytes.isEmpty else { return nil }
        do {
            return try read(BERReader.only(bytes[...]))
        } catch {
            throw .malformed(field: name.words)
        }
    }
}
