import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverLocks
import TideoverServer
import TideoverSignatures
import TideoverTestResponders

/// A store with certificates that name an OCSP responder, and that responder.
final class RevocableStore: Sendable {
    /// The responder's behaviour.
    enum Behaviour: Sendable {
        case answer(TestResponder.Status)
        /// Answers `.good` as of an instant, although the time is later.
        case answerAsOf(Instant)
        case body([UInt8])
        case status(Int)
    }

    let store: TestStore
    private let leafIssuer: TestResponder
    private let behaviour = Locked(Behaviour.answer(.good))
    private let received = Locked(0)

    /// Creates a store with the URL of a responder in its leaf certificate.
    init(responder url: String) throws {
        let (from, to): (Instant, Instant) = ("2020-01-01", "2040-01-01")
        let (start, end) = (from.millisecondsSince1970, to.millisecondsSince1970)
        let (issuerKey, key) = (P256PrivateKey.generate(), P256PrivateKey.generate())
        let root = try CertificateAuthority.selfSigned(
            .root(subject: "Revocable Root", notBefore: start, notAfter: end),
            key: .generate(.p256)
        )
        let intermediate = try root.authority(
            .intermediate(
                subject: "Revocable Authority",
                notBefore: start,
                notAfter: end,
                marker: AppStoreSigning.intermediateMarker
            ),
            key: CertificateKey(issuerKey)
        )
        var leaf = CertificateTemplate.leaf(
            subject: "Revocable Signing",
            notBefore: start,
            notAfter: end,
            marker: AppStoreSigning.leafMarker
        )
        leaf.extensions.append(TestResponder.access(url))
        let certificate = try intermediate.certificate(leaf, for: CertificateKey(key))
        store = TestStore(
            chain: [certificate, intermediate.certificate, root.certificate],
            key: key
        )
        leafIssuer = TestResponder(subject: "Revocable Authority", key: issuerKey)
    }

    func set(_ behaviour: Behaviour) { self.behaviour.withLock { $0 = behaviour } }

    /// The number of requests that arrived.
    var requests: Int { received.withLock { $0 } }

    /// Answers a request at an instant, for an hour.
    func respond(to request: Request, at now: Instant) throws -> Response {
        received.withLock { $0 += 1 }
        let identifier = try TestResponder.identifier(in: request.body)
        switch behaviour.withLock({ $0 }) {
        case .answer(let status): return response(status, identifier, at: now)
        case .answerAsOf(let instant): return response(.good, identifier, at: instant)
        case .body(let bytes): return Response(body: bytes)
        case .status(let status): return Response(status: status)
        }
    }

    private func response(
        _ status: TestResponder.Status,
        _ identifier: [UInt8],
        at instant: Instant
    ) -> Response {
        let plan = TestResponder.Plan(
            status,
            thisUpdate: instant.millisecondsSince1970,
            nextUpdate: (instant + .hours(1)).millisecondsSince1970
        )
        return Response(body: leafIssuer.response(plan, about: identifier))
    }
}
