package import TideoverJSON

/// The smallest customer center that the SDKs read: no screens, and an address for support.
package struct SDKCustomerCenter: Hashable, Sendable {
    package let supportEmail: String

    package init(supportEmail: String) {
        self.supportEmail = supportEmail
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.field(
            "customer_center",
            object: { writer in
                writer.field(
                    "appearance",
                    object: { writer in
                        writer.field("light", object: { _ in })
                        writer.field("dark", object: { _ in })
                    }
                )
                writer.field("screens", object: { _ in })
                writer.field(
                    "localization",
                    object: { writer in
                        writer.field("locale", "en_US")
                        writer.field("localized_strings", object: { _ in })
                    }
                )
                writer.field("support", object: { $0.field("email", supportEmail) })
                writer.field("change_plans", array: { _ in })
            }
        )
    }
}
