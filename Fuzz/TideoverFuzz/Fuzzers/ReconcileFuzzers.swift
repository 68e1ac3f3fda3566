import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

extension Fuzzer {
    static let reconcile = Fuzzer(
        "reconcile",
        promise: """
            what a device presents is taken apart if and only if a second reader takes it apart, into \
            the same pieces in the same order, at most 32; of an answer of verifyReceipt nothing reaches \
            the check of signatures but the receipt that is kept
            """,
        maximumByteCount: 16384,
        seeds: { ReconcileSeeds.bodies.map { Array($0.utf8) } },
        words: ReconcileSeeds.words,
        mutate: Mutations.json,
        check: { ReconcileChecks.body($0) }
    )

    static let openIAP = Fuzzer(
        "open-iap",
        promise: """
            of a purchase object of OpenIAP exactly that text is taken for signed that a second reader \
            takes, whatever else the object says
            """,
        maximumByteCount: 8192,
        seeds: { ReconcileSeeds.purchases.map { Array($0.utf8) } },
        words: ReconcileSeeds.words,
        mutate: Mutations.json,
        check: { ReconcileChecks.purchase($0) }
    )
}

private enum ReconcileChecks {
    static func purchase(_ input: [UInt8]) {
        body(Array("{\"purchases\":[".utf8) + input + Array("]}".utf8))
    }

    static func body(_ input: [UInt8]) {
        let expected = PlainEvidence(input)
        do {
            let items = try DeviceEvidence(input).items
            guard case .pieces(let pieces) = expected else {
                Failure.stop("taken apart, but the second reader says \(expected)")
            }
            expect(items.count <= DeviceEvidence.mostItems, "more than a page")
            expect(items.count == pieces.count, "the second reader counts otherwise")
            for (item, piece) in zip(items, pieces) { same(item, piece) }
        } catch {
            expect(error.slug == expected.slug, "refused as \(error.slug), not as \(expected)")
            expect(!(error.detail ?? "").isEmpty, "a refusal without words")
        }
    }

    private static func same(_ item: DeviceItem, _ piece: PlainEvidence.Piece) {
        expect(item.kind == piece.kind && item.index == piece.index, "another piece")
        switch item.signed {
        case .failure(let refusal):
            expect(piece.signed == nil, "refused, but the second reader finds something signed")
            expect(refusal.code == piece.refusal, "refused as \(refusal.code)")
            expect(!refusal.sentence.isEmpty, "a refusal without words")
        case .success(let signed):
            expect(piece.signed == signed.bytes, "something else is taken for signed")
            if case .answer(let answer, let receipt) = signed { believes(answer, receipt) }
        }
    }

    private static let reader = AppStoreReader(
        app: AppStoreIdentity(
            bundleId: SimulatedLife.bundleId,
            environments: [.production, .sandbox]
        )
    )

    /// The verified container of an answer must be the stored one.
    private static func believes(_ answer: [UInt8], _ receipt: [UInt8]) {
        let text = receipt.filter { $0 != 0x20 && !(0x09...0x0D).contains($0) }
        let reading = try? reader.readReceiptAnswer(answer) { container in
            let kept = receipt.first == 0x30 ? receipt : Base64.decode(text, .standard)
            expect(container == kept, "something else than what is kept is checked")
            return VerifiedReceipt(
                content: SimulatedLife.receiptContents[0],
                authority: .appStore
            )
        }
        expect(reading?.kind ?? .receipt == .receipt, "an answer is believed for itself")
    }
}

/// A second parser of a device's presentation.
private enum PlainEvidence: CustomStringConvertible {
    case pieces([Piece])
    case tooMany
    case unknownMember
    case bad

    struct Piece {
        let kind: DeviceItem.Kind
        let index: Int
        /// Nil if no part of it can be signed.
        var signed: [UInt8]?
        /// The reason in that case.
        var refusal = "not-signed"
        /// Whether Google Play must be queried about it.
        var isAsked = false
    }

    var slug: String? {
        switch self {
        case .pieces: nil
        case .tooMany: "too-many-items"
        case .unknownMember: "unknown-member"
        case .bad: "bad-reconcile-request"
        }
    }

    var description: String { slug ?? "that it can be" }

    init(_ body: [UInt8]) {
        let root = PlainJSON.read(body, depth: JSONLimits.inbound.maxDepth)
        guard case .object? = root, !Self.isResponseOfRevenueCat(root) else {
            self = .bad
            return
        }
        let known = [
            "transactions", "renewalInfos", "purchases", "receipts", "receiptAnswers", "nothing",
            "device",
        ]
        guard root.map({ Self.hasOnly(known, $0) }) ?? true else {
            self = .unknownMember
            return
        }
        let lists: [(String, DeviceItem.Kind, (PlainJSON) -> (signed: [UInt8]?, refusal: String))] =
            [
                ("transactions", .transaction, Self.text),
                ("renewalInfos", .renewalInfo, Self.text),
                ("purchases", .purchase, Self.purchase), ("receipts", .receipt, Self.text),
                ("receiptAnswers", .receiptAnswer, Self.answer),
            ]
        var pieces: [Piece] = []
        for (name, kind, read) in lists {
            switch root?[name] {
            case nil, .null?: continue
            case .array(let elements)?:
                for (index, element) in elements.enumerated() {
                    let (signed, refusal) = read(element)
                    pieces.append(
                        Piece(
                            kind: kind,
                            index: index,
                            signed: signed,
                            refusal: refusal,
                            isAsked: kind == .purchase && Self.isAsked(element)
                        )
                    )
                }
            default:
                self = .bad
                return
            }
        }
        let isTooMuch = pieces.count > 32 || pieces.count(where: \.isAsked) > 16
        if isTooMuch {
            self = .tooMany
            return
        }
        switch root?["nothing"] {
        case nil, .null?, .bool(false)?: self = .pieces(pieces)
        case .bool(true)?: self = pieces.isEmpty ? .pieces([]) : .bad
        default: self = .bad
        }
        if case .pieces = self, let device = root?["device"], Self.isMisspelled(device) {
            self = .unknownMember
        }
    }

    private static func isMisspelled(_ device: PlainJSON) -> Bool {
        let words = [
            "access", "until", "productId", "originalTransactionId", "verified", "unfinished",
        ]
        let isOurs = hasOnly(["deviceTime", "askedAt", "environment", "entitlements"], device)
        guard isOurs, case .object(let entitlements)? = device["entitlements"] else {
            return !isOurs
        }
        return !entitlements.allSatisfy { hasOnly(words, $0.value) }
    }

    private static func hasOnly(_ known: [String], _ object: PlainJSON) -> Bool {
        guard case .object(let members) = object else { return true }
        return members.allSatisfy { known.contains(String(String.UnicodeScalarView($0.key))) }
    }

    private static func isAsked(_ purchase: PlainJSON) -> Bool { store(of: purchase) == "play" }

    /// Returns `apple`, `play` or `other`: by the name of the store, else of the platform, else by
    /// the endings of the members, else by the form of the token.
    private static func store(of purchase: PlainJSON) -> String {
        for member in ["store", "platform"] {
            let name = purchase[member]?.text.lowercased() ?? ""
            switch name {
            case "", "unknown": continue
            case "apple", "ios", "appstore", "macos", "ipados": return "apple"
            case "google", "googleplay", "android", "play": return "play"
            default: return "other"
            }
        }
        for (endings, store) in [
            (["Amazon"], "other"), (["Android"], "play"), (["IOS", "Ios"], "apple"),
        ] where purchase.names.contains(where: { name in endings.contains { name.hasSuffix($0) } })
        {
            return store
        }
        let token = purchase["purchaseToken"]?.utf8 ?? []
        let isSigned = token.starts(with: "eyJ".utf8) || AppStoreInput(token) != .other
        return token.isEmpty || isSigned ? "apple" : "play"
    }

    private static func isResponseOfRevenueCat(_ value: PlainJSON?) -> Bool {
        guard case .string? = value?["object"] else { return false }
        if case nil = value?["subscriber"] { return true }
        return false
    }

    private static func text(_ value: PlainJSON) -> (signed: [UInt8]?, refusal: String) {
        guard let text = value.utf8 else { return (nil, "not-signed") }
        return AppStoreInput(text) == .transactionReceipt
            ? (nil, "transaction-receipt") : (text, "")
    }

    private static func answer(_ value: PlainJSON) -> (signed: [UInt8]?, refusal: String) {
        guard case .object = value else { return (nil, "not-signed") }
        return (value["latest_receipt"]?.utf8 ?? [], "not-signed")
    }

    private static func purchase(_ value: PlainJSON) -> (signed: [UInt8]?, refusal: String) {
        if isResponseOfRevenueCat(value) { return (nil, "revenuecat-api-v2") }
        if store(of: value) != "apple" { return (nil, "store-not-served") }
        if value["purchaseState"]?.utf8 == Array("pending".utf8) {
            return (nil, "purchase-pending")
        }
        for name in [
            "purchaseToken", "jwsRepresentationIOS", "jwsRepresentationIos", "jwsRepresentation",
            "verificationResultIOS", "transactionReceipt",
        ] {
            guard let member = value[name], member.utf8?.isEmpty == false else { continue }
            return text(member)
        }
        return (nil, isNearlySigned(value) ? "unknown-member" : "not-signed")
    }
}

extension PlainEvidence {
    /// Whether a member's name is close to one for signed data.
    private static func isNearlySigned(_ purchase: PlainJSON) -> Bool {
        guard case .object(let members) = purchase else { return false }
        let known = [
            "purchaseToken", "jwsRepresentationIOS", "jwsRepresentationIos", "jwsRepresentation",
            "verificationResultIOS", "transactionReceipt", "purchaseTokenAndroid",
        ]
        return members.contains { key, _ in
            let name = String(String.UnicodeScalarView(key))
            return !known.contains(name) && closestName(to: name, among: known) != nil
        }
    }
}

extension PlainJSON {
    /// The member of an object; nil if it does not exist.
    fileprivate subscript(_ name: String) -> PlainJSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key.elementsEqual(name.unicodeScalars) }?.value
    }

    /// The names of the members that are not null.
    fileprivate var names: [String] {
        guard case .object(let members) = self else { return [] }
        return members.compactMap { key, value in
            if case .null = value { return nil }
            return String(String.UnicodeScalarView(key))
        }
    }

    /// The text; empty for anything else.
    fileprivate var text: String { String(decoding: utf8 ?? [], as: UTF8.self) }

    /// The bytes of a text; nil for anything else.
    fileprivate var utf8: [UInt8]? {
        guard case .string(let scalars) = self else { return nil }
        return Array(String(String.UnicodeScalarView(scalars)).utf8)
    }
}

private enum ReconcileSeeds {
    private static let receipt = Base64.encodeString(Originals.shared.receipts[0], .standard)
    private static let compact = "eyJhbGciOiJFUzI1NiJ9.e30.c2ln"

    static let bodies = [
        "{}", #"{"transactions":["\#(compact)"],"renewalInfos":["\#(compact)",7]}"#,
        #"{"receipts":["\#(receipt)","MII\\/AA=="],"receiptAnswers":[{"status":0,"latest_receipt":"\#(receipt)"}]}"#,
        #"{"receiptAnswers":[{"status":21007},{"status":"0","latest_receipt":"","latest_receipt_info":[]},null]}"#,
        #"{"transactions":null,"purchases":[\#(purchases.joined(separator: ","))]}"#,
        #"{"transactions":[\#(Array(repeating: "0", count: 32).joined(separator: ","))]}"#,
        #"{"transactions":[\#(Array(repeating: "0", count: 20).joined(separator: ","))],"receipts":[\#(Array(repeating: "\"a\"", count: 13).joined(separator: ","))]}"#,
        #"{"transactions":{}}"#, "[]", #"{"nothing":true,"receipts":[]}"#,
        #"{"nothing":true,"receipts":[""]}"#,
    ]

    static let purchases = [
        #"{"id":"1","store":"apple","platform":"ios","purchaseToken":"\#(compact)","purchaseState":"purchased","productId":"a","expirationDateIOS":9e12}"#,
        #"{"platform":"ios","jwsRepresentationIOS":"\#(compact)","purchaseToken":null}"#,
        #"{"platform":"ios","transactionReceipt":"\#(receipt)","purchaseToken":""}"#,
        #"{"store":"google","purchaseToken":"abc"}"#,
        #"{"store":"apple","purchaseState":"pending","purchaseToken":"abc"}"#,
        #"{"store":null,"platform":"android"}"#, "7", "{}",
        #"{"purchaseToken":"abc","dataAndroid":"{}","packageNameAndroid":"a"}"#,
        #"{"store":"unknown","platform":"ios","verificationResultIOS":"\#(compact)"}"#,
        #"{"object":"subscription","id":"1"}"#,
    ]

    static let words = [
        "\"transactions\":[", "\"renewalInfos\":[", "\"purchases\":[", "\"receipts\":[",
        "\"receiptAnswers\":[", "\"latest_receipt\":\"", "\"status\":0", "\"purchaseToken\":\"",
        "\"jwsRepresentationIOS\":\"", "\"transactionReceipt\":\"", "\"store\":\"apple\"",
        "\"platform\":\"ios\"", "\"purchaseState\":\"pending\"", "\"purchaseState\":\"purchased\"",
        "MII", "eyJ", "\"nothing\":true",
    ]
}
