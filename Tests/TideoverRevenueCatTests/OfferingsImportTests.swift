import Testing
import TideoverJSON
import TideoverRevenueCat

/// Tests the import of offerings from responses of RevenueCat's API.
@Suite struct OfferingsImportTests {
    private func read(_ form: JSONValue) throws -> RevenueCatOfferings {
        try RevenueCatOfferings(JSONDocument(form.encoded()).root)
    }

    private static func version1(_ product: String, plan: String? = nil) -> JSONValue {
        var package: JSONObject = [
            "identifier": "$rc_monthly", "platform_product_identifier": .string(product),
        ]
        package["platform_product_plan_identifier"] = plan.map(JSONValue.string)
        return [
            "current_offering_id": "default",
            "offerings": [
                [
                    "identifier": "default", "description": "Standard",
                    "metadata": ["colour": "red"], "packages": [.object(package)],
                ]
            ],
        ]
    }

    private static let configuration: JSONValue = [
        "currentOffering": "default",
        "offerings": [
            "default": [
                "description": "Standard", "metadata": ["colour": "red"],
                "packages": ["$rc_monthly": ["cards.pro.monthly", "cards_pro:monthly"]],
            ]
        ],
    ]

    @Test func `the responses of both stores' SDKs become one offering`() throws {
        var whole = try read(Self.version1("cards.pro.monthly"))
        try whole.merge(read(Self.version1("cards_pro", plan: "monthly")))
        #expect(whole.configuration == Self.configuration)
        try whole.merge(read(Self.version1("cards_pro", plan: "monthly")))
        #expect(whole.configuration == Self.configuration)
    }

    @Test func `a response of version 2 has the products of all stores`() throws {
        let whole = try RevenueCatOfferings(JSONDocument(Array(Self.version2.utf8)).root)
        #expect(whole.configuration == Self.configuration)
    }

    private static let version2 = """
        {"object": "list", "next_page": null, "items": [{"object": "offering", "id": "ofrng1",
         "lookup_key": "default", "display_name": "Standard", "is_current": true,
         "metadata": {"colour": "red"}, "packages": {"object": "list", "items": [
         {"object": "package", "lookup_key": "$rc_monthly", "products": {"items": [
         {"product": {"store_identifier": "cards.pro.monthly"}},
         {"product": {"store_identifier": "cards_pro:monthly"}}]}}]}}]}
        """

    private static let faults: [(String, RevenueCatOfferingsFault)] = [
        ("{}", .notOfferings),
        (#"{"subscriber": {}}"#, .notOfferings),
        ("[1]", .notOfferings),
        (#"{"offerings": [{"packages": []}]}"#, .missing("offerings[].identifier")),
        (
            #"{"offerings": [{"identifier": "a", "packages": [{"identifier": "b"}]}]}"#,
            .missing("packages[].platform_product_identifier")
        ),
        (
            #"{"object": "list", "items": [{"lookup_key": "a"}]}"#,
            .notExpanded(offering: "a")
        ),
        (
            #"{"object": "list", "items": [{"lookup_key": "a", "packages": {"items": ["#
                + #"{"lookup_key": "b"}]}}]}"#,
            .notExpanded(offering: "a")
        ),
        (#"{"object": "list", "items": [], "next_page": "/v2/x"}"#, .notAllPages),
    ]

    @Test(arguments: faults)
    func `a response without offerings is rejected by name`(
        text: String,
        fault: RevenueCatOfferingsFault
    ) throws {
        let root = try JSONDocument(Array(text.utf8)).root
        #expect(throws: fault) { try RevenueCatOfferings(root) }
        #expect(!fault.sentence.isEmpty)
    }

    @Test func `two current offerings are rejected`() throws {
        var whole = try read(["current_offering_id": "a", "offerings": []])
        let other = try read(["current_offering_id": "b", "offerings": []])
        #expect(throws: RevenueCatOfferingsFault.twoCurrent("a", "b")) { try whole.merge(other) }
    }
}
