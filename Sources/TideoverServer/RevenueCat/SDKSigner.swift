import TideoverCore
import TideoverHTTP
import TideoverLocks
import TideoverRevenueCat
package import TideoverSignatures

/// Signs responses to RevenueCat's SDKs with the operator's root key. Only an SDK that was built
/// with its public key accepts them.
package final class SDKSigner: Sendable {
    private struct Intermediate {
        let key: Ed25519PrivateKey
        let statement: SDKSignature.IntermediateKey
        let createdOn: Int64
    }

    /// The validity of an intermediate key, and after how many days it is replaced.
    private static let validDays: Int64 = 30
    private static let usedDays: Int64 = 7

    private let root: Ed25519PrivateKey
    private let intermediate = Locked<Intermediate?>(nil)

    package init(root: Ed25519PrivateKey) {
        self.root = root
    }

    /// Returns a response with its signature; an error is not signed.
    func signed(
        _ response: Response,
        to request: Request,
        at now: Instant,
        random: () -> UInt64
    ) -> Response {
        guard response.status < 400 else { return response }
        let current = current(on: now.millisecondsSince1970 / 86_400_000)
        var signed = response
        signed.headers[SDKSignature.header] = SDKSignature.value(
            of: response,
            to: request,
            apiKey: request.bearerToken.map(String.init) ?? "",
            by: current.statement,
            salt: randomBytes(SDKSignature.saltLength, random),
            sign: current.key.sign
        )
        return signed
    }

    private func current(on day: Int64) -> Intermediate {
        intermediate.withLock { intermediate in
            if let intermediate, (0..<Self.usedDays).contains(day - intermediate.createdOn) {
                return intermediate
            }
            let key = Ed25519PrivateKey.generate()
            let new = Intermediate(
                key: key,
                statement: SDKSignature.IntermediateKey(
                    publicKey: key.publicKey.bytes,
                    expiryDay: UInt32(clamping: day + Self.validDays),
                    signedBy: root.sign
                ),
                createdOn: day
            )
            intermediate = new
            return new
        }
    }
}
