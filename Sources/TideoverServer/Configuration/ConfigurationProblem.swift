public import TideoverJSON
public import TideoverSignatures
public import TideoverStoreKitFile

/// All that keeps a configuration from being used.
public struct ConfigurationProblems: Error, Hashable, Sendable {
    /// At least one: those of the file from top to bottom, then those of variables by name.
    public let problems: [ConfigurationProblem]
    /// The notices of what could be read, for a mistyped variable may explain a missing value.
    public let notices: [String]
}

/// One thing that keeps a configuration from being used, and where.
public struct ConfigurationProblem: Error, Hashable, Sendable {
    /// Who said what is wrong.
    public let place: Place
    /// The place in the configuration, such as `apps[0].appStore.bundleId`; empty for the whole.
    public let path: String
    /// What is wrong there.
    public let reason: Reason

    /// Who said what is wrong.
    public enum Place: Hashable, Sendable {
        /// The configuration file; line and column, in Unicode scalars, count from 1.
        case file(name: String, line: Int, column: Int)
        /// An environment variable.
        case variable(name: String)
    }

    /// One case for each way in which a configuration can be wrong.
    public enum Reason: Error, Hashable, Sendable {
        /// The file is no document at all.
        case syntax(JSONError.Reason)
        /// A key that means nothing here, with the known key it comes close to.
        case unknownKey(String, closest: String?)
        /// What is needed was not said; the place is the object that lacks it.
        case missing(Expectation)
        /// What was said is of another kind or form.
        case mismatch(Expectation, found: Found)
        /// What must be said once was said before.
        case repeated(String, firstLine: Int?)
        /// What was said is understood, but this version does not do it.
        case unsupported(Unsupported)
        /// `simulated` is served, but no simulated store vouches for it.
        case simulatedStoreMissing
        /// A consumable lists entitlements; consumables grant none.
        case consumableWithEntitlements
        /// A file that was named cannot be read.
        case unreadableFile(path: String, cause: String)
        /// A certificate is in PEM where DER is needed.
        case certificateInPEM(path: String)
        /// A file that was named holds no root certificate in DER.
        case unusableCertificate(path: String, TrustAnchorError)
        /// A file that was named is none of Xcode's StoreKit configuration files, or a bad one.
        case unusableCatalogue(path: String, StoreKitFileError)
        /// A product of the catalogue that nothing says what it unlocks of.
        case unlocksNothing(product: String)
        /// A variable is the name of two places; it cannot say which one it means.
        case ambiguousVariable(otherPath: String)
    }

    /// What was found instead of what was expected.
    public enum Found: Hashable, Sendable {
        /// A value of another kind.
        case kind(JSONNode.Kind)
        /// A text or number of another form.
        case text(String)
        /// A text of another form that may hold a secret, and is not kept.
        case hidden
        /// A list with nothing in it.
        case emptyList
    }

    /// What can be expected at a place.
    public enum Expectation: Hashable, Sendable {
        case object, list, text
        case apps, appId, environments, environment
        case listenAddress, storage, webAddress, email, network, events
        case bundleId, appAppleId, packageName, pubSubSubscription, fileName
        case entitlements, period, price
        case duration, billingRetry, transfer, unknownProduct
        case keepingTime(atLeastDays: Int64)
        case count(through: Int)
        case oneOf([String])
    }

    /// What is understood but not done by this version.
    public enum Unsupported: Hashable, Sendable {
        case postgres, xcode
    }
}

/// What is worth knowing about a configuration that can be used.
enum ConfigurationNotice: Hashable {
    /// Something is set that this version does not act on.
    case notActedOn(path: String, Unfinished)
    /// The app names no store that this version reads.
    case noStore(path: String)
    /// The app has no products.
    case noProducts(path: String)
    /// A simulated store is described, but its environment is not served.
    case simulatedStoreUnused(path: String)
    /// A renewing product does not say for how long.
    case noPeriod(path: String)
    /// A product of this kind has no such thing.
    case withoutEffect(path: String, kind: String)
    /// A list of trusted proxies includes all addresses.
    case trustsEverybody(path: String)
    /// A variable is set to nothing.
    case emptyVariable(String)
    /// A variable with our prefix means nothing, with the known variable it comes close to.
    case unknownVariable(String, closest: String?)

    /// What a later version will act on.
    enum Unfinished: Hashable {
        case webhooks
    }
}
