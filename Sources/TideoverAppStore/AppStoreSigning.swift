package import TideoverCore
package import TideoverJSON

/// The requirements on an App Store signature.
package enum AppStoreSigning {
    /// The extension in Apple's certificates that sign App Store data.
    package static let leafMarker = "1.2.840.113635.100.6.11.1"
    /// The extension in the certificate of the intermediate authority that issues them.
    package static let intermediateMarker = "1.2.840.113635.100.6.2.1"

    /// Apple Root CA - G3 in DER, valid 2014-04-30 to 2039-04-30, as published at
    /// https://www.apple.com/certificateauthority/
    package static let appleRoot: [UInt8] = {
        guard let der = Base64.decode(appleRootText.utf8, .standard) else {
            preconditionFailure("the built-in root certificate is base64")
        }
        return der
    }()

    /// Returns the signing date that a payload states. The certificates must be valid at that
    /// instant. Returns nil if there is none. Before the signature is verified, no other field may
    /// be read.
    package static func signedDate(of payload: JSONDocument) -> Instant? {
        let root = payload.root
        return (root["signedDate"] ?? root["receiptCreationDate"]).flatMap(Instant.init(wire:))
    }

    /// Returns the creation date that a receipt's content states. The certificates must be valid at
    /// that instant. Returns nil if there is none. Before the signature is verified, no other field
    /// may be read.
    package static func creationDate(ofReceipt content: [UInt8]) -> Instant? {
        try? ReceiptAttributes(content).date(.creationDate)
    }

    private static let appleRootText =
        "MIICQzCCAcmgAwIBAgIILcX8iNLFS5UwCgYIKoZIzj0EAwMwZzEbMBkGA1UEAwwSQXBwbGUgUm9v"
        + "dCBDQSAtIEczMSYwJAYDVQQLDB1BcHBsZSBDZXJ0aWZpY2F0aW9uIEF1dGhvcml0eTETMBEGA1UE"
        + "CgwKQXBwbGUgSW5jLjELMAkGA1UEBhMCVVMwHhcNMTQwNDMwMTgxOTA2WhcNMzkwNDMwMTgxOTA2"
        + "WjBnMRswGQYDVQQDDBJBcHBsZSBSb290IENBIC0gRzMxJjAkBgNVBAsMHUFwcGxlIENlcnRpZmlj"
        + "YXRpb24gQXV0aG9yaXR5MRMwEQYDVQQKDApBcHBsZSBJbmMuMQswCQYDVQQGEwJVUzB2MBAGByqG"
        + "SM49AgEGBSuBBAAiA2IABJjpLz1AcqTtkyJygRMc3RCV8cWjTnHcFBbZDuWmBSp3ZHtfTjjTuxxE"
        + "tX/1H7YyYl3J6YRbTzBPEVoA/VhYDKX1DyxNB0cTddqXl5dvMVztK517IDvYuVTZXpmkOlEKMaNC"
        + "MEAwHQYDVR0OBBYEFLuw3qFYM4iapIqZ3r6966/ayySrMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0P"
        + "AQH/BAQDAgEGMAoGCCqGSM49BAMDA2gAMGUCMQCD6cHEFl4aXTQY2e3v9GwOAEZLuN+yRhHFD/3m"
        + "eoyhpmvOwgPUnPWTxnS4at+qIxUCMG1mihDK1A3UT82NQz60imOlM27jbdoXt2QfyFMm+YhidDkL"
        + "F1vLUagM6BgD56KyKA=="
}
