public import TideoverJSON
public import TideoverStoreKitFile

/// An error in a scenario file, with its position.
public struct ScenarioError: Error, Hashable, Sendable {
    /// The kind of the error.
    public let reason: Reason
    /// The line, from 1.
    public let line: Int
    /// The column, from 1, in Unicode scalars.
    public let column: Int

    /// One case for each kind of error in a file.
    public enum Reason: Hashable, Sendable {
        case syntax(JSONError.Reason)
        case unknownKey(String, in: String, suggestion: String?)
        case missingKey(String, in: String)
        case expected(Kind, for: String)
        case notAnInstant(String)
        case notASpan(String)
        case notAPrice(String)
        /// A name or value outside of those allowed.
        case unknown(String, Naming, suggestion: String?, allowed: [String])
        case duplicateToken(String)
        /// A step with an instant before that of the step above it.
        case goesBack(to: Int64, from: Int64)
        /// A step after the last instant that can be written, the end of the year 9999.
        case tooFar
        case bothAtAndAfter
        /// There are several customers, and the step does not name one.
        case whichCustomer
        /// There are several products, and the step does not name one.
        case whichProduct
        case emptyStep
        case emptyExpectation
        case refusalWithoutAction
        /// A product has at most one offer for new customers.
        case trialAndIntroductory
        /// Only a pay-as-you-go offer has several payments.
        case paymentsOfOffer
        /// Production renews only in real time.
        case rateOutsideSandbox
        case none(of: String)
        /// A file that the scenario names cannot be read.
        case unreadableFile(String, cause: String)
        /// A file that the scenario names is not a valid StoreKit configuration file of Xcode.
        case badCatalogue(String, StoreKitFileError)
        /// The StoreKit configuration file sells a product for a limited time without its length.
        case lengthUnknown(String)
    }

    /// The expected kind of a value.
    public enum Kind: Hashable, Sendable {
        case string, bool, wholeNumber, quantity, object, list, listOfStrings, pair
        case daysOfExtension, percent, part, status
    }

    /// The expected category of a name or value.
    public enum Naming: Hashable, Sendable {
        case customer, product, entitlement, action, refusal, refundReason, storefront
        case environment, period, grace, renewalRate, refundRequestReason
        case store, basePlan, choice, playFault, playCall
        case graceScope, offerKind, offerMode, offer, productKind, message, fault, operation
    }
}

extension ScenarioError: CustomStringConvertible {
    /// The position and the description, in one line.
    public var description: String { "line \(line), column \(column): \(reason)" }
}

extension ScenarioError.Reason: CustomStringConvertible {
    /// A description of the error: a sentence without its full stop.
    public var description: String {
        switch self {
        case .syntax(let reason): "\(reason)"
        case .unknownKey(let key, let place, let suggestion):
            "\(place) has no key \"\(key)\"" + hint(suggestion)
        case .missingKey(let key, let place): "\(place) needs \"\(key)\""
        case .expected(let kind, let key): "\"\(key)\" must be \(kind)"
        case .notAnInstant(let text):
            "\"\(text)\" is no instant; write it like 2026-05-17T09:59:59Z"
        case .notASpan(let text):
            "\"\(text)\" is no length of time; write it like 16 d, 90 min or P1M"
        case .notAPrice(let text): "\"\(text)\" is no price; write it like 9.99 USD"
        case .unknown(let text, let naming, let suggestion, let allowed):
            "\"\(text)\" is no \(naming)"
                + (suggestion == nil ? "; known: \(allowed.joined(separator: ", "))" : "")
                + hint(suggestion)
        case .duplicateToken(let name):
            "\"\(name)\" has the appAccountToken of a customer above"
        case .goesBack(let to, let from):
            "this step goes back to \(InstantText.write(to)), but the one above it is at "
                + InstantText.write(from)
        case .tooFar: "this step lies after the year 9999"
        case .bothAtAndAfter: "a step has either \"at\" or \"after\""
        case .whichCustomer: "there are several customers; say which with \"customer\""
        case .whichProduct: "there are several products; say which with \"product\""
        case .emptyStep: "a step needs \"do\" or \"expect\""
        case .emptyExpectation: "this expects nothing"
        case .refusalWithoutAction: "\"refused\" needs \"do\" beside it"
        case .trialAndIntroductory: "a product has either \"trial\" or \"introductory\""
        case .paymentsOfOffer: "only the mode \"payAsYouGo\" has more than one of \"payments\""
        case .rateOutsideSandbox: "only the environment \"Sandbox\" has a renewal rate"
        case .none(let what): "a scenario needs at least one of \(what)"
        case .unreadableFile(let file, let cause): "\(file) cannot be read: \(cause)"
        case .badCatalogue(let file, let error): "\(file):\(error)"
        case .lengthUnknown(let product):
            "the file does not say how long the app gives access for \"\(product)\"; list it under "
                + "\"products\" too, with its \"period\""
        }
    }

    private func hint(_ suggestion: String?) -> String {
        suggestion.map { "; did you mean \"\($0)\"?" } ?? ""
    }
}

extension ScenarioError.Kind: CustomStringConvertible {
    /// The kind as text.
    public var description: String {
        switch self {
        case .string: "a text"
        case .bool: "true or false"
        case .wholeNumber: "a whole number, 0 or more"
        case .quantity: "a whole number from 0 to 1000000"
        case .object: "an object"
        case .list: "a list"
        case .listOfStrings: "a list of texts"
        case .pair: "a list of two"
        case .daysOfExtension: "a whole number from 1 to 90"
        case .percent: "a whole number from 0 to 100"
        case .part: "a whole number from 1 to 100"
        case .status: "an HTTP status from 400 to 599"
        }
    }
}

extension ScenarioError.Naming: CustomStringConvertible {
    /// The category as text.
    public var description: String {
        switch self {
        case .customer: "customer of this scenario"
        case .product: "product of this scenario"
        case .entitlement: "entitlement of this scenario"
        case .action: "action"
        case .refusal: "reason to refuse"
        case .refundReason: "reason for a refund"
        case .storefront: "known storefront"
        case .environment: "environment of the App Store"
        case .period: "period that the App Store sells"
        case .grace: "length of grace that the App Store has"
        case .renewalRate: "renewal rate of a sandbox"
        case .refundRequestReason: "reason to ask for a refund"
        case .store: "store"
        case .basePlan: "base plan of this product"
        case .choice: "choice here"
        case .playFault: "fault that can strike a call"
        case .playCall: "call of Google's APIs"
        case .graceScope: "scope of grace"
        case .offerKind: "kind of offer that can be redeemed"
        case .offerMode: "way to pay for an offer"
        case .offer: "offer of this product"
        case .productKind: "kind of product"
        case .message: "outcome of a message"
        case .fault: "fault that can strike here"
        case .operation: "operation of the Server API"
        }
    }
}
