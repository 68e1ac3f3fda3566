package import TideoverHTTP
package import TideoverJSON
package import TideoverSignatures
package import TideoverStoreKitFile

/// All problems that make a configuration unusable.
package struct ConfigurationProblems: Error, Hashable, Sendable {
    /// At least one problem: those of the file by position, then those of variables by name.
    package let problems: [ConfigurationProblem]
    /// The notices found so far; a mistyped variable can explain a missing value.
    package let notices: [String]
}

/// One problem that makes a configuration unusable, and its place.
package struct ConfigurationProblem: Error, Hashable, Sendable {
    /// The origin of the problem.
    package let place: Place
    /// The configuration path, such as `apps[0].appStore.bundleId`; empty for the whole file.
    package let path: String
    /// The reason for the problem.
    package let reason: Reason

    /// The origin of a problem.
    package enum Place: Hashable, Sendable {
        /// The configuration file; line and column, in Unicode scalars, count from 1.
        case file(name: String, line: Int, column: Int)
        /// An environment variable.
        case variable(name: String)
    }

    /// The reasons for which a configuration is unusable.
    package enum Reason: Error, Hashable, Sendable {
        /// The file is not a valid document.
        case syntax(JSONError.Reason)
        /// A key is unknown; `closest` is the most similar known key.
        case unknownKey(String, closest: String?)
        /// A required member is missing; the place is the enclosing object.
        case missing(Expectation)
        /// The value has the wrong kind or form.
        case mismatch(Expectation, found: Found)
        /// A value that must be unique occurs twice.
        case repeated(String, firstLine: Int?)
        /// A webhook's URL has no `https`, and its host is no address of an allowed network.
        case unprotectedWebhook
        /// The address of a webhook is not public, and in no network of `allowNetworks`.
        case webhookNotPublic(AddressUse)
        /// The value is valid, but this version does not support it.
        case unsupported(Unsupported)
        /// The app serves `simulated` without a trusted simulated store.
        case simulatedStoreMissing
        /// A consumable lists entitlements; consumables grant none.
        case consumableWithEntitlements
        /// A referenced file cannot be read.
        case unreadableFile(path: String, cause: String)
        /// A certificate is in PEM where DER is needed.
        case certificateInPEM(path: String)
        /// A referenced file does not contain a root certificate in DER.
        case unusableCertificate(path: String, TrustAnchorError)
        /// A referenced file is not a valid StoreKit configuration file of Xcode.
        case unusableCatalogue(path: String, StoreKitFileError)
        /// The configuration does not list the entitlements of a catalogue product.
        case unlocksNothing(product: String)
        /// A variable is the name of two configuration paths, so its meaning is ambiguous.
        case ambiguousVariable(otherPath: String)
    }

    /// The value found instead of the expected one.
    package enum Found: Hashable, Sendable {
        /// A value of another kind.
        case kind(JSONNode.Kind)
        /// A text or number of the wrong form.
        case text(String)
        /// A text of the wrong form that may contain a secret, so it is not stored.
        case hidden
        /// An empty list.
        case emptyList
    }

    /// The values expected at a path.
    package enum Expectation: Hashable, Sendable {
        case object, list, text
        case apps, appId, environments, environment
        case listenAddress, storage, replica, webAddress, email, network, events
        case bundleId, appAppleId, packageName, pubSubSubscription, pushOrPull
        case fileName
        case entitlements, period, price
        case instant, arms
        case duration, billingRetry, transfer, unknownProduct
        case keepingTime(atLeastDays: Int64)
        case count(through: Int)
        case oneOf([String])
        /// A text for customers that contains at most these arguments.
        case message(arguments: [String])
    }

    /// Valid values that this version does not support.
    package enum Unsupported: Hashable, Sendable {
        case passwordInStorage, xcode
    }
}

/// A remark about a usable configuration.
enum ConfigurationNotice: Hashable {
    /// The app configures no supported store.
    case noStore(path: String)
    /// The app has no products.
    case noProducts(path: String)
    /// A simulated store is described, but its environment is not served.
    case simulatedStoreUnused(path: String)
    /// A renewing product has no period.
    case noPeriod(path: String)
    /// A non-renewing product of the catalogue's file has no period; the file cannot state one.
    case noLength(path: String, product: String)
    /// The member has no effect on a product of this kind.
    case withoutEffect(path: String, kind: String)
    /// A webhook's filter has a pattern that matches no kind of event.
    case noSuchEvent(path: String, pattern: String)
    /// A webhook names an environment that none of its apps serves.
    case noSuchEnvironment(path: String, environment: String)
    /// A list of trusted proxies contains a network of all addresses.
    case trustsEverybody(path: String)
    /// Only PostgreSQL has replicas.
    case replicaOfSQLite(path: String)
    /// A package of an offering names a product that the catalogue does not have.
    case offeredProductUnknown(path: String, product: String)
    /// The current offering is none of the offerings.
    case currentOfferingUnknown(path: String, offering: String)
    case placedOfferingUnknown(path: String, offering: String)
    /// A variable is empty.
    case emptyVariable(String)
    /// A variable with our prefix is unknown; `closest` is the most similar known variable.
    case unknownVariable(String, closest: String?)
}
