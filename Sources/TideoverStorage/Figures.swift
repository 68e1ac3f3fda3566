package import TideoverCore

/// What figures are about: a purchase, or a customer by its primary id.
package struct FiguresSubject: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        case lineage, customer
    }

    package let kind: Kind
    /// The lineage's key, or the customer's id.
    package let name: String

    package init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
    }
}

/// The figures of a subject, from which reports are summed; derived, so they can be made again.
package struct FiguresRow: Hashable, Sendable {
    package let subject: FiguresSubject
    /// Identifies the rules under which they were derived.
    package let stamp: Int64
    /// In the core's compact form.
    package let form: [UInt8]

    package init(subject: FiguresSubject, stamp: Int64, form: [UInt8]) {
        self.subject = subject
        self.stamp = stamp
        self.form = form
    }
}

/// A subject whose figures are out of date. Each change of its data gives it another mark.
package struct StaleFigures: Hashable, Sendable {
    package let subject: FiguresSubject
    package let mark: Int64
    /// The form of its figures so far; nil if it has none.
    package let form: [UInt8]?

    package init(subject: FiguresSubject, mark: Int64, form: [UInt8]?) {
        self.subject = subject
        self.mark = mark
        self.form = form
    }
}

/// Stale subjects, and how often figures were stored before they were read.
package struct StaleFiguresPage: Hashable, Sendable {
    package let turn: Int64
    package let subjects: [StaleFigures]

    package init(turn: Int64, subjects: [StaleFigures]) {
        self.turn = turn
        self.subjects = subjects
    }
}

/// New figures of stale subjects, and of others that depend on them.
package struct FiguresUpdate: Sendable {
    package let app: String
    package let environment: Environment
    package let stamp: Int64
    /// The stale subjects, as they were before their data was read.
    package let done: StaleFiguresPage
    /// The form of each subject; nil removes its row.
    package let forms: [FiguresSubject: [UInt8]?]

    package init(
        app: String,
        environment: Environment,
        stamp: Int64,
        done: StaleFiguresPage,
        forms: [FiguresSubject: [UInt8]?]
    ) {
        self.app = app
        self.environment = environment
        self.stamp = stamp
        self.done = done
        self.forms = forms
    }
}
