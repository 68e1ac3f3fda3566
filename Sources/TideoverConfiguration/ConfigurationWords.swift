import TideoverJSON
import TideoverSignatures
import TideoverStoreKitFile

// The messages for problems and notices of a configuration.

extension ConfigurationProblems: CustomStringConvertible {
    /// One line for each problem, then one for each notice.
    package var description: String {
        let lines = problems.map(\.description) + notices.map { "note: \($0)" }
        return lines.joined(separator: "\n")
    }
}

extension ConfigurationProblem: CustomStringConvertible {
    /// One readable line: `tideover.json:3:12: server.listen: expected ..., found ...`.
    package var description: String {
        path.isEmpty ? "\(place): \(reason)" : "\(place): \(printable(path)): \(reason)"
    }
}

extension ConfigurationProblem.Place: CustomStringConvertible {
    /// The place in the format of compilers, or the name of the variable.
    package var description: String {
        switch self {
        case .file(let name, let line, let column): "\(printable(name)):\(line):\(column)"
        case .variable(let name): name
        }
    }
}

extension ConfigurationProblem.Reason: CustomStringConvertible {
    /// The problem in one sentence without a full stop.
    package var description: String {
        switch self {
        case .syntax(let reason): "\(reason)"
        case .unknownKey(let key, let closest):
            "unknown key \(quoted(key))" + suggestion(closest)
        case .missing(let expectation): "missing; expected \(expectation)"
        case .mismatch(let expectation, .hidden): "expected \(expectation)"
        case .mismatch(let expectation, let found): "expected \(expectation), found \(found)"
        case .repeated(let text, let line?): "\(quoted(text)) is already used on line \(line)"
        case .repeated(let text, nil): "\(quoted(text)) is named twice"
        case .unprotectedWebhook:
            "a webhook's URL begins with https; http is allowed only for an address such as "
                + "127.0.0.1 in a network of `allowNetworks`"
        case .webhookNotPublic(let use):
            "a webhook's address must be public, and \(use); set its network in `allowNetworks`"
        case .unsupported(let what): "\(what)"
        case .simulatedStoreMissing:
            "`simulated` needs a simulated store; set `simulatedStore.root` to its root "
                + "certificate"
        case .consumableWithEntitlements:
            "a consumable product grants no entitlement; remove the list, or choose another kind"
        case .unreadableFile(let path, let cause):
            "the file \(printable(path)) cannot be read: \(printable(cause))"
        case .certificateInPEM(let path):
            "\(printable(path)) is in PEM, but DER is needed; convert it with `openssl x509 "
                + "-outform der -in FILE -out FILE.der`"
        case .unusableCertificate(let path, let reason):
            "\(printable(path)) \(words(for: reason))"
        case .unusableCatalogue(let path, let error): "\(printable(path)):\(printable("\(error)"))"
        case .unlocksNothing(let product):
            "it is unknown what \(quoted(product)) unlocks; name it or its group in "
                + "`entitlements`, with an empty list if it unlocks nothing"
        case .ambiguousVariable(let other):
            "this variable is also the name of \(printable(other)); set both in the file instead"
        }
    }
}

extension UnusableAdminKey: CustomStringConvertible {
    /// The problem with the file, and a shell command that creates a valid one.
    package var description: String {
        let fault =
            cause.map { "the file \(printable(path)) cannot be read: \(printable($0))" }
            ?? "\(printable(path)) does not contain exactly one admin key"
        return "\(fault); create one with `(umask 077; { printf tideover_admin_; "
            + "head -c 32 /dev/urandom | base64 | tr +/ -_ | tr -d '=\\n'; } > FILE)`"
    }
}

extension UnusablePassKey: CustomStringConvertible {
    /// The problem with the file, and how to create a valid one.
    package var description: String {
        let fault =
            switch cause {
            case .unreadable(let words):
                "the file \(printable(path)) cannot be read: \(printable(words))"
            case .noKey: "\(printable(path)) does not contain exactly one Ed25519 key in PEM"
            }
        return "\(fault); create one with `(umask 077; tideover keys pass > FILE)`"
    }
}

extension ConfigurationProblem.Found: CustomStringConvertible {
    /// The value found, as the end of a sentence.
    package var description: String {
        switch self {
        case .kind(.null): "null"
        case .kind(.bool): "true or false"
        case .kind(.number): "a number"
        case .kind(.string): "a text"
        case .kind(.array): "a list"
        case .kind(.object): "an object"
        case .text(let text): text.isEmpty ? "an empty text" : quoted(text)
        case .hidden: "something else"
        case .emptyList: "an empty list"
        }
    }
}

extension ConfigurationProblem.Expectation: CustomStringConvertible {
    /// The expected value, with an example where the form is not obvious.
    package var description: String {
        switch self {
        case .object: "an object"
        case .list: "a list"
        case .text: "a text on one line"
        case .message(let arguments):
            "a text on one line with "
                + (arguments.isEmpty
                    ? "no arguments"
                    : "no other arguments than "
                        + arguments.map { "`{\($0)}`" }.joined(separator: ", "))
        case .apps: "a list of at least one app"
        case .appId:
            "an id of up to 63 lower-case letters, digits and hyphens, such as `cards`"
        case .environments:
            "a list of at least one of `production`, `sandbox` and `simulated`"
        case .environment: "`production`, `sandbox` or `simulated`"
        case .listenAddress:
            "an IP address and a port, such as `127.0.0.1:8080` or `[::1]:8080`"
        case .storage:
            "`sqlite:` and a file, such as `sqlite:tideover.db`, or the address of a PostgreSQL "
                + "database, such as `postgres://tideover@db.example.com/tideover`"
        case .replica:
            "the address of a PostgreSQL database, such as "
                + "`postgres://tideover@replica.example.com/tideover`"
        case .webAddress:
            "a URL of http or https without user or password, such as `https://example.com/hooks`"
        case .email: "an e-mail address"
        case .pubSubSubscription: "a subscription, such as `projects/my-project/subscriptions/play`"
        case .pushOrPull:
            "`push.audience` and `push.email`, or `pull.subscription`: without them no "
                + "notification of Google Play arrives"
        case .network: "an IP network, such as `10.0.0.0/8`"
        case .events: "a list of at least one kind of event; `*` is any"
        case .bundleId: "a bundle id, such as `com.example.cards`"
        case .appAppleId: "the app's number in the App Store, such as `1234567890`"
        case .packageName: "a package name, such as `com.example.cards`"
        case .fileName: "the name of a file (not its content)"
        case .entitlements: "a list of at least one entitlement"
        case .period: "a period of ISO 8601, such as `P1M` or `P14D`"
        case .instant: "a time of RFC 3339, such as `2026-01-31T00:00:00Z`"
        case .arms: "at least two arms; the first is the control"
        case .price: "an amount and its currency, such as `9.99 USD`"
        case .keepingTime(let days): "`forever`, or at least `\(days)d`"
        case .duration: "a length of time, such as `30m`, `24h` or `3d`"
        case .billingRetry: "`suspend`, or `keep` and a length of time, such as `keep 7d`"
        case .transfer:
            "`claim`, `keep`, `transferIfInactive`, or `transfer` and a cool-down, such as "
                + "`transfer 30d`"
        case .unknownProduct:
            "`deny`, `allow-all`, or a list of entitlements that the app's products unlock"
        case .count(let limit): "a whole number from 0 to \(limit)"
        case .oneOf(let words): words.map { "`\($0)`" }.joined(separator: " or ")
        }
    }
}

extension ConfigurationProblem.Unsupported: CustomStringConvertible {
    /// The reason, with the supported alternatives.
    package var description: String {
        switch self {
        case .passwordInStorage:
            "the address has no place for a password; write it to a file, and add "
                + "`?passfile=` and its path"
        case .xcode:
            "purchases made in Xcode are not served; `production`, `sandbox` and "
                + "`simulated` are"
        }
    }
}

extension ConfigurationNotice: CustomStringConvertible {
    var description: String {
        switch self {
        case .noStore(let path):
            "\(printable(path)) has none of appStore, googlePlay and revenueCat, so no notification "
                + "can arrive for it"
        case .noProducts(let path):
            "\(printable(path)) has no products: purchases are stored but unlock nothing"
        case .simulatedStoreUnused(let path):
            "\(printable(path)) is set, but `simulated` is not among the environments: its root "
                + "has no effect"
        case .noPeriod(let path):
            "\(printable(path)) has no period, so the speed of a sandbox is unknown for it"
        case .noLength(let path, let product):
            "\(printable(path)) states no length of \(quoted(product)), which does not renew, so "
                + "its access ends when it is bought; list it in `products` with its entitlements, "
                + "`kind: \"nonRenewing\"` and its period, such as `period: \"P3M\"`"
        case .withoutEffect(let path, let kind):
            "\(printable(path)) is set, but has no effect on a product of kind \(kind)"
        case .noSuchEvent(let path, let pattern):
            "\(printable(path)) has \(quoted(pattern)), but no event of this version is of such a "
                + "kind; docs/events.md lists the kinds"
        case .noSuchEnvironment(let path, let environment):
            "\(printable(path)) has \(quoted(environment)), but no app of the webhook serves it"
        case .trustsEverybody(let path):
            "\(printable(path)) contains every address, so every client can pretend to have "
                + "another one"
        case .replicaOfSQLite(let path):
            "\(printable(path)) is set, but has no effect with a storage in SQLite"
        case .offeredProductUnknown(let path, let product):
            "\(printable(path)) names \(quoted(product)), which the catalogue does not have, so an "
                + "app cannot offer it and a purchase of it unlocks nothing"
        case .currentOfferingUnknown(let path, let offering):
            "\(printable(path)) is \(quoted(offering)), which is none of the offerings, so an app "
                + "has no current offering"
        case .placedOfferingUnknown(let path, let offering):
            "\(printable(path)) is \(quoted(offering)), which is none of the offerings, so an app "
                + "has its current offering there"
        case .emptyVariable(let name): "\(name) is empty and is treated as not set"
        case .unknownVariable(let name, let closest):
            "\(printable(name)) is set, but no setting has this name" + suggestion(closest)
        }
    }
}

private func words(for reason: TrustAnchorError) -> String {
    switch reason {
    case .malformed: "does not contain exactly one certificate in DER"
    case .unsupportedKey:
        "certifies an unsupported key (needed: RSA for receipts, else P-256 or P-384)"
    case .notAnAuthority: "is not the certificate of an authority that may sign certificates"
    case .noIntermediateAllowed: "is an authority that allows no intermediate certificate"
    }
}

private func suggestion(_ closest: String?) -> String {
    closest.map { "; did you mean \(quoted($0))?" } ?? ""
}

private func quoted(_ text: String) -> String { "`\(printable(text))`" }

/// The maximum number of Unicode scalars shown of a text.
private let shownLength = 200

/// Returns the text without line breaks and control characters, truncated.
private func printable(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars.prefix(shownLength) {
        shown.unicodeScalars.append(scalar.isControl ? "\u{FFFD}" : scalar)
    }
    return text.unicodeScalars.count > shownLength ? shown + "..." : shown
}
