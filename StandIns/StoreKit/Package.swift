// swift-tools-version: 6.2
import PackageDescription

// Stands in for Apple's framework on Linux, so that the adapter an iPhone runs is compiled and tested
// there. It is a package of its own: against an enumeration of another package a missing
// `@unknown default` is an error, as it is against the framework.
let package = Package(
    name: "StoreKit",
    products: [
        .library(name: "StoreKit", targets: ["StoreKit"]),
        .library(name: "StoreKitFaking", targets: ["StoreKitFaking"]),
    ],
    targets: [
        .target(name: "StoreKit"),
        .target(name: "StoreKitFaking", dependencies: ["StoreKit"]),
    ],
    swiftLanguageModes: [.v6]
)
