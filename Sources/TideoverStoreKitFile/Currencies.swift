/// The currencies of App Store storefronts, except for small countries with US dollars. Maps ISO
/// 3166-1 alpha-3 to ISO 4217.
/// https://developer.apple.com/help/app-store-connect/reference/financial-report-regions-and-currencies
enum Currencies {
    static let ofStorefronts: [String: String] = {
        var table = [
            "ARE": "AED", "AUS": "AUD", "BRA": "BRL", "CAN": "CAD", "CHE": "CHF", "CHL": "CLP",
            "CHN": "CNY", "COL": "COP", "CZE": "CZK", "DNK": "DKK", "EGY": "EGP", "GBR": "GBP",
            "HKG": "HKD", "HUN": "HUF", "IDN": "IDR", "IND": "INR", "ISR": "ILS", "JPN": "JPY",
            "KAZ": "KZT", "KOR": "KRW", "MEX": "MXN", "MYS": "MYR", "NGA": "NGN", "NOR": "NOK",
            "NZL": "NZD", "PAK": "PKR", "PER": "PEN", "PHL": "PHP", "POL": "PLN", "QAT": "QAR",
            "ROU": "RON", "RUS": "RUB", "SAU": "SAR", "SGP": "SGD", "SWE": "SEK", "THA": "THB",
            "TUR": "TRY", "TWN": "TWD", "TZA": "TZS", "USA": "USD", "VNM": "VND", "ZAF": "ZAR",
        ]
        for country in [
            "AUT", "BEL", "CYP", "DEU", "ESP", "EST", "FIN", "FRA", "GRC", "HRV", "IRL", "ITA",
            "LTU", "LUX", "LVA", "MLT", "NLD", "PRT", "SVK", "SVN",
        ] {
            table[country] = "EUR"
        }
        return table
    }()
}
