import Testing
import TideoverCore

@Suite struct LineageKeyTests {
    @Test(arguments: Store.allCases, Ownership.allCases)
    func `a key reads back as its lineage`(store: Store, ownership: Ownership) {
        let lineage = Lineage(
            store: store,
            environment: .sandbox,
            id: "purchase:1",
            ownership: ownership
        )
        #expect(Lineage(key: lineage.key, in: .sandbox) == lineage)
    }

    @Test(arguments: ["", "appStore", "elsewhere:1"])
    func `other text is no key`(text: String) {
        #expect(Lineage(key: text, in: .sandbox) == nil)
    }
}
