/// The page on which a person signs in with an API key.
package enum SignInPage {
    /// The name of the field with the key.
    package static let key = "key"

    /// The name of the field with the page that the sign-in leads to.
    package static let next = "next"

    /// Returns the page. `problem` is why the last attempt failed. The sign-in leads to `next`, or
    /// to the page of all apps.
    package static func page(
        formToken: String,
        problem: String? = nil,
        next: Link? = nil
    ) -> Page {
        Page(
            "Sign in",
            [
                .tag(
                    .div,
                    [.class("narrow")],
                    .tag(.h1, [], "Sign in"),
                    Parts.card(
                        "API key",
                        "key-card",
                        [
                            problem.map {
                                .tag(.p, [.class("alarm"), .of(.role, "alert")], .text($0))
                            } ?? .nothing, form(formToken, next),
                            Parts.quiet(
                                """
                                A viewer key reads its apps, a secret key also changes them, and \
                                an admin key opens all apps. The server's operator creates one with
                                """
                            ), .tag(.p, [], .tag(.code, [], "tideover keys add --kind viewer")),
                        ]
                    )
                )
            ]
        )
    }

    private static func form(_ formToken: String, _ page: Link?) -> HTML {
        .tag(
            .form,
            [.of(.method, "post"), .action(.signIn)],
            Page.token(formToken),
            page.map { Parts.hidden(next, $0.text) } ?? .nothing,
            .tag(
                .label,
                [],
                "Key",
                .tag(
                    .input,
                    [
                        .of(.type, "password"), .of(.name, key), .flag(.required),
                        .flag(.autofocus), .of(.autocomplete, "current-password"),
                        .of(.maxlength, 200),
                    ]
                )
            ),
            .tag(.p, [], .tag(.button, [.class("main"), .of(.type, "submit")], "Sign in"))
        )
    }
}

/// The page about a request that cannot be answered.
package enum ProblemPage {
    /// Returns the page. `back` is the page on which the person acted.
    package static func page(title: String, detail: String?, back: Link? = nil) -> Page {
        Page(
            title,
            [
                .tag(.h1, [], .name(title)), detail.map { .tag(.p, [], .name($0)) } ?? .nothing,
                back.map { .tag(.p, [], .tag(.a, [.href($0)], "Back")) } ?? .nothing,
                .tag(.p, [], .tag(.a, [.href(.portfolio)], "All apps")),
            ]
        )
    }
}
