import TideoverConfiguration
import TideoverDoctor
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON
import TideoverRevenueCat

/// Requests of `tideover doctor --preflight` to RevenueCat, with the public keys of an app's SDKs.
struct RevenueCatProbe {
    let app: Configuration.App

    /// Compares RevenueCat's entitlements of each store's products with the catalogue.
    func findings() async -> [Finding] {
        guard let sdk = app.revenueCat?.sdk else { return [] }
        var findings: [Finding] = []
        for (key, platform) in [
            (sdk.appStoreKeys.first, "iOS"), (sdk.googlePlayKeys.first, "android"),
        ] {
            guard let key else { continue }
            findings.append(.revenueCatMapping(of: app, await mapping(key, platform)))
        }
        return findings
    }

    private func mapping(
        _ key: String,
        _ platform: String
    ) async -> Result<JSONNode, RevenueCatMappingFailure> {
        do {
            let client = try HTTPClient(userAgent: "tideover/\(Tideover.version)")
            let place = Destination(
                try HTTPURL(RevenueCatAPI.url),
                addresses: .any,
                limits: .storeAnswer
            )
            let response = try await client.handler(under: place)(
                Request(
                    path: "/v1/product_entitlement_mapping",
                    headers: ["Authorization": "Bearer \(key)", "X-Platform": platform]
                )
            )
            guard response.status == 200 else {
                return .failure(RevenueCatMappingFailure("it answered \(response.status)"))
            }
            let root = try JSONDocument(response.body, limits: .storeAnswer).root
            guard let mapping = root["product_entitlement_mapping"] else {
                return .failure(RevenueCatMappingFailure("the answer has no mapping"))
            }
            return .success(mapping)
        } catch {
            return .failure(RevenueCatMappingFailure("\(error)"))
        }
    }
}
