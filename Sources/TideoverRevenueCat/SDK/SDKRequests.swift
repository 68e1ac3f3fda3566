package import TideoverCore
import TideoverJSON

// The bodies that the SDKs send. Members are added in most releases, so unknown ones are ignored.

/// The limits of a body. A receipt of StoreKit 1 has hundreds of kilobytes.
private let limits = JSONLimits(maxBytes: 4 << 20, maxDepth: 32)

/// The body of `POST /v1/receipts`.
package struct SDKReceipt: Hashable, Sendable {
    package let user: SDKUserID
    package let evidence: Evidence
    /// The products that the device states, without base plan; the first one is bought.
    package let products: [String]
    package let basePlan: String?
    /// Whether it may take purchases of a former installation.
    package let isRestore: Bool
    /// Whether all purchases of the device's store account are restored; the device presents one of
    /// them. A purchase of an anonymous customer may restore too, but no others.
    package let wantsWholeAccount: Bool
    /// The document about the app itself, which carries no purchase.
    package let appTransaction: String?
    package let attributes: SDKAttributes?

    /// What the device presents, by its form.
    package enum Evidence: Hashable, Sendable {
        /// A transaction that the App Store signed.
        case transaction(String)
        /// An app receipt of StoreKit 1, in base64.
        case receipt(String)
        /// A purchase token of Google Play.
        case purchaseToken(String)
        /// The device has no purchase, and presents only the document about the app.
        case nothing
    }

    /// Reads a body for the store that the key belongs to.
    package init(_ body: [UInt8], from store: Store) throws(SDKError) {
        guard body.count <= limits.maxBytes else { throw .tryLater("The receipt is too large.") }
        let root = try Self.object(body)
        user = try Self.user(of: root)
        appTransaction = root["app_transaction"]?.string
        attributes = SDKAttributes(inside: root)
        let listed = root["product_ids"]?.elements.compactMap(\.string) ?? []
        products = listed.isEmpty ? [root["product_id"]?.string].compactMap(\.self) : listed
        let platform = root["platform_product_ids"]?.elements.first { _ in true }
        basePlan = platform?["base_plan_id"]?.string
        let source = root["initiation_source"]?.string
        isRestore = root["is_restore"]?.bool == true || source == "restore"
        wantsWholeAccount = source.map { $0 == "restore" } ?? isRestore
        let stated = root["fetch_token"]
        guard let token = stated?.string, !token.isEmpty else {
            let isText = stated.map { $0.isNull || $0.kind == .string } ?? true
            guard store == .appStore, appTransaction != nil, isText else {
                throw .invalidReceipt("`fetch_token` is missing.")
            }
            evidence = .nothing
            return
        }
        evidence = try Self.evidence(token, from: store)
    }

    /// Returns the object of a body. One that cannot be read may have an attribute that the server
    /// does not accept, beside a purchase that was paid. An SDK also sends its attributes apart,
    /// where they are refused, and leaves them out of the next receipt.
    private static func object(_ body: [UInt8]) throws(SDKError) -> JSONNode {
        do throws(SDKError) {
            return try JSONNode.sdkObject(body)
        } catch {
            throw .tryLater(error.message)
        }
    }

    /// Returns the customer of a receipt. A purchase under an id that names no customer is kept by
    /// the device, which presents it again once the app has the customer's own id.
    private static func user(of root: JSONNode) throws(SDKError) -> SDKUserID {
        do throws(SDKError) {
            return try root.userID("app_user_id")
        } catch .reservedUserID {
            throw .tryLater(SDKError.reservedUserID.message)
        }
    }

    private static func evidence(_ token: String, from store: Store) throws(SDKError) -> Evidence {
        guard store == .appStore else { return .purchaseToken(token) }
        if token.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2 { return .transaction(token) }
        guard let bytes = Base64.decode(Array(token.utf8), .standard) else {
            throw .invalidReceipt("`fetch_token` is neither a signed transaction nor a receipt.")
        }
        // In Xcode's test store, an SDK collects what it has in a JSON object.
        if bytes.first == UInt8(ascii: "{") {
            throw .tryLater("This is of Xcode's test store. Test in the App Store's sandbox.")
        }
        return .receipt(token)
    }
}

/// The body of `POST /v1/subscribers/identify`.
package struct SDKIdentification: Hashable, Sendable {
    package let former: SDKUserID
    package let new: SDKUserID

    package init(_ body: [UInt8]) throws(SDKError) {
        let root = try JSONNode.sdkObject(body)
        former = try root.userID("app_user_id", mayBeReserved: true)
        new = try root.userID("new_app_user_id")
    }
}

/// The body of `POST /v1/subscribers/{id}/alias`.
package struct SDKAlias: Hashable, Sendable {
    package let new: SDKUserID

    package init(_ body: [UInt8]) throws(SDKError) {
        new = try JSONNode.sdkObject(body).userID("new_app_user_id")
    }
}

extension JSONNode {
    /// Returns the object of a body.
    static func sdkObject(_ body: [UInt8]) throws(SDKError) -> JSONNode {
        do {
            let root = try JSONDocument(body, limits: limits).root
            guard root.kind == .object else {
                throw SDKError.badRequest("The body is not an object.")
            }
            return root
        } catch let error as SDKError {
            throw error
        } catch {
            throw .badRequest("The body is not strict JSON: \(error).")
        }
    }

    func userID(_ name: String, mayBeReserved: Bool = false) throws(SDKError) -> SDKUserID {
        guard let text = self[name]?.string else { throw .badRequest("`\(name)` must be a text.") }
        return try SDKUserID(text, mayBeReserved: mayBeReserved)
    }
}
