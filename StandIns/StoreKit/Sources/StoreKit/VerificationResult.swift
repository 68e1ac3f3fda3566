public import Foundation

/// https://developer.apple.com/documentation/storekit/verificationresult
@frozen
public enum VerificationResult<SignedType> {
    case unverified(SignedType, VerificationResult<SignedType>.VerificationError)
    case verified(SignedType)

    public var payloadValue: SignedType {
        get throws {
            switch self {
            case .unverified(_, let error): throw error
            case .verified(let payload): payload
            }
        }
    }

    public var unsafePayloadValue: SignedType {
        switch self {
        case .unverified(let payload, _), .verified(let payload): payload
        }
    }
}

extension VerificationResult {
    @nonexhaustive
    public enum VerificationError: Error, Equatable, Hashable, LocalizedError {
        case revokedCertificate, invalidCertificateChain, invalidDeviceVerification
        case invalidEncoding, invalidSignature, missingRequiredProperties
    }
}

extension VerificationResult: Equatable where SignedType: Equatable {}
extension VerificationResult: Hashable where SignedType: Hashable {}
extension VerificationResult: Sendable where SignedType: Sendable {}

extension VerificationResult where SignedType == Transaction {
    public var jwsRepresentation: String { unsafePayloadValue._jws }
}

extension VerificationResult where SignedType == Product.SubscriptionInfo.RenewalInfo {
    public var jwsRepresentation: String { unsafePayloadValue._jws }
}
