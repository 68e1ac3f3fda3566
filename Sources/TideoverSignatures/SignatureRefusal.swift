public import TideoverASN1
public import TideoverJSON

/// Why a signed document is not believed: an expected answer, one case per reason.
public enum SignatureRefusal: Error, Hashable, Sendable {
    // The document itself.

    /// The compact form is longer than `JWS.maximumByteCount`; carries its length in bytes.
    case tooLarge(Int)
    /// The compact form has not exactly three segments; carries how many it has.
    case notCompactJWS(segments: Int)
    /// A segment is not canonical base64url without padding.
    case notBase64URL(JWS.Segment)
    /// The header is not strict JSON.
    case headerNotJSON(JSONError)
    /// The header is JSON, but not an object.
    case headerNotObject
    /// The header names another algorithm than the one believed, or none; carries the name found.
    case algorithm(found: String?)
    /// The header says that this is another type of document, or none; carries the type found.
    case type(found: String?)
    /// The header names a key that is not among those believed, or none; carries the id found.
    case unknownKey(found: String?)
    /// The header has a parameter that would change what or whom to believe; carries its name.
    case forbiddenHeader(String)
    /// The signature has not the 64 bytes that all believed here have; carries its length in bytes.
    case signatureLength(Int)
    /// The signature is not that of the key over these bytes.
    case badSignature

    // Signed data (CMS), as receipts have it.

    /// The signed data is longer than `SignedData.maximumByteCount`; carries its length in bytes.
    case signedDataTooLarge(Int)
    /// The bytes are not signed data in BER as RFC 5652 lays it out.
    case malformedSignedData(BERError)
    /// The container holds something else than signed data, or what is signed is not plain data;
    /// carries the dotted identifier found.
    case notSignedData(String)
    /// The signed data, or what says who signed it, is of another version than 1.
    case signedDataVersion(Int64)
    /// What is signed is not in it.
    case contentMissing
    /// There is not exactly one signer; carries how many there are.
    case signerCount(Int)
    /// There are more certificates than any chain needs; carries how many.
    case certificateCount(Int)
    /// A certificate of the signer's chain is not in it.
    case certificateMissing(ChainPosition)
    /// The digest is none of SHA-1 and SHA-256; carries the dotted identifier found.
    case digestAlgorithm(String)
    /// The signature is not one of RSA over that digest; carries the dotted identifier found.
    case signatureAlgorithm(String)
    /// A signed attribute is missing, there twice, or not about this content; carries its name.
    case signedAttribute(String)
    /// The signed attributes are about other content: they have another digest.
    case contentDigest
    /// The leaf's key is not one of RSA, or shorter than 2048 bits.
    case leafKeyNotRSA

    // The chain of certificates.

    /// The header has no `x5c`.
    case missingChain
    /// The header's `x5c` is not an array of strings.
    case malformedChain
    /// The chain has not exactly three certificates; carries how many it has.
    case chainLength(Int)
    /// A certificate is larger than 4 KiB; carries its length in bytes.
    case certificateTooLarge(ChainPosition, Int)
    /// An entry of `x5c` is not canonical, padded, standard base64.
    case certificateNotBase64(ChainPosition)
    /// The bytes are not one X.509 certificate of version 3 in DER, or an extension in it has a form
    /// that is not accepted.
    case certificateMalformed(ChainPosition)
    /// No pinned anchor signed the intermediate.
    case untrustedRoot
    /// The intermediate did not sign the leaf.
    case leafNotIssued
    /// A certificate is signed otherwise than by ECDSA with SHA-2, or by RSA where receipts are.
    case certificateAlgorithm(ChainPosition)
    /// A certificate has a critical extension that we do not know; carries its dotted identifier.
    case unhandledCriticalExtension(ChainPosition, String)
    /// A certificate lacks the extension that tells the store's signers from all other holders of
    /// certificates under the same root.
    case markerMissing(ChainPosition)
    /// The intermediate is not marked as an authority.
    case notAnAuthority
    /// The leaf is marked as an authority.
    case leafIsAnAuthority
    /// A certificate's key usage does not cover what its key is used for here.
    case keyUsage(ChainPosition)
    /// The intermediate's key is neither on P-256 nor on P-384, or not of RSA where it must be.
    case authorityKeyUnsupported
    /// The leaf's key is not on P-256.
    case leafKeyNotP256
    /// The chain breaks one of RFC 5280's rules that no other case names; carries OpenSSL's words.
    case pathNotStrict(String)
    /// A certificate was not valid at the instant asked about; all in milliseconds since 1970.
    case certificateNotValidAt(ChainPosition, notBefore: Int64, notAfter: Int64, at: Int64)
}

/// Where in a chain a certificate stands.
public enum ChainPosition: String, Hashable, Sendable, CaseIterable {
    /// The certificate whose key signed the document.
    case leaf
    /// The certificate whose key signed the leaf.
    case intermediate
    /// The pinned certificate whose key signed the intermediate; as an entry of `x5c`, the third.
    case anchor
}
