import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverServer

@testable import TideoverTestServer

@Suite struct ConfigurationVariableTests: ConfigurationSuite {
    @Test func `a variable overrides the file`() throws {
        let configuration = try load(
            Self.fullExample,
            [
                "TIDEOVER_SERVER_LISTEN": "[::1]:9000",
                "TIDEOVER_STORAGE": "sqlite:/srv/t.db",
                "TIDEOVER_APPS_CARDS_ENVIRONMENTS": "sandbox, simulated",
                "TIDEOVER_APPS_CARDS_APP_STORE_BUNDLE_ID": "com.example.other",
                "TIDEOVER_APPS_CARDS_APP_STORE_APP_APPLE_ID": "42",
                "TIDEOVER_APPS_CARDS_SIMULATED_STORE_ROOT": "other.der",
                "TIDEOVER_APPS_CARDS_PRODUCTS_CARDS_PRO_MONTHLY_PRICE": "4.99 EUR",
                "TIDEOVER_APPS_CARDS_PRODUCTS_CARDS_PRO_MONTHLY_ENTITLEMENTS": "premium,plus",
                "TIDEOVER_APPS_CARDS_POLICY_BILLING_RETRY": "keep 7d",
            ],
            files: ["etc/other.der": try Self.certificate()]
        )
        let app = try #require(configuration.apps.first)
        #expect(configuration.server.listen.description == "[::1]:9000")
        #expect(configuration.storage == .sqlite(path: "/srv/t.db"))
        #expect(app.environments == [.sandbox, .simulated])
        #expect(app.appStore?.bundleId == "com.example.other")
        #expect(app.appStore?.appAppleId == 42)
        #expect(app.appStore?.apiKey?.privateKeyFile == "etc/AuthKey.p8")
        #expect(app.policy.billingRetry == .keep(.days(7)))
        let monthly = try #require(app.catalogue["cards.pro.monthly"])
        #expect(monthly.price == Money(milliunits: 4990, currency: "EUR"))
        #expect(monthly.entitlements == ["premium", "plus"])
        #expect(monthly.period == Period(months: 1))
    }

    @Test func `variables can configure a store that the file omits`() throws {
        let configuration = try load(
            #"{ apps: [{ id: "my-app", environments: ["sandbox"] }] }"#,
            [
                "TIDEOVER_APPS_MY_APP_APP_STORE_BUNDLE_ID": "com.example.mine",
                "TIDEOVER_APPS_MY_APP_GOOGLE_PLAY_PUSH_EMAIL": "a@b",
                "TIDEOVER_APPS_MY_APP_GOOGLE_PLAY_PUSH_AUDIENCE": "x",
                "TIDEOVER_APPS_MY_APP_GOOGLE_PLAY_PACKAGE_NAME": "com.example.mine",
            ]
        )
        #expect(configuration.apps.first?.appStore?.bundleId == "com.example.mine")
        #expect(
            configuration.apps.first?.googlePlay
                == Configuration.GooglePlay(
                    packageName: "com.example.mine",
                    audience: "x",
                    email: "a@b"
                )
        )
    }

    @Test func `a variable replaces an invalid value of the file`() {
        let text = product(#"entitlements: ["a"], period: "monthly""#)
        #expect(reasons(text).count == 1)
        #expect(reasons(text, ["TIDEOVER_APPS_CARDS_PRODUCTS_A_B_PERIOD": "P1M"]) == [])
    }

    @Test func `problems of variables follow those of the file and name the variable`() {
        let text = app(#"appStore: { bundleId: "a b" }"#)
        #expect(
            problems(
                text,
                [
                    "TIDEOVER_SERVER_LISTEN": "here", "TIDEOVER_APPS_CARDS_ENVIRONMENTS": "prod",
                    "TIDEOVER_APPS_CARDS_APP_STORE_APP_APPLE_ID": "one",
                    "TIDEOVER_APPS_CARDS_GOOGLE_PLAY_SERVICE_ACCOUNT_FILE": "play.json",
                ]
            ) == [
                "1:10: apps[0].googlePlay.packageName: missing; expected a package name, such as "
                    + "`com.example.cards`",
                "1:10: apps[0].googlePlay.push: missing; expected `push.audience` and "
                    + "`push.email`, or `pull.subscription`: without them no notification of "
                    + "Google Play arrives",
                "1:74: apps[0].appStore.bundleId: expected a bundle id, such as "
                    + "`com.example.cards`, found `a b`",
                "TIDEOVER_APPS_CARDS_APP_STORE_APP_APPLE_ID: apps[0].appStore.appAppleId: "
                    + "expected the app's number in the App Store, such as `1234567890`, "
                    + "found `one`",
                "TIDEOVER_APPS_CARDS_ENVIRONMENTS: apps[0].environments: expected `production`, "
                    + "`sandbox` or `simulated`, found `prod`",
                "TIDEOVER_SERVER_LISTEN: server.listen: expected an IP address and a port, such "
                    + "as `127.0.0.1:8080` or `[::1]:8080`, found `here`",
            ]
        )
    }

    @Test func `an unknown variable causes a notice with a suggestion`() throws {
        let configuration = try load(
            app(
                #"appStore: { bundleId: "a.b" }, products: { a: { entitlements: ["x"], period: "P1M" } }"#
            ),
            [
                "TIDEOVER_SERVER_LISTN": "127.0.0.1:1", "TIDEOVER_COLOUR": "blue",
                "TIDEOVER_APPS_CARDS_APP_STORE_BUNDELID": "x", "TIDEOVER_APPS_CARDS_ID": "y",
                "TIDEOVER_SERVER_PUBLIC_URL": "", "PATH": "/bin", "TIDEOVERBOARD": "1",
                "TIDEOVER_VECTORS": "/v", "TIDEOVER_URL": "http://x", "TIDEOVER_KEY": "y",
                "TIDEOVER_PORT": "tcp://10.0.0.1:80",
                "TIDEOVER_PORT_80_TCP_ADDR": "10.0.0.1", "TIDEOVER_SERVICE_HOST": "10.0.0.1",
            ]
        )
        #expect(configuration.server.listen == .standard)
        #expect(
            configuration.notices == [
                "TIDEOVER_SERVER_PUBLIC_URL is empty and is treated as not set",
                "TIDEOVER_APPS_CARDS_APP_STORE_BUNDELID is set, but no setting has this name; did "
                    + "you mean `TIDEOVER_APPS_CARDS_APP_STORE_BUNDLE_ID`?",
                "TIDEOVER_APPS_CARDS_ID is set, but no setting has this name",
                "TIDEOVER_COLOUR is set, but no setting has this name",
                "TIDEOVER_SERVER_LISTN is set, but no setting has this name; did you mean "
                    + "`TIDEOVER_SERVER_LISTEN`?",
            ]
        )
    }

    @Test func `a mistyped variable is suggested for the missing value`() {
        let error = #expect(throws: ConfigurationProblems.self) {
            try load(app("appStore: {}"), ["TIDEOVER_APPS_CARDS_APP_STORE_BUNDLEID": "a.b"])
        }
        #expect(error?.problems.map(\.reason) == [.missing(.bundleId)])
        #expect(
            error?.description.contains("did you mean `TIDEOVER_APPS_CARDS_APP_STORE_BUNDLE_ID`?")
                == true
        )
    }

    @Test func `a variable that matches two settings is rejected`() {
        let product = #"{ entitlements: ["x"], period: "P1M" }"#
        let text = app(#"products: { "a.b": \#(product), "a-b": \#(product) }"#)
        #expect(reasons(text) == [])
        #expect(
            reasons(text, ["TIDEOVER_APPS_CARDS_PRODUCTS_A_B_PRICE": "1.00 USD"]) == [
                .ambiguousVariable(otherPath: #"apps[0].products."a.b".price"#)
            ]
        )
    }

    @Test func `a capital letter in an id starts a new part of a variable`() throws {
        let text = app(#"products: { "com.proMonthly": { entitlements: ["x"], period: "P1M" } }"#)
        let configuration = try load(
            text,
            ["TIDEOVER_APPS_CARDS_PRODUCTS_COM_PRO_MONTHLY_GROUP": "pro"]
        )
        #expect(configuration.apps.first?.catalogue["com.proMonthly"]?.group == "pro")
    }
}
