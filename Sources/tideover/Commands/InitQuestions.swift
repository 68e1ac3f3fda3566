import TideoverCommandLine
import TideoverHTTPClient

/// Asks for a new configuration's values at a terminal, one line per answer.
struct InitQuestions {
    private let output: Output
    /// Returns the next line without its line break; nil at the end of the input.
    private let nextLine: () -> String?

    init(_ output: Output, nextLine: @escaping () -> String? = { readLine() }) {
        self.output = output
        self.nextLine = nextLine
    }

    /// Asks for the values that the command line does not give.
    func complete(
        _ given: NewConfiguration,
        storeKitFile: (String) throws -> NewConfiguration.StoreKit
    ) throws -> NewConfiguration {
        var wish = given
        while wish.bundleId == nil, wish.packageName == nil {
            wish.bundleId = try ask("Bundle id in the App Store (empty if it is not sold there)")
            wish.packageName = try ask(
                "Package name on Google Play (empty if it is not sold there)"
            )
        }
        if wish.bundleId != nil {
            wish.appAppleId = try ask(
                "Apple ID of the app, the number in its App Store URL (empty: sandbox only)",
                as: "a number such as 1234567890"
            ) { Int64($0).flatMap { $0 > 0 ? $0 : nil } }
        }
        if wish.packageName != nil {
            wish.pushEmail = try ask("Service account of the Pub/Sub push (empty: later)")
        }
        wish.app =
            try wish.app
            ?? ask(
                "Name of the app in URLs and commands (empty: \(wish.id))",
                as: "1 to 63 of a-z, 0-9 and -, no - first"
            ) {
                NewConfiguration.isAppID($0) ? $0 : nil
            }
        if wish.products.isEmpty, wish.storeKit == nil {
            try askForProducts(&wish, storeKitFile)
        }
        wish.publicURL =
            try wish.publicURL
            ?? ask(
                "https URL under which the stores reach the server (empty: later)",
                as: "an https URL"
            ) { text in
                (try? HTTPURL(text)).flatMap { $0.scheme == .https ? text : nil }
            }
        return wish
    }

    private func askForProducts(
        _ wish: inout NewConfiguration,
        _ storeKitFile: (String) throws -> NewConfiguration.StoreKit
    ) throws {
        wish.storeKit = try ask(
            "Xcode's .storekit file (empty: list the products)",
            as: "a StoreKit configuration file"
        ) { path in
            do {
                return try storeKitFile(path)
            } catch let failure as any ReportableFailure {
                output.message("tideover: \(failure.message)")
                return nil
            }
        }
        if wish.storeKit == nil {
            wish.products =
                try ask(
                    "Products, such as pro.monthly:P1M lifetime (empty: later)",
                    as: "product ids with blanks between them, a subscription with its period"
                ) { text in
                    let words = text.split(separator: " ").map(String.init)
                    let products = words.compactMap { NewConfiguration.Product($0) }
                    return products.count == words.count ? products : nil
                } ?? []
        }
        wish.entitlement =
            try ask("What they unlock (empty: \(wish.entitlement))") ?? wish.entitlement
    }

    private func ask(_ question: String) throws -> String? {
        try ask(question, as: "") { $0 }
    }

    /// Asks until the answer is valid. Returns nil for an empty line.
    private func ask<Answer>(
        _ question: String,
        as form: String,
        _ read: (String) throws -> Answer?
    ) throws -> Answer? {
        while true {
            output.messages.write(Array("\(question): ".utf8))
            guard let line = nextLine() else {
                throw CommandFailure(.noInput, "the input ended; nothing was written")
            }
            let text = line.trimmingBlanks
            if text.isEmpty { return nil }
            if let answer = try read(text) { return answer }
            output.message("`\(TextLayout.visible(text))` is not \(form).")
        }
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        let rest = drop { $0.isWhitespace }
        return String(rest.reversed().drop { $0.isWhitespace }.reversed())
    }
}
