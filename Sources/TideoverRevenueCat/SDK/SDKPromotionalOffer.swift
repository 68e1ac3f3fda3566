package import TideoverCore
package import TideoverJSON

/// The body of `POST /v1/offers`: the promotional offers that an app on iOS wants to apply.
package struct SDKOfferRequest: Hashable, Sendable {
    package let user: SDKUserID
    package let offers: [Wanted]

    package struct Wanted: Hashable, Sendable {
        package let offer: String
        package let product: String
    }

    /// The maximum number of offers in one request. The SDK asks about one.
    private static let most = 20

    package init(_ body: [UInt8]) throws(SDKError) {
        let root = try JSONNode.sdkObject(body)
        user = try root.userID("app_user_id")
        let listed = root["generate_offers"]?.elements.map(\.self) ?? []
        guard (1...Self.most).contains(listed.count) else {
            throw .badRequest("`generate_offers` must list 1 to \(Self.most) offers.")
        }
        var offers: [Wanted] = []
        for node in listed {
            guard let offer = node["offer_id"]?.string, let product = node["product_id"]?.string
            else { throw .badRequest("An offer needs `offer_id` and `product_id`.") }
            offers.append(Wanted(offer: offer, product: product))
        }
        self.offers = offers
    }
}

/// A promotional offer that the App Store accepts from the app, for a few minutes.
///
/// https://developer.apple.com/documentation/storekit/generating-a-signature-for-promotional-offers
package struct SDKPromotionalOffer: Hashable, Sendable {
    package let offer: String
    package let product: String
    package let keyId: String
    /// A UUID in lower case.
    package let nonce: String
    package let signedAt: Instant

    package init(
        _ wanted: SDKOfferRequest.Wanted,
        keyId: String,
        nonce: String,
        signedAt: Instant
    ) {
        offer = wanted.offer
        product = wanted.product
        self.keyId = keyId
        self.nonce = nonce
        self.signedAt = signedAt
    }

    /// Returns the bytes to sign with ES256. `account` is what the app sets on its payment; empty
    /// for nothing.
    package func message(bundleId: String, account: String) -> [UInt8] {
        let time = String(signedAt.millisecondsSince1970)
        let parts = [bundleId, keyId, product, offer, account, nonce, time]
        return Array(parts.joined(separator: "\u{2063}").utf8)
    }

    /// Writes the members of a signed offer; `signature` is in DER.
    package func writeMembers(to writer: inout JSONWriter, signature: [UInt8]) {
        writer.field("key_id", keyId)
        writer.field("offer_id", offer)
        writer.field("product_id", product)
        writer.field(
            "signature_data",
            object: { writer in
                writer.field("nonce", nonce)
                writer.field("signature", Base64.encodeString(signature, .standard))
                writer.field("timestamp", signedAt.millisecondsSince1970)
            }
        )
        writer.field("signature_error", String?.none)
    }

    /// Writes the members of an offer that is not signed.
    package static func writeRefusal(
        of wanted: SDKOfferRequest.Wanted,
        keyId: String,
        to writer: inout JSONWriter
    ) {
        writer.field("key_id", keyId)
        writer.field("offer_id", wanted.offer)
        writer.field("product_id", wanted.product)
        writer.field("signature_data", String?.none)
        writer.field("signature_error", object: SDKError.notEligible.writeMembers)
    }
}

/// The body of `POST /v1/subscribers/{id}/intro_eligibility`, from StoreKit 1.
package struct SDKEligibilityRequest: Hashable, Sendable {
    package let products: [String]

    /// The maximum number of products in one request.
    private static let most = 200

    package init(_ body: [UInt8]) throws(SDKError) {
        let root = try JSONNode.sdkObject(body)
        let nodes = root["product_identifiers"]?.elements.map(\.self) ?? []
        let listed = nodes.compactMap(\.string)
        guard (1...Self.most).contains(nodes.count), listed.count == nodes.count else {
            throw .badRequest("`product_identifiers` must list 1 to \(Self.most) products.")
        }
        var known: Set<String> = []
        products = listed.filter { known.insert($0).inserted }
    }
}
