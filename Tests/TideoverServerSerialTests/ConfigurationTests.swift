import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverServer
import TideoverSignatures

@testable import TideoverTestServer

@Suite struct ConfigurationTests: ConfigurationSuite {
    @Test func `the example of the design loads`() throws {
        let root = try Self.certificate()
        let configuration = try load(Self.fullExample, files: ["etc/sandbox-root.der": root])
        #expect(configuration.server.listen.description == "127.0.0.1:8080")
        #expect(configuration.storage == .sqlite(path: "etc/tideover.db"))
        let app = try #require(configuration.app("cards"))
        #expect(configuration.apps == [app])
        #expect(configuration.app("chess") == nil)
        #expect(app.environments == [.production, .sandbox, .simulated])
        #expect(app.appStore?.bundleId == "com.example.cards")
        #expect(app.appStore?.appAppleId == 1_234_567_890)
        #expect(app.simulatedStore?.root == (try TrustAnchor(name: "simulated", der: root)))
        #expect(app.policy == Policy(billingRetry: .suspend, renewalLeeway: .hours(24)))
        let monthly = Product(
            entitlements: ["premium"],
            group: "pro",
            period: Period(months: 1),
            trial: Period(days: 3),
            price: Money(milliunits: 9990, currency: "USD"),
            grace: Period(days: 16)
        )
        let lifetime = Product(entitlements: ["premium"], kind: .nonConsumable)
        #expect(
            app.catalogue
                == Catalogue(products: ["cards.pro.monthly": monthly, "cards.lifetime": lifetime])
        )
    }

    @Test func `a webhook is read, with its files beside the configuration`() throws {
        let root = try Self.certificate()
        let configuration = try load(Self.fullExample, files: ["etc/sandbox-root.der": root])
        #expect(configuration.notices == [])
        let webhook = try #require(configuration.webhooks.first)
        #expect(webhook.url == "https://example.com/hooks")
        #expect(webhook.id == "eaedfb144efd")
        #expect(webhook.events.patterns == ["*"])
        #expect(webhook.secretFile == "etc/whsec.txt")
        #expect(webhook.previousSecretFile == nil)
        #expect(webhook.apps == [])
    }

    @Test func `how often customers are prompted is read`() throws {
        let text = app(#"policy: { prompts: { quiet: "1h", interval: "12h", perDay: 2 } }"#)
        let configuration = try load(text)
        #expect(
            configuration.apps.first?.policy.prompts
                == Policy.Prompts(quiet: .hours(1), interval: .hours(12), perDay: 2)
        )
        #expect(!configuration.notices.contains { $0.contains("prompts") })
        let unlimited = try load(app("policy: { prompts: { perDay: 0 } }"))
        #expect(unlimited.apps.first?.policy.prompts == Policy.Prompts())
    }

    @Test(
        arguments: [
            (#""deny""#, .deny), (#""allow-all""#, .allowAll),
            (#"["premium"]"#, .allow(["premium"])),
            (#""premium""#, .allow(["premium"])),
        ] as [(String, Policy.UnknownProduct)]
    )
    func `the policy decides what an unknown product unlocks`(
        text: String,
        choice: Policy.UnknownProduct
    ) throws {
        let products = #"products: { "a.b": { entitlements: ["premium"], period: "P1M" } }"#
        let configuration = try load(app("\(products), policy: { unknownProduct: \(text) }"))
        #expect(configuration.apps.first?.policy.unknownProduct == choice)
    }

    @Test func `the settings of an app set its policy`() throws {
        let text = app(
            #"""
            policy: { sandbox: "review", transfer: "transfer 30d",
                      reminders: { trialEnding: "12h", graceEnding: "1d" } }
            """#
        )
        #expect(
            try load(text).apps.first?.policy
                == Policy(
                    sandbox: .review,
                    transfer: .transfer(coolDown: .days(30)),
                    reminders: Policy.Reminders(trialEnding: .hours(12), graceEnding: .days(1))
                )
        )
    }

    @Test func `an app's plan and experiments are part of its policy`() throws {
        let text = app(
            #"""
            products: { "a.b": { entitlements: ["premium"], period: "P1M" } },
            policy: { plan: { graceEntered: "app", recovered: "off" } },
            experiments: {
              ask: { entitlement: "premium", start: "2026-06-01T00:00:00Z", points: 3, arms: {
                control: { holdout: true }, early: { weight: 2, quiet: "1h", channel: "message" },
              } },
            }
            """#
        )
        let policy = try #require(try load(text).apps.first?.policy)
        #expect(policy.plan.channels == [.graceEntered: .app])
        let start = try #require(Instant(rfc3339: "2026-06-01T00:00:00Z"))
        #expect(
            policy.experiments == [
                Experiment(
                    id: "ask",
                    entitlement: "premium",
                    start: start,
                    points: 3,
                    arms: [
                        .init("control", isHoldout: true),
                        .init("early", weight: 2, quiet: .hours(1), channel: .message),
                    ]
                )
            ]
        )
        let lonely = text.replacing("control: { holdout: true },", with: "")
        #expect(problems(lonely).contains { $0.contains("expected at least two arms") })
    }

    @Test func `a simulated store is ignored where its environment is not served`() throws {
        let configuration = try load(Self.designExample)
        #expect(configuration.apps.first?.environments == [.production, .sandbox])
        #expect(configuration.apps.first?.simulatedStore == nil)
        #expect(
            configuration.notices.contains(
                "apps[0].simulatedStore is set, but `simulated` is not among the environments: "
                    + "its root has no effect"
            )
        )
    }

    @Test func `a minimal configuration is an app with its environments`() throws {
        let configuration = try load(#"{ apps: [{ id: "a", environments: ["sandbox"] }] }"#)
        let app = Configuration.App(id: "a", environments: [.sandbox])
        #expect(configuration.apps == [app])
        #expect(configuration.server.listen == .standard)
        #expect(configuration.storage == .sqlite(path: "etc/tideover.db"))
        #expect(
            configuration.notices == [
                "apps[0] has none of appStore, googlePlay and revenueCat, so no notification "
                    + "can arrive for it",
                "apps[0] has no products: purchases are stored but unlock nothing",
            ]
        )
    }

    @Test func `an app of RevenueCat alone is not said to get no notifications`() throws {
        let text = #"revenueCat: { webhookAuthorizationFile: "rc.txt" }"#
        #expect(
            try load(app(text)).notices
                == ["apps[0] has no products: purchases are stored but unlock nothing"]
        )
    }

    @Test(arguments: [
        ("sqlite:tideover.db", "etc/tideover.db"),
        ("sqlite:data/tideover.db", "etc/data/tideover.db"),
        ("sqlite:../tideover.db", "etc/../tideover.db"),
        ("sqlite:/var/lib/tideover.db", "/var/lib/tideover.db"),
    ])
    func `relative paths start at the file's folder`(storage: String, path: String) throws {
        let configuration = try load(
            app("").replacing("{ apps", with: "{ storage: \"\(storage)\", apps")
        )
        #expect(configuration.storage == .sqlite(path: path))
    }

    @Test(arguments: [
        "postgres://tideover@db.example.com/tideover", "postgresql://a,b:5433/t?sslmode=require",
        "postgres:///t?host=/run/postgresql&passfile=/etc/tideover/pgpass",
    ])
    func `the address of a PostgreSQL database is kept as it is`(address: String) throws {
        let configuration = try load(
            app("").replacing("{ apps", with: "{ storage: \"\(address)\", apps")
        )
        #expect(configuration.storage == .postgres(address: address))
    }

    @Test func `a fingerprint is of what servers on one database share`() throws {
        func fingerprint(_ more: String, _ variables: [String: String] = [:]) throws -> String {
            try load("{ apps: [{ id: \"a\", environments: [\"sandbox\"], \(more) }", variables)
                .fingerprint
        }
        let plain = try fingerprint("}]")
        #expect(plain.count == 16)
        for same in [
            "}],", "}], storage: \"sqlite:other.db\"",
            "}], server: { listen: \"localhost:9\", adminKeyFile: \"admin.key\" }",
        ] {
            #expect(try fingerprint(same) == plain, "\(same)")
        }
        let others = try [
            "policy: { billingRetry: \"keep 7d\" } }]", "}], server: { drain: \"5s\" }",
            "products: { \"pro\": { entitlements: [\"premium\"], period: \"P1M\" } } }]",
        ].map { try fingerprint($0) }
        #expect(Set(others + [plain]).count == 4)
        // A variable counts as if the file had it.
        #expect(try fingerprint("}]", ["TIDEOVER_SERVER_DRAIN": "5s"]) == others[1])
    }

    @Test func `proxies and limits are read, and the default trusts no proxy`() throws {
        let apps = #"apps: [{ id: "a", environments: ["sandbox"] }]"#
        let standard = try load("{ \(apps) }").server
        #expect(standard.trustedProxies == TrustedProxies())
        #expect(standard.limits == .init(connectionsPerAddress: 64, refusalsPerMinute: 60))
        let server = try load(
            """
            { server: { trustedProxies: ["10.0.0.0/8", "fd00::1"],
                        limits: { connectionsPerAddress: 8, refusalsPerMinute: 0 } }, \(apps) }
            """,
            ["TIDEOVER_SERVER_LIMITS_CONNECTIONS_PER_ADDRESS": "16"]
        ).server
        #expect(server.trustedProxies.networks.map(\.description) == ["10.0.0.0/8", "fd00::1/128"])
        #expect(server.limits == .init(connectionsPerAddress: 16, refusalsPerMinute: 0))
    }

    @Test func `a proxy list that trusts every address causes a notice`() throws {
        let configuration = try load(
            #"{ server: { trustedProxies: ["::/0"] }, apps: [{ id: "a", environments: ["sandbox"] }] }"#
        )
        #expect(
            configuration.notices.first
                == "server.trustedProxies contains every address, so every client can pretend to "
                + "have another one"
        )
    }

    @Test func `a webhook for a kind that no event has causes a notice`() throws {
        let hook = #"url: "https://example.com/hooks", secretFile: "whsec.txt""#
        let events = #""refund*", "renewd", "message_due", "x*", "*""#
        let configuration = try load(
            """
            { apps: [{ id: "a", environments: ["sandbox"] }],
              webhooks: [{ \(hook), events: [\(events)] }] }
            """
        )
        let noted = configuration.notices.filter { $0.hasPrefix("webhooks") }
        #expect(
            noted
                == ["renewd", "x*"].map {
                    "webhooks[0].events has `\($0)`, but no event of this version is of such a "
                        + "kind; docs/events.md lists the kinds"
                }
        )
    }

    @Test(arguments: [("[]", true), (#"["a"]"#, true), (#"["a", "b"]"#, false), (#"["b"]"#, false)])
    func `a webhook for an environment that its apps do not serve causes a notice`(
        apps: String,
        isNoted: Bool
    ) throws {
        let hook = #"url: "https://example.com/hooks", secretFile: "whsec.txt""#
        let second = #"{ id: "b", environments: ["production"] }"#
        let configuration = try load(
            """
            { apps: [{ id: "a", environments: ["sandbox"] }\(apps == "[]" ? "" : ", \(second)")],
              webhooks: [{ \(hook), apps: \(apps), environments: ["production"] }] }
            """
        )
        let noted = configuration.notices.filter { $0.hasPrefix("webhooks") }
        let notice =
            "webhooks[0].environments has `production`, but no app of the webhook serves it"
        #expect(noted == (isNoted ? [notice] : []))
    }

    @Test func `a file without a folder leaves relative paths as they are`() throws {
        let configuration = try Configuration.load(
            file: "tideover.json",
            text: Array(app("").utf8),
            environment: [:],
            readFile: { _ in throw NoSuchFile() }
        )
        #expect(configuration.storage == .sqlite(path: "tideover.db"))
    }

    @Test(arguments: [
        (#""suspend""#, Policy.BillingRetry.suspend), (#""keep 7d""#, .keep(.days(7))),
        (#""keep 36h""#, .keep(.hours(36))),
    ])
    func `the policy suspends access in billing retry or keeps it for a time`(
        text: String,
        choice: Policy.BillingRetry
    ) throws {
        let configuration = try load(app("policy: { billingRetry: \(text) }"))
        #expect(configuration.apps.first?.policy.billingRetry == choice)
    }

    @Test func `a simulated store is allowed alone and beside the real store`() throws {
        let members = #"appStore: { bundleId: "a.b" }, simulatedStore: { root: "/r.der" }"#
        let root = try Self.certificate()
        for environments in [#"["simulated"]"#, #"["sandbox", "simulated"]"#] {
            let text = app(members, environments: environments)
            let configuration = try load(text, files: ["/r.der": root])
            #expect(configuration.apps.first?.simulatedStore?.root.der == root)
        }
    }

    @Test func `unusual products cause notices`() throws {
        let configuration = try load(
            app(
                #"""
                appStore: { bundleId: "a.b" }, products: {
                  monthly: { entitlements: ["pro"] },
                  pass: { entitlements: ["pro"], kind: "nonRenewing", period: "P30D", trial: "P3D" },
                  coins: { kind: "consumable", period: "P1M" },
                }
                """#
            )
        )
        #expect(configuration.apps.first?.catalogue["coins"]?.entitlements == [])
        #expect(
            configuration.notices == [
                "apps[0].products.monthly has no period, so the speed of a sandbox is unknown for it",
                "apps[0].products.pass.trial is set, but has no effect on a product of kind "
                    + "nonRenewing",
                "apps[0].products.coins.period is set, but has no effect on a product of kind "
                    + "consumable",
            ]
        )
    }

    @Test func `an offering that an app cannot offer causes a notice`() throws {
        let configuration = try load(
            app(
                #"""
                appStore: { bundleId: "a.b" },
                revenueCat: { sdk: { appStoreKeys: ["appl_a"], currentOffering: "winter",
                  offerings: { default: { packages: { "$rc_monthly": ["monthly", "yearly"] } } },
                  placements: { onboarding: "default", settings: "summer" } } },
                products: { monthly: { entitlements: ["pro"], period: "P1M" } }
                """#
            )
        )
        #expect(
            configuration.notices == [
                "apps[0].revenueCat.sdk.offerings.default.packages.$rc_monthly names `yearly`, which "
                    + "the catalogue does not have, so an app cannot offer it and a purchase of it "
                    + "unlocks nothing",
                "apps[0].revenueCat.sdk.currentOffering is `winter`, which is none of the "
                    + "offerings, so an app has no current offering",
                "apps[0].revenueCat.sdk.placements.settings is `summer`, which is none of the "
                    + "offerings, so an app has its current offering there",
            ]
        )
    }

    @Test func `an operator's texts replace built-in ones in part`() throws {
        let configuration = try load(
            app(
                #"""
                appStore: { bundleId: "a.b" }, products: { p: { entitlements: ["pro"], period: "P1M" } },
                messages: { de: { "grace.soft": { title: "Karte abgelehnt" } },
                  "pt-BR": { "hold.shared": { message: "Aguarde." } } }
                """#
            )
        )
        let texts = configuration.apps[0].messages
        #expect(texts.keys.sorted() == ["de", "pt-BR"])
        let german = try #require(texts["de"]?.first)
        #expect(german.title == "Karte abgelehnt")
        #expect(german.message.contains("{until}"))
        #expect(german.label == "Zahlungsmethode aktualisieren")
        #expect(texts["pt-BR"]?.first?.message == "Aguarde.")
    }

    @Test func `texts of an arm replace those of the app`() throws {
        let configuration = try load(
            app(
                #"""
                appStore: { bundleId: "a.b" }, products: { p: { entitlements: ["pro"], period: "P1M" } },
                messages: { de: { "grace.soft": { title: "Karte", label: "Los" } } },
                experiments: { words: { entitlement: "pro", start: "2026-06-01T00:00:00Z", arms: {
                  plain: {}, kind: { messages: { de: { "grace.soft": { title: "Bitte" } } } },
                } } }
                """#
            )
        )
        let arms = configuration.apps[0].armMessages
        #expect(arms.count == 1)
        let texts = arms[ArmName(experiment: "words", arm: "kind")]
        let german = try #require(texts?["de"]?.first)
        #expect(german.title == "Bitte")
        #expect(german.label == "Los")
        #expect(german.message.contains("{until}"))
    }

    @Test func `an impossible text of an arm is reported at its place`() throws {
        let found = problems(
            app(
                #"""
                appStore: { bundleId: "a.b" }, products: { p: { entitlements: ["pro"], period: "P1M" } },
                experiments: { words: { entitlement: "pro", start: "2026-06-01T00:00:00Z", arms: {
                  plain: {}, kind: { messages: { de: { "hold.hard": { title: "Bis {until}" } } } },
                } } }
                """#
            )
        )
        #expect(found.count == 1)
        let problem = try #require(found.first)
        #expect(problem.contains("arms.kind.messages.de"))
        #expect(problem.contains("a text on one line with no arguments"))
    }

    @Test(
        arguments: [
            (#"sv: {}"#, "unknown key `sv`"),
            (#"de: { "grace.hard": {} }"#, "unknown key `grace.hard`"),
            (#"de: { "grace.soft": { subtitle: "x" } }"#, "unknown key `subtitle`"),
            (#"de: { "hold.shared": { label: "x" } }"#, "unknown key `label`"),
            (
                #"de: { "grace.soft": { message: "Bis {endsAt}" } }"#,
                "a text on one line with no other arguments than `{until}`"
            ),
            (
                #"de: { "hold.hard": { title: "Bis {until}" } }"#,
                "a text on one line with no arguments"
            ),
        ]
    )
    func `an impossible text is reported`(texts: String, problem: String) throws {
        let error = #expect(throws: ConfigurationProblems.self) {
            try load(app(#"appStore: { bundleId: "a.b" }, messages: { \#(texts) }"#))
        }
        let problems = try #require(error).problems
        #expect(problems.count == 1)
        #expect("\(try #require(problems.first))".contains(problem), "\(problems)")
    }

    @Test func `a key of RevenueCat's SDK belongs to one app and one store`() throws {
        func app(_ id: String, _ sdk: String) -> String {
            #"{ id: "\#(id)", environments: ["sandbox"], revenueCat: { sdk: { \#(sdk) } } }"#
        }
        let apps = [
            app("a", #"appStoreKeys: ["appl_a"]"#),
            app("b", #"appStoreKeys: ["appl_b", "appl_a"], googlePlayKeys: ["appl_b"]"#),
        ]
        let found = problems("{ apps: [\(apps.joined(separator: ", "))] }")
        #expect(found.count == 2)
        for key in ["appl_a", "appl_b"] {
            #expect(found.contains { $0.contains("apps[1].revenueCat") && $0.contains(key) })
        }
    }

    @Test func `apps keep their order`() throws {
        let ids = ["zoo", "cards", "a-1"]
        let apps = ids.map { #"{ id: "\#($0)", environments: ["sandbox"] }"# }
        let configuration = try load("{ apps: [\(apps.joined(separator: ", "))] }")
        #expect(configuration.apps.map(\.id) == ids)
    }

    @Test func `the file and variables configure the backfill of the App Store`() throws {
        let standard = try load(app(#"appStore: { bundleId: "com.example.cards" }"#))
        #expect(
            standard.apps[0].appStore?.backfill
                == BackfillSchedule(interval: .hours(6), gap: .minutes(15), afterGap: .minutes(1))
        )
        let said = try load(
            app(
                """
                appStore: { bundleId: "com.example.cards",
                            backfill: { interval: "90m", gap: "1h", afterGap: "30s" } }
                """
            ),
            ["TIDEOVER_APPS_CARDS_APP_STORE_BACKFILL_GAP": "0s"]
        )
        #expect(
            said.apps[0].appStore?.backfill
                == BackfillSchedule(interval: .minutes(90), gap: .zero, afterGap: .seconds(30))
        )
        #expect(try App(said.apps[0]).backfill == said.apps[0].appStore?.backfill)
        let found = expectations(
            app(#"appStore: { bundleId: "com.example.cards", backfill: { interval: "soon" } }"#)
        )
        #expect(found == [.duration])
    }

    @Test func `the file and variables configure the polling of Google Play`() throws {
        func store(_ members: String) -> String {
            app(
                """
                googlePlay: { packageName: "com.example.cards", \(members)
                              push: { audience: "a", email: "a@b" } }
                """
            )
        }
        let standard = try load(store(""))
        #expect(standard.apps[0].googlePlay?.choices == PlayChoices())
        #expect(standard.apps[0].googlePlay?.choices.acknowledges == true)
        let said = try load(
            store(#"acknowledge: false, backfill: { interval: "90m" },"#),
            ["TIDEOVER_APPS_CARDS_GOOGLE_PLAY_BACKFILL_GAP": "0s"]
        )
        let choices = PlayChoices(
            acknowledges: false,
            backfill: BackfillSchedule(interval: .minutes(90), gap: .zero)
        )
        #expect(said.apps[0].googlePlay?.choices == choices)
        #expect(try App(said.apps[0]).playChoices == choices)
        let variable = ["TIDEOVER_APPS_CARDS_GOOGLE_PLAY_ACKNOWLEDGE": "false"]
        #expect(try load(store(""), variable).apps[0].googlePlay?.choices.acknowledges == false)
        #expect(expectations(store(#"acknowledge: "no","#)) == [.oneOf(["true", "false"])])
    }
}
