public import TideoverASN1
public import TideoverJSON

/// The reason why a signed document is rejected: an expected result, with one case per reason.
public enum SignatureRefusal: Error, Hashable, Sendable {
    // The document itself.

    /// The compact form is longer than `JWS.maximumByteCount`; carries its length in bytes.
    case tooLarge(Int)
    /// The compact form does not have exactly three segments; carries their number.
    case notCompactJWS(segments: Int)
    /// A segment is not canonical base64url without padding.
    case notBase64URL(JWS.Segment)
    /// The header is not strict JSON.
    case headerNotJSON(JSONError)
    /// The header is JSON, but not an object.
    case headerNotObject
    /// The header has an unexpected algorithm, or none; carries the algorithm found.
    case algorithm(found: String?)
    /// The header has an unexpected type, or none; carries the type found.
    case type(found: String?)
    /// The header names an untrusted key, or none; carries the id found.
    case unknownKey(found: String?)
    /// The header has a parameter that would change the key or the meaning of the document; carries
    /// its name.
    case forbiddenHeader(String)
    /// The signature does not have the required 64 bytes; carries its length in bytes.
    case signatureLength(Int)
    /// The signature does not match the key and the bytes.
    case badSignature

    // Signed data (CMS), the form of receipts.

    /// The signed data is longer than `SignedData.maximumByteCount`; carries its length in bytes.
    case signedDataTooLarge(Int)
    /// The bytes are not signed data in BER as defined by RFC 5652.
    case malformedSignedData(BERError)
    /// The container does not contain signed data, or the content is not plain data; carries the
    /// dotted identifier found.
    case notSignedData(String)
    /// The signed data or its signer information has a version other than 1.
    case signedDataVersion(Int64)
    /// The signed content is not enclosed.
    case contentMissing
    /// There is not exactly one signer; carries the number of signers.
    case signerCount(Int)
    /// There are more certificates than any chain needs; carries their number.
    case certificateCount(Int)
    /// A certificate of the signer's chain is missing.
    case certificateMissing(ChainPosition)
    /// The digest is neither SHA-1 nor SHA-256; carries the dotted identifier found.
    case digestAlgorithm(String)
    /// The signature is not an RSA signature over that digest; carries the dotted identifier found.
    case signatureAlgorithm(String)
    /// A signed attribute is missing, repeated, or not about this content; carries its name.
    case signedAttribute(String)
    /// The signed attributes have another digest than the content.
    case contentDigest
    /// The leaf's key is not an RSA key, or is shorter than 2048 bits.
    case leafKeyNotRSA

    // The chain of certificates.

    /// The header has no `x5c`.
    case missingChain
    /// The header's `x5c` is not an array of strings.
    case malformedChain
    /// The chain does not have exactly three certificates; carries their number.
    case chainLength(Int)
    /// A certificate is larger than 4 KiB; carries its length in bytes.
    case certificateTooLarge(ChainPosition, Int)
    /// An entry of `x5c` is not canonical, padded, standard base64.
    case certificateNotBase64(ChainPosition)
    /// The bytes are not one X.509 certificate of version 3 in DER, or an extension has a form that
    /// is not accepted.
    case certificateMalformed(ChainPosition)
    /// No pinned anchor signed the intermediate.
    case untrustedRoot
    /// The intermediate did not sign the leaf.
    case leafNotIssued
    /// A certificate has an unsupported signature algorithm: neither ECDSA with SHA-2 nor, for
    /// receipts, RSA.
    case certificateAlgorithm(ChainPosition)
    /// A certificate has an unsupported critical extension; carries its dotted identifier.
    case unhandledCriticalExtension(ChainPosition, String)
    /// A certificate lacks the extension that distinguishes the store's signers from other holders
    /// of certificates under the same root.
    case markerMissing(ChainPosition)
    /// The intermediate is not marked as an authority.
    case notAnAuthority
    /// The leaf is marked as an authority.
    case leafIsAnAuthority
    /// A certificate's key usage does not permit this use of its key.
    case keyUsage(ChainPosition)
    /// The intermediate's key is neither on P-256 nor on P-384, or is not an RSA key where
    /// required.
    case authorityKeyUnsupported
    /// The leaf's key is not on P-256.
    case leafKeyNotP256
    /// The chain breaks another rule of RFC 5280; carries OpenSSL's message.
    case pathNotStrict(String)
    /// A certificate was not valid at the requested instant; all in milliseconds since 1970.
    case certificateNotValidAt(ChainPosition, notBefore: Int64, notAfter: Int64, at: Int64)
    /// The issuer revoked a certificate; carries the time in milliseconds since 1970.
    case certificateRevoked(ChainPosition, at: Int64)
}

/// The position of a certificate in a chain.
public enum ChainPosition: String, Hashable, Sendable, CaseIterable {
    /// The certificate with the key that signed the document.
    case leaf
    /// The certificate with the key that signed the leaf.
    case intermediate
    /// The pinned certificate with the key that signed the intermediate; as an entry of `x5c`, the
    /// third.
    case anchor
}
