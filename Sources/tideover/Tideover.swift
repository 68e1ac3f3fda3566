@main enum Tideover { static func main() {} }
