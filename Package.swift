// swift-tools-version: 6.2
import PackageDescription

/// Set for the build of the fuzzers, which is also that of the tests under the address sanitizer.
let isForFuzzers = Context.environment["TIDEOVER_FUZZ"] != nil

/// The coverage that libFuzzer needs, and the address sanitizer.
let fuzzed = ["-sanitize=fuzzer,address"]

/// One language mode and one set of upcoming features for every target.
let language: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (isForFuzzers ? [.unsafeFlags(fuzzed)] : [])

/// Set for debug builds with long test runs. They are clean builds, never incremental ones.
let isBuiltOnce = Context.environment["TIDEOVER_OPTIMIZED_TESTS"] != nil

/// Compiling all files of a module together takes a quarter less processor time than in batches. The
/// package manager asks for batches too; without the last flag the compiler would warn about that.
let settings: [SwiftSetting] =
    isBuiltOnce
    ? language + [
        .unsafeFlags([
            "-whole-module-optimization", "-num-threads", "2", "-disable-batch-mode",
        ])
    ] : language

/// For modules without asynchronous code. Assertions stay. The optimizer would work on one core for
/// a whole module, and many modules wait for the largest of these.
let optimized: [SwiftSetting] =
    isBuiltOnce ? language + [.unsafeFlags(["-O", "-assert-config", "Debug"])] : language

/// Set for release builds with tests: these then run the modules that users get, or those of the
/// fuzzers.
let isTestedRelease = Context.environment["TIDEOVER_TESTED_RELEASE"] != nil

/// For the largest modules in the fuzzers' build: optimizing them takes a third of it, and few fuzzers
/// run them.
let unoptimizedForFuzzers: [SwiftSetting] = isForFuzzers ? [.unsafeFlags(["-Onone"])] : []

/// Set for builds that are only run for some minutes.
let isForShortRuns = Context.environment["TIDEOVER_SHORT_RUNS"] != nil

/// For all modules but those that read bytes and calculate with keys: optimizing them takes longer than
/// it saves in short runs.
let unoptimizedForShortRuns: [SwiftSetting] = isForShortRuns ? [.unsafeFlags(["-Onone"])] : []

/// For tests, trials and benchmarks, which then run once and briefly: optimizing them would take
/// longer than it saves.
let unoptimized: [SwiftSetting] = isTestedRelease ? [.unsafeFlags(["-Onone"])] : []

/// No target waits for the modules of tests, which the compiler would otherwise emit in a pass of
/// their own.
let testSettings: [SwiftSetting] =
    settings + unoptimized
    + (isTestedRelease || isBuiltOnce ? [.unsafeFlags(["-no-emit-module-separately-wmo"])] : [])

/// For modules that tests import with `@testable`.
let testable: [SwiftSetting] = isTestedRelease ? [.unsafeFlags(["-enable-testing"])] : []

func library(
    _ name: String,
    _ dependencies: [Target.Dependency] = [],
    _ special: [SwiftSetting] = []
) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        swiftSettings: settings + unoptimizedForShortRuns + special
    )
}

func synchronous(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: optimized)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: testSettings)
}

// The levels of ARCHITECTURE.md: a target depends only on lower levels.
var targets: [Target] = [
    // level 0
    synchronous("TideoverJSON"),
    tests("TideoverJSONTests", ["TideoverJSON"]),
    synchronous("TideoverASN1"),
    tests("TideoverASN1Tests", ["TideoverASN1"]),
    synchronous("TideoverCalendar"),
    tests("TideoverCalendarTests", ["TideoverCalendar"]),
    // level 1
    .target(
        name: "TideoverCore",
        dependencies: ["TideoverCalendar", "TideoverJSON"],
        // The texts for customers, in every language.
        resources: [.embedInCode("Answer/messages.json")],
        swiftSettings: isForShortRuns ? settings + unoptimizedForShortRuns : optimized
    ),
    // Generated lives of subscriptions, and the laws that the core must satisfy for all of them.
    .target(
        name: "TideoverLives",
        dependencies: ["TideoverCore", "TideoverJSON"],
        path: "Tests/TideoverLives",
        swiftSettings: optimized
    ),
    tests("TideoverCoreTests", ["TideoverCore", "TideoverJSON", "TideoverLives"]),
    synchronous("TideoverStoreKitFile", ["TideoverJSON"]),
    tests("TideoverStoreKitFileTests", ["TideoverStoreKitFile", "TideoverJSON"]),
    library("TideoverHTTP", ["TideoverJSON"]),
    tests("TideoverHTTPTests", ["TideoverHTTP", "TideoverJSON", "TideoverLocks"]),
    // level 2
    library(
        "TideoverAppStore",
        ["TideoverASN1", "TideoverCore", "TideoverHTTP", "TideoverJSON"]
    ),
    tests(
        "TideoverAppStoreTests",
        ["TideoverAppStore", "TideoverCore", "TideoverHTTP", "TideoverJSON", "TideoverLives"]
    ),
    library("TideoverGooglePlay", ["TideoverCore", "TideoverHTTP", "TideoverJSON"]),
    tests(
        "TideoverGooglePlayTests",
        ["TideoverGooglePlay", "TideoverCore", "TideoverHTTP", "TideoverJSON", "TideoverLives"]
    ),
]

var products: [Product] = [
    .library(name: "TideoverCore", targets: ["TideoverCore"]),
    // The libraries for apps. None of their modules needs a system library.
    .library(name: "TideoverKit", targets: ["TideoverKit"]),
]

// The kit decides with the core and reads StoreKit, or on Linux a stand-in for it. Only this
// package's own builds include the stand-in: a dependency of another package must not have a local
// path.
var dependencies: [Package.Dependency] = []
var kit: [Target.Dependency] = [
    "TideoverAppStore", "TideoverCore", "TideoverHTTP", "TideoverJSON",
]
#if os(Linux)
// SwiftPM can read the manifest from a repository before checkout; it then has no folder.
let folder = Context.packageDirectory
let isCheckout =
    ["", "/"].contains(folder)
    || ["/checkouts/", "/repositories/"].contains(where: folder.contains)
if !isCheckout {
    dependencies.append(.package(path: "StandIns/StoreKit"))
    kit += [
        .product(name: "StoreKit", package: "StoreKit"),
        .product(name: "UIKit", package: "StoreKit"),
    ]
    targets += [
        tests(
            "TideoverKitTests",
            ["TideoverKit", "TideoverCore", "TideoverJSON", "TideoverSignatures"]
        ),
        // The StoreKit adapter on the stand-in, driven by the simulated App Store, beside a server.
        tests(
            "TideoverKitRehearsalTests",
            [
                "TideoverKit", "TideoverAppStore", "TideoverCore", "TideoverHTTP",
                "TideoverHTTPClient", "TideoverHTTPServer", "TideoverJSON", "TideoverLocks",
                "TideoverRehearsal", "TideoverSandbox", "TideoverServer", "TideoverSignatures",
                "TideoverStorage", "TideoverTestProcesses",
                .product(name: "StoreKit", package: "StoreKit"),
                .product(name: "StoreKitFaking", package: "StoreKit"),
            ]
        ),
    ]
}
#endif
targets += [
    library("TideoverKit", kit)
]

/// The commit in the program's version, set by the build script. SwiftPM caches the manifest, so a
/// commit read from git here would be outdated after the next one.
let commit =
    Context.environment["TIDEOVER_COMMIT"].flatMap { commit in
        commit.allSatisfy(\.isHexDigit) ? commit : nil
    } ?? ""

// Server targets are declared here, so that an app developer's Xcode does not show them.
#if os(Linux)
targets += [
    // C libraries of the system
    .systemLibrary(
        name: "CTideoverOpenSSL",
        pkgConfig: "openssl",
        providers: [.apt(["libssl-dev"])]
    ),
    .systemLibrary(
        name: "CTideoverSQLite",
        pkgConfig: "sqlite3",
        providers: [.apt(["libsqlite3-dev"])]
    ),
    .systemLibrary(
        name: "CTideoverPostgreSQL",
        pkgConfig: "libpq",
        providers: [.apt(["libpq-dev"])]
    ),
    .systemLibrary(
        name: "CTideoverMicrohttpd",
        pkgConfig: "libmicrohttpd",
        providers: [.apt(["libmicrohttpd-dev"])]
    ),
    .systemLibrary(
        name: "CTideoverCurl",
        pkgConfig: "libcurl",
        providers: [.apt(["libcurl4-openssl-dev"])]
    ),
    // level 0
    library("TideoverLocks"),
    // level 1
    synchronous(
        "TideoverSignatures",
        [
            "TideoverASN1", "TideoverCalendar", "TideoverJSON", "TideoverLocks",
            "CTideoverOpenSSL",
        ]
    ),
    // Writes OCSP responses for tests.
    .target(
        name: "TideoverTestResponders",
        dependencies: ["TideoverSignatures", "TideoverASN1"],
        path: "Tests/TideoverTestResponders",
        swiftSettings: optimized
    ),
    tests(
        "TideoverSignaturesTests",
        ["TideoverSignatures", "TideoverASN1", "TideoverJSON", "TideoverTestResponders"]
    ),
    // level 2
    library(
        "TideoverStorage",
        ["TideoverCore", "TideoverJSON", "TideoverLocks", "TideoverSignatures"]
    ),
    tests("TideoverStorageTests", ["TideoverStorage", "TideoverCore", "TideoverJSON"]),
    // The tests of every storage, run by each storage's own test target.
    .target(
        name: "TideoverStorageConformance",
        dependencies: ["TideoverStorage", "TideoverCore", "TideoverJSON", "TideoverLocks"],
        path: "Tests/TideoverStorageConformance",
        swiftSettings: settings + unoptimized
    ),
    // Starts the programs for tests, and gives these a folder.
    .target(
        name: "CTideoverTestProcesses",
        path: "Tests/CTideoverTestProcesses"
    ),
    .target(
        name: "TideoverTestProcesses",
        dependencies: ["CTideoverTestProcesses"],
        path: "Tests/TideoverTestProcesses",
        swiftSettings: settings + unoptimized
    ),
    library(
        "TideoverHTTPServer",
        ["TideoverHTTP", "TideoverJSON", "TideoverLocks", "CTideoverMicrohttpd"]
    ),
    tests("TideoverHTTPServerTests", ["TideoverHTTPServer", "TideoverHTTP", "TideoverLocks"]),
    library("TideoverHTTPClient", ["TideoverHTTP", "TideoverLocks", "CTideoverCurl"]),
    tests(
        "TideoverHTTPClientTests",
        [
            "TideoverHTTPClient", "TideoverHTTP", "TideoverHTTPServer", "TideoverLocks",
            "TideoverTestProcesses",
        ]
    ),
    library(
        "TideoverSandbox",
        [
            "TideoverCalendar", "TideoverHTTP", "TideoverJSON", "TideoverLocks",
            "TideoverSignatures", "TideoverStoreKitFile",
        ],
        unoptimizedForFuzzers
    ),
    tests(
        "TideoverSandboxTests",
        [
            "TideoverSandbox", "TideoverCalendar", "TideoverCore", "TideoverGooglePlay",
            "TideoverHTTP", "TideoverJSON", "TideoverLocks", "TideoverSignatures",
            "TideoverStoreKitFile",
        ]
    ),
    library("TideoverRevenueCat", ["TideoverCore", "TideoverHTTP", "TideoverJSON"]),
    // Reads answers as the decoders of RevenueCat's SDKs do.
    .target(
        name: "TideoverUnionChecker",
        dependencies: ["TideoverCore", "TideoverHTTP", "TideoverJSON"],
        path: "Tests/TideoverUnionChecker",
        swiftSettings: optimized
    ),
    tests(
        "TideoverRevenueCatTests",
        [
            "TideoverRevenueCat", "TideoverCore", "TideoverHTTP", "TideoverJSON", "TideoverLives",
            "TideoverUnionChecker",
        ]
    ),
    // The pages of the dashboard, as functions from values to HTML.
    .target(
        name: "TideoverDashboard",
        dependencies: ["TideoverCore", "TideoverHTTP", "TideoverJSON"],
        // Browsers receive these files as they are.
        resources: [
            .embedInCode("Assets/dashboard.css"), .embedInCode("Assets/dashboard.js"),
            .embedInCode("Assets/icon.svg"),
        ],
        swiftSettings: settings + unoptimizedForShortRuns
    ),
    tests(
        "TideoverDashboardTests",
        ["TideoverDashboard", "TideoverCore", "TideoverHTTP", "TideoverJSON"]
    ),
    // level 3
    .target(name: "CTideoverSQLiteLog", dependencies: ["CTideoverSQLite"]),
    library(
        "TideoverSQLite",
        [
            "TideoverStorage", "TideoverCore", "TideoverJSON", "TideoverLocks",
            "CTideoverSQLite", "CTideoverSQLiteLog",
        ]
    ),
    tests(
        "TideoverSQLiteTests",
        [
            "TideoverSQLite", "TideoverStorage", "TideoverStorageConformance", "TideoverCore",
            "TideoverJSON", "TideoverLocks", "TideoverTestProcesses", "CTideoverSQLite",
        ]
    ),
    library(
        "TideoverConfiguration",
        [
            "TideoverAppStore", "TideoverCore", "TideoverGooglePlay", "TideoverHTTP",
            "TideoverJSON", "TideoverSignatures", "TideoverStorage", "TideoverStoreKitFile",
        ]
    ),
    library(
        "TideoverPostgreSQL",
        ["TideoverStorage", "TideoverCore", "TideoverJSON", "TideoverLocks", "CTideoverPostgreSQL"]
    ),
    tests(
        "TideoverPostgreSQLTests",
        [
            "TideoverPostgreSQL", "TideoverCore", "TideoverHTTP", "TideoverHTTPClient",
            "TideoverJSON", "TideoverLocks", "TideoverRehearsal", "TideoverSandbox",
            "TideoverServer", "TideoverSQLite", "TideoverStorage", "TideoverStorageConformance",
            "TideoverTestProcesses",
            "CTideoverPostgreSQL",
        ]
    ),
    // level 4
    library(
        "TideoverDoctor",
        [
            "TideoverAppStore", "TideoverConfiguration", "TideoverCore", "TideoverGooglePlay",
            "TideoverHTTP", "TideoverJSON", "TideoverRevenueCat", "TideoverSignatures",
            "TideoverStorage",
        ]
    ),
    tests(
        "TideoverDoctorTests",
        [
            "TideoverDoctor", "TideoverAppStore", "TideoverConfiguration", "TideoverCore",
            "TideoverGooglePlay", "TideoverHTTP", "TideoverJSON", "TideoverLives",
            "TideoverLocks", "TideoverSandbox", "TideoverSignatures", "TideoverStorage",
        ]
    ),
    // level 5
    .target(name: "CTideoverOpenAPI", exclude: ["openapi.json"]),
    library(
        "TideoverServer",
        [
            "CTideoverOpenAPI", "TideoverAppStore", "TideoverConfiguration", "TideoverCore",
            "TideoverDashboard", "TideoverDoctor",
            "TideoverGooglePlay",
            "TideoverHTTP", "TideoverJSON", "TideoverLocks", "TideoverRevenueCat",
            "TideoverSignatures", "TideoverStorage", "TideoverStoreKitFile",
        ],
        unoptimizedForFuzzers
    ),
    // A server with a clock, stores and clients of its own, for the tests of two targets.
    .target(
        name: "TideoverTestServer",
        dependencies: [
            "TideoverServer", "TideoverAppStore", "TideoverConfiguration", "TideoverCore",
            "TideoverGooglePlay", "TideoverHTTP", "TideoverHTTPClient", "TideoverJSON",
            "TideoverLocks", "TideoverRehearsal", "TideoverRevenueCat", "TideoverSandbox",
            "TideoverSignatures", "TideoverSQLite", "TideoverStorage", "TideoverTestProcesses",
            "TideoverTestResponders", "TideoverUnionChecker",
        ],
        path: "Tests/TideoverTestServer",
        swiftSettings: settings + unoptimized + testable
    ),
    tests(
        "TideoverServerTests",
        [
            "TideoverServer", "TideoverAppStore", "TideoverConfiguration", "TideoverCore",
            "TideoverDoctor", "TideoverGooglePlay", "TideoverHTTP", "TideoverJSON",
            "TideoverLocks", "TideoverRehearsal", "TideoverSandbox", "TideoverSignatures",
            "TideoverSQLite", "TideoverStorage", "TideoverTestProcesses",
            "TideoverTestResponders", "TideoverTestServer",
        ]
    ),
    // One request after the other, values, programs and whole stories: what the thread sanitizer
    // need not watch.
    tests(
        "TideoverServerSerialTests",
        [
            "TideoverServer", "TideoverAppStore", "TideoverASN1", "TideoverConfiguration",
            "TideoverCore", "TideoverDashboard", "TideoverDoctor", "TideoverGooglePlay",
            "TideoverHTTP", "TideoverHTTPClient", "TideoverHTTPServer", "TideoverJSON",
            "TideoverLocks", "TideoverRehearsal", "TideoverRevenueCat", "TideoverSandbox",
            "TideoverSignatures", "TideoverSQLite", "TideoverStorage", "TideoverTestProcesses",
            "TideoverTestResponders", "TideoverTestServer", "TideoverUnionChecker",
        ]
    ),
    library("TideoverCommandLine", ["TideoverJSON", "TideoverLocks"], testable),
    tests("TideoverCommandLineTests", ["TideoverCommandLine", "TideoverLocks"]),
    // level 6
    library(
        "TideoverRehearsal",
        [
            "TideoverAppStore", "TideoverCore", "TideoverGooglePlay", "TideoverHTTP",
            "TideoverJSON", "TideoverLocks", "TideoverRevenueCat", "TideoverSandbox",
            "TideoverServer", "TideoverConfiguration", "TideoverSignatures", "TideoverSQLite",
            "TideoverStorage",
        ]
    ),
    // level 7
    .target(
        name: "CTideoverBuild",
        cSettings: [.define("TIDEOVER_COMMIT", to: "\"\(commit)\"")]
    ),
    .executableTarget(
        name: "tideover",
        dependencies: [
            "CTideoverBuild",
            "TideoverAppStore", "TideoverCommandLine", "TideoverCore", "TideoverDashboard",
            "TideoverDoctor",
            "TideoverGooglePlay", "TideoverHTTP", "TideoverHTTPClient", "TideoverHTTPServer",
            "TideoverJSON", "TideoverLocks", "TideoverPostgreSQL", "TideoverRehearsal",
            "TideoverRevenueCat",
            "TideoverSandbox",
            "TideoverServer", "TideoverConfiguration", "TideoverSignatures", "TideoverSQLite",
            "TideoverStorage",
            "TideoverStoreKitFile",
        ],
        // The demo's scenario is embedded in the executable.
        resources: [.embedInCode("Sandbox/Story/a-year-of-subscribers.json5")],
        swiftSettings: settings + testable,
        // All symbols are bound at startup, and their table is read-only afterwards. `-z` requires
        // unsafe flags; they affect only this program, not the libraries.
        linkerSettings: [
            .unsafeFlags([
                "-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now",
            ])
        ]
    ),
    // A back end with common mistakes, for rehearsals to find.
    .executableTarget(
        name: "TideoverNaiveBackEnd",
        dependencies: [
            "TideoverCommandLine", "TideoverCore", "TideoverGooglePlay", "TideoverHTTP",
            "TideoverHTTPClient", "TideoverHTTPServer", "TideoverJSON", "TideoverLocks",
            "TideoverSignatures",
        ],
        path: "Examples/NaiveBackEnd",
        swiftSettings: settings + testable
    ),
    tests(
        "TideoverTests",
        [
            "tideover", "TideoverNaiveBackEnd", "TideoverCommandLine", "TideoverCore",
            "TideoverDashboard", "TideoverDoctor", "TideoverHTTP", "TideoverHTTPClient",
            "TideoverHTTPServer", "TideoverJSON",
            "TideoverLocks", "TideoverRehearsal", "TideoverSandbox", "TideoverServer",
            "TideoverConfiguration",
            "TideoverSignatures", "TideoverSQLite", "TideoverStorage", "TideoverTestProcesses",
        ]
    ),
    tests("TideoverTidyTests"),
]
products += [
    // Includes the modules of the types in its interface.
    .library(
        name: "TideoverSandbox",
        targets: [
            "TideoverSandbox", "TideoverASN1", "TideoverHTTP", "TideoverJSON", "TideoverSignatures",
            "TideoverStoreKitFile",
        ]
    ),
    .executable(name: "tideover", targets: ["tideover"]),
    .executable(name: "TideoverNaiveBackEnd", targets: ["TideoverNaiveBackEnd"]),
]

// Runs more generated lives than the tests.
if Context.environment["TIDEOVER_TRIALS"] != nil {
    targets.append(
        .executableTarget(
            name: "TideoverLaws",
            dependencies: [
                "TideoverCommandLine", "TideoverCore", "TideoverHTTP", "TideoverJSON",
                "TideoverLives", "TideoverRehearsal", "TideoverSandbox", "TideoverServer",
                "TideoverConfiguration",
            ],
            path: "Tests/TideoverLaws",
            swiftSettings: settings
        )
    )
    products.append(.executable(name: "TideoverLaws", targets: ["TideoverLaws"]))
}

// Trials of the built server from outside, only for contributors to Tideover.
if Context.environment["TIDEOVER_TRIALS"] != nil {
    targets.append(
        .executableTarget(
            name: "TideoverTrials",
            dependencies: [
                "TideoverCommandLine", "TideoverCore", "TideoverHTTP", "TideoverHTTPServer",
                "TideoverJSON", "TideoverLocks", "TideoverPostgreSQL", "TideoverSandbox",
                "TideoverServer",
                "TideoverConfiguration",
                "TideoverSignatures", "TideoverSQLite", "TideoverStorage",
            ],
            path: "Trials",
            swiftSettings: settings + unoptimized
        )
    )
    products.append(.executable(name: "TideoverTrials", targets: ["TideoverTrials"]))
}

// Built only by scripts/benchmarks.sh: it intercepts the allocator.
if Context.environment["TIDEOVER_BENCHMARKS"] != nil {
    targets += [
        .target(
            name: "CTideoverAllocations",
            path: "Benchmarks/CTideoverAllocations"
        ),
        .executableTarget(
            name: "TideoverBenchmarks",
            dependencies: [
                "CTideoverAllocations", "TideoverAppStore", "TideoverCommandLine", "TideoverCore",
                "TideoverHTTP", "TideoverHTTPClient", "TideoverHTTPServer", "TideoverJSON",
                "TideoverLocks", "TideoverSandbox", "TideoverServer", "TideoverConfiguration",
                "TideoverSignatures", "TideoverSQLite", "TideoverStorage",
            ],
            path: "Benchmarks/TideoverBenchmarks",
            resources: [.embedInCode("load.lua")],
            swiftSettings: settings + unoptimized
        ),
        .executableTarget(
            name: "TideoverCoreBenchmarks",
            dependencies: [
                "CTideoverAllocations", "TideoverCommandLine", "TideoverCore", "TideoverJSON",
                "TideoverLives",
            ],
            path: "Benchmarks/TideoverCoreBenchmarks",
            swiftSettings: settings + unoptimized
        ),
    ]
}

// Built only by scripts/fuzz.sh, with libFuzzer.
if isForFuzzers {
    targets += [
        .target(
            name: "CTideoverFuzzing",
            path: "Fuzz/CTideoverFuzzing"
        ),
        .executableTarget(
            name: "TideoverFuzz",
            dependencies: [
                "CTideoverFuzzing", "TideoverAppStore", "TideoverASN1", "TideoverCore",
                "TideoverGooglePlay", "TideoverHTTP", "TideoverJSON", "TideoverLocks",
                "TideoverRevenueCat", "TideoverSandbox", "TideoverServer", "TideoverConfiguration",
                "TideoverSignatures",
                "TideoverSQLite", "TideoverStorage",
            ],
            path: "Fuzz/TideoverFuzz",
            swiftSettings: settings,
            linkerSettings: [.unsafeFlags(fuzzed)]
        ),
    ]
    products.append(.executable(name: "TideoverFuzz", targets: ["TideoverFuzz"]))
}
#endif

// Tests that a run excludes are not compiled for it. An example is a run under a sanitizer that
// cannot find anything in them.
if let names = Context.environment["TIDEOVER_WITHOUT_TESTS"] {
    let leftOut = Set(names.split(separator: " ").map(String.init))
    targets.removeAll { $0.type == .test && leftOut.contains($0.name) }
}

let package = Package(
    name: "tideover",
    platforms: [.iOS(.v17), .macOS(.v14), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    products: products,
    dependencies: dependencies,
    targets: targets
)
