/// A database in which customers can be multiplied.
protocol GrownDatabase {
    var name: String { get }
    /// The storage as in the configuration; nil for the SQLite file of the name.
    var storage: String? { get }
    /// Whether `tideover migrate` fills it. Answers are then derived again before they are copied.
    var isMigrated: Bool { get }
    var dialect: Dialect { get }

    /// Creates it with the customers of an SQLite file.
    func create(from original: String, of stage: Stage) throws
    /// Returns the columns of a table, in their order.
    func columns(of table: String) throws -> [String]
    /// Adds the rows of a query to a table.
    func copy(_ query: String, to table: String) throws
    /// Makes it like one that was in use for some time.
    func finishLoading() throws
    /// Runs a statement. Returns its rows, one per line.
    @discardableResult
    func run(_ statement: String) throws -> String
    func bytes() throws -> Int
}

/// Where the SQL of the two databases differs.
struct Dialect {
    /// The number `n` of a copy, as eight decimal and as eight hexadecimal digits.
    let decimal: String
    let hexadecimal: String
    /// The id in the key of a purchase.
    let purchase: String
    /// A table `n` with the numbers from 1 to a count.
    let numbers: (_ count: Int) -> String
    /// A column's document as text, and a text as a document.
    let text: (_ column: String) -> String
    let document: (_ text: String) -> String
}

/// A table with rows for each customer, and how they differ in each copy.
struct MultipliedTable {
    let name: String
    /// Its rows `r`, with the ids of their customer and their purchase.
    private let rows: String
    /// The expressions of the columns that differ, by column.
    private let columns: [String: String]

    /// Copies follow their original in the order of keys, so that indexes grow at few places.
    func query(columns names: [String], copies: Int, in dialect: Dialect) -> String {
        let values = names.map { columns[$0] ?? "r.\($0)" }.joined(separator: ", ")
        return "SELECT \(values) FROM (\(rows)) r CROSS JOIN \(dialect.numbers(copies))"
    }

    /// Ids keep their lengths but for eight digits of the store's.
    static func all(in dialect: Dialect) -> [MultipliedTable] {
        let digits = dialect.decimal
        let customer = "substr(r.customer, 1, 28) || \(dialect.hexadecimal)"
        let owner = ("r.customer", customer)
        let purchase = (dialect.purchase, "\(dialect.purchase) || \(digits)")
        /// Returns a document with the ids of the copy.
        func document(_ column: String, _ ids: [(String, String)]) -> String {
            dialect.document(
                ids.reduce(dialect.text("r.\(column)")) { text, id in
                    "replace(\(text), \(id.0), \(id.1))"
                }
            )
        }
        return [
            MultipliedTable(
                name: "customer",
                rows: "SELECT * FROM customer ORDER BY app, environment, customer",
                columns: ["customer": customer, "answer": document("answer", [owner])]
            ),
            MultipliedTable(
                name: "owner",
                rows: "SELECT * FROM owner ORDER BY app, environment, lineage, seq",
                columns: [
                    "customer": customer, "lineage": "r.lineage || \(digits)",
                    "form": document("form", [owner, purchase]),
                ]
            ),
            MultipliedTable(
                name: "fact",
                rows: """
                    SELECT fact.*, owner.customer FROM fact
                    JOIN owner USING (app, environment, lineage)
                    ORDER BY app, environment, lineage, asserted_at, identity
                    """,
                columns: [
                    "lineage": "r.lineage || \(digits)",
                    "form": document("form", [owner, purchase]),
                ]
            ),
            MultipliedTable(
                name: "purchase_name",
                rows: "SELECT * FROM purchase_name ORDER BY app, kind, name",
                columns: [
                    "name": "r.name || \(digits)", "lineage": "r.lineage || \(digits)",
                ]
            ),
            MultipliedTable(
                name: "told",
                rows: "SELECT * FROM told ORDER BY app, environment, customer, name",
                columns: ["customer": customer]
            ),
        ]
    }
}
