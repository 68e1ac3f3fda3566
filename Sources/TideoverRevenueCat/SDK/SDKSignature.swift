package import TideoverHTTP
import TideoverJSON

/// The signature of a response, in the header `X-Signature`.
///
/// An SDK verifies it by a root key that is built into the app. The root key signs a short-lived
/// intermediate key, and that one signs responses.
package enum SDKSignature {
    package static let header = "X-Signature"

    /// An intermediate key that the root key signed.
    package struct IntermediateKey: Hashable, Sendable {
        /// The raw Ed25519 key: 32 bytes.
        package let publicKey: [UInt8]
        /// The day from which on it is invalid, counted from 1970.
        package let expiryDay: UInt32
        /// The root's signature of `statement`: 64 bytes.
        package let rootSignature: [UInt8]

        /// Creates the key; `root` signs a message.
        package init(
            publicKey: [UInt8],
            expiryDay: UInt32,
            signedBy root: ([UInt8]) -> [UInt8]
        ) {
            self.publicKey = publicKey
            self.expiryDay = expiryDay
            rootSignature = root(Self.bytes(of: expiryDay) + publicKey)
        }

        fileprivate var bytes: [UInt8] {
            publicKey + Self.bytes(of: expiryDay) + rootSignature
        }

        private static func bytes(of day: UInt32) -> [UInt8] {
            withUnsafeBytes(of: day.littleEndian) { Array($0) }
        }
    }

    /// The number of random bytes in each signature.
    package static let saltLength = 16

    /// Returns the value of the header: 180 bytes in base64. `apiKey` is the public key that the SDK
    /// sent, `sign` is that of the intermediate key.
    package static func value(
        of response: Response,
        to request: Request,
        apiKey: String,
        by key: IntermediateKey,
        salt: [UInt8],
        sign: ([UInt8]) -> [UInt8]
    ) -> String {
        let signature = sign(salt + message(of: response, to: request, apiKey))
        return Base64.encodeString(key.bytes + salt + signature, .standard)
    }

    /// What is signed after the salt: the parts one after the other, those that are absent empty.
    private static func message(
        of response: Response,
        to request: Request,
        _ apiKey: String
    ) -> [UInt8] {
        let nonce = request.headers["X-Nonce"].flatMap { Base64.decode($0.utf8, .standard) }
        let texts = [
            request.path,
            request.headers["X-Post-Params-Hash"],
            request.headers["X-Headers-Hash"],
            response.headers[SDKResponse.timeHeader],
            response.headers[SDKResponse.tagHeader],
        ]
        return Array(apiKey.utf8) + (nonce ?? [])
            + texts.compactMap(\.self).flatMap { Array($0.utf8) } + response.body
    }
}
