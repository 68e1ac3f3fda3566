import TideoverASN1

/// The error codes and messages of refusals.
extension SignatureRefusal: CustomStringConvertible {
    /// A short stable name of the reason, such as `untrusted-root`, for responses and counters.
    public var code: String {
        switch self {
        case .tooLarge: "too-large"
        case .notCompactJWS: "not-compact-jws"
        case .notBase64URL: "not-base64url"
        case .headerNotJSON: "header-not-json"
        case .headerNotObject: "header-not-object"
        case .algorithm: "algorithm"
        case .type: "document-type"
        case .unknownKey: "signing-key"
        case .forbiddenHeader: "forbidden-header"
        case .signatureLength: "signature-length"
        case .badSignature: "signature"
        case .signedDataTooLarge: "signed-data-too-large"
        case .malformedSignedData: "signed-data-malformed"
        case .notSignedData: "not-signed-data"
        case .signedDataVersion: "signed-data-version"
        case .contentMissing: "content-missing"
        case .signerCount: "signer-count"
        case .certificateCount: "certificate-count"
        case .certificateMissing: "certificate-missing"
        case .digestAlgorithm: "digest-algorithm"
        case .signatureAlgorithm: "signature-algorithm"
        case .signedAttribute: "signed-attribute"
        case .contentDigest: "content-digest"
        case .leafKeyNotRSA: "leaf-key-not-rsa"
        case .missingChain: "chain-missing"
        case .malformedChain: "chain-malformed"
        case .chainLength: "chain-length"
        case .certificateTooLarge: "certificate-too-large"
        case .certificateNotBase64: "certificate-not-base64"
        case .certificateMalformed: "certificate-malformed"
        case .untrustedRoot: "untrusted-root"
        case .leafNotIssued: "leaf-not-issued"
        case .certificateAlgorithm: "certificate-algorithm"
        case .unhandledCriticalExtension: "critical-extension"
        case .markerMissing: "marker-missing"
        case .notAnAuthority: "not-an-authority"
        case .leafIsAnAuthority: "leaf-is-an-authority"
        case .keyUsage: "key-usage"
        case .authorityKeyUnsupported: "authority-key"
        case .leafKeyNotP256: "leaf-key"
        case .pathNotStrict: "certificate-path"
        case .certificateNotValidAt: "certificate-not-valid"
        case .certificateRevoked: "certificate-revoked"
        }
    }

    /// The reason as one sentence without the final full stop.
    ///
    /// It quotes nothing from the payload. Quotes from the header have a bounded length and no
    /// characters that could break a log line.
    public var description: String {
        switch self {
        case .tooLarge(let count):
            "The signed document has \(count) bytes, more than the \(JWS.maximumByteCount) allowed"
        case .notCompactJWS(let segments):
            "The signed document has \(segments) dot-separated segments instead of 3"
        case .notBase64URL(let segment):
            "The \(segment.rawValue) of the signed document is not canonical base64url"
        case .headerNotJSON(let error):
            "The header of the signed document is not strict JSON: \(error)"
        case .headerNotObject:
            "The header of the signed document is not a JSON object"
        case .algorithm(let found?):
            "The header names the algorithm \"\(quoted(found))\", which is not the one believed here"
        case .algorithm(nil):
            "The header names no algorithm"
        case .type(let found?):
            "The document is of the type \"\(quoted(found))\", which is not the one asked for"
        case .type(nil):
            "The header names no type of document"
        case .unknownKey(let found?):
            "The document was signed by the key \"\(quoted(found))\", which is not known here"
        case .unknownKey(nil):
            "The header names no key"
        case .forbiddenHeader(let name):
            "The header has the parameter \"\(quoted(name))\", which is not accepted"
        case .signatureLength(let count):
            "The signature has \(count) bytes instead of 64"
        case .badSignature:
            "The signature does not match the document"
        case .signedDataTooLarge(let count):
            "The signed data has \(count) bytes, more than the \(SignedData.maximumByteCount) allowed"
        case .malformedSignedData(let error):
            "The signed data (PKCS #7) is malformed: \(error.words)"
        case .notSignedData(let identifier):
            "The container holds \(quoted(identifier)) instead of plain signed data"
        case .signedDataVersion(let version):
            "The signed data is of version \(version) instead of 1"
        case .contentMissing:
            "What is signed is not in the signed data"
        case .signerCount(let count):
            "The signed data has \(count) signers instead of 1"
        case .certificateCount(let count):
            "The signed data has \(count) certificates, more than the \(SignedData.mostCertificates) allowed"
        case .certificateMissing(let position):
            "The \(position.words) of the signer is not in the signed data"
        case .digestAlgorithm(let identifier):
            "The digest \(quoted(identifier)) is neither SHA-1 nor SHA-256"
        case .signatureAlgorithm(let identifier):
            "The signature algorithm \(quoted(identifier)) is not RSA over the digest that is named"
        case .signedAttribute(let name):
            "The signed attribute \(name) is missing, there twice, or about something else"
        case .contentDigest:
            "The signed attributes are about other content than is there"
        case .leafKeyNotRSA:
            "The key of the leaf certificate is not RSA of 2048 to 4096 bits"
        case .missingChain:
            "The header has no certificate chain (x5c)"
        case .malformedChain:
            "The certificate chain (x5c) is not an array of strings"
        case .chainLength(1):
            "The certificate chain has 1 certificate instead of 3, as in Xcode's test store"
        case .chainLength(let count):
            "The certificate chain has \(count) certificates instead of 3"
        case .certificateTooLarge(let position, let count):
            "The \(position.words) has \(count) bytes, more than the 4096 allowed"
        case .certificateNotBase64(let position):
            "The \(position.words) is not canonical base64"
        case .certificateMalformed(let position):
            "The \(position.words) is not a well-formed X.509 certificate in DER"
        case .untrustedRoot:
            "No pinned root signed the intermediate certificate"
        case .leafNotIssued:
            "The intermediate certificate did not sign the leaf certificate"
        case .certificateAlgorithm(let position):
            "The \(position.words) is signed by an algorithm that is not accepted for it"
        case .unhandledCriticalExtension(let position, let identifier):
            "The \(position.words) has the unknown critical extension \(quoted(identifier))"
        case .markerMissing(let position):
            "The \(position.words) lacks the marker that only the store's own certificates have"
        case .notAnAuthority:
            "The intermediate certificate is not marked as an authority"
        case .leafIsAnAuthority:
            "The leaf certificate is marked as an authority"
        case .keyUsage(let position):
            "The key usage of the \(position.words) does not allow what its key was used for"
        case .authorityKeyUnsupported:
            "The key of the intermediate certificate is of a kind that is not accepted for it"
        case .leafKeyNotP256:
            "The key of the leaf certificate is not P-256"
        case .pathNotStrict(let objection):
            "The certificate chain breaks a rule of RFC 5280: \(quoted(objection))"
        case .certificateNotValidAt(let position, let notBefore, let notAfter, let instant):
            "The \(position.words) is valid from \(CertificateTime.text(notBefore)) "
                + "to \(CertificateTime.text(notAfter)), not at \(CertificateTime.text(instant))"
        case .certificateRevoked(let position, let instant):
            "The issuer revoked the \(position.words) at \(CertificateTime.text(instant))"
        }
    }

    private func quoted(_ text: String) -> String {
        let allowed = text.unicodeScalars.filter { (" "..."~").contains($0) && $0 != "\"" }
        return String(String.UnicodeScalarView(allowed.prefix(64)))
    }
}

extension ChainPosition {
    fileprivate var words: String {
        switch self {
        case .leaf: "leaf certificate"
        case .intermediate: "intermediate certificate"
        case .anchor: "root certificate"
        }
    }
}
