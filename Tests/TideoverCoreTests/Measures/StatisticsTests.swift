import Testing
import TideoverCore

/// Published worked examples, so that the formulas are not checked against themselves.
@Suite struct ShareTests {
    /// R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in
    /// Medicine 17 (1998), table I, method 3: Wilson's score interval.
    @Test(arguments: [
        (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ])
    func `a share has Wilson's interval`(part: Int, whole: Int, lower: Double, upper: Double)
        throws
    {
        let interval = try #require(Share(part, of: whole).interval())
        #expect(interval.lower.isNear(lower))
        #expect(interval.upper.isNear(upper))
    }

    /// R. G. Newcombe, "Interval estimation for the difference between independent proportions",
    /// Statistics in Medicine 17 (1998), table II, method 10.
    @Test(arguments: [
        (56, 70, 48, 80, 0.0524, 0.3339), (9, 10, 3, 10, 0.1705, 0.8090),
        (6, 7, 2, 7, 0.0582, 0.8062), (5, 56, 0, 29, -0.0381, 0.1926),
        (0, 10, 0, 20, -0.1611, 0.2775), (10, 10, 0, 10, 0.6075, 1.0000),
    ])
    func `a difference of shares has Newcombe's interval`(
        a: Int,
        ofA: Int,
        b: Int,
        ofB: Int,
        lower: Double,
        upper: Double
    ) throws {
        let difference = ShareDifference(treatment: Share(a, of: ofA), control: Share(b, of: ofB))
        let interval = try #require(difference.interval())
        #expect(interval.lower.isNear(lower))
        #expect(interval.upper.isNear(upper))
    }

    @Test func `zero of zero has no value and no interval`() {
        let none = Share(0, of: 0)
        #expect(none.value == nil)
        #expect(none.interval() == nil)
        #expect(ShareDifference(treatment: none, control: Share(1, of: 2)).interval() == nil)
    }

    @Test func `an interval at the whole ends at one, and at nothing begins at zero`() {
        #expect(Share(7, of: 7).interval()?.upper == 1)
        #expect(Share(0, of: 7).interval()?.lower == 0)
    }
}

@Suite struct KaplanMeierTests {
    /// Weeks of remission under 6-MP, from E. J. Freireich and others (Blood 21, 1963), a data set
    /// that textbooks print with its estimate.
    private static let relapses = [6, 6, 6, 7, 10, 13, 16, 22, 23]
    private static let stillWell = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]

    private let estimate = KaplanMeier(
        relapses.map { .init(.days(Int64($0)), happened: true) }
            + stillWell.map { .init(.days(Int64($0)), happened: false) }
    )

    @Test(arguments: [
        (6, 21, 0.8571, 0.0764), (7, 17, 0.8067, 0.0869), (10, 15, 0.7529, 0.0963),
        (13, 12, 0.6902, 0.1068), (16, 11, 0.6275, 0.1141), (22, 7, 0.5378, 0.1282),
        (23, 6, 0.4482, 0.1346),
    ])
    func `the estimate and Greenwood's error equal those of the textbook`(
        week: Int,
        atRisk: Int,
        remaining: Double,
        error: Double
    ) throws {
        let step = try #require(estimate.steps.first { $0.time == .days(Int64(week)) })
        #expect(step.atRisk == atRisk)
        #expect(step.remaining.isNear(remaining))
        #expect(step.variance.squareRoot().isNear(error))
        let happened = try #require(estimate.happened(by: .days(Int64(week))))
        #expect(happened.value.isNear(1 - remaining))
        #expect(happened.standardError.isNear(error))
        #expect(happened.atRisk == atRisk)
    }

    @Test func `the estimate is constant between steps, and the median is the textbook's`() {
        #expect(estimate.happened(by: .days(12))?.value == estimate.happened(by: .days(10))?.value)
        #expect(estimate.happened(by: .days(5))?.value == 0)
        #expect(estimate.median == .days(23))
    }

    @Test func `the estimate is unknown beyond the longest life`() {
        #expect(estimate.happened(by: .days(35)) != nil)
        #expect(estimate.happened(by: .days(36)) == nil)
        #expect(KaplanMeier([]).happened(by: .zero) == nil)
        let all = KaplanMeier([.init(.days(1), happened: true), .init(.days(2), happened: true)])
        #expect(all.happened(by: .days(90))?.value == 1)
        #expect(all.happened(by: .days(90))?.standardError == 0)
    }

    @Test func `with complete observation the estimate is the simple ratio`() throws {
        let lives = (0..<40).map { KaplanMeier.Observation(.days(30), happened: $0 < 13) }
        let happened = try #require(KaplanMeier(lives).happened(by: .days(30)))
        #expect(happened.value.isNear(13.0 / 40))
        // Greenwood's variance equals the binomial variance here.
        #expect(happened.standardError.isNear((13.0 / 40 * 27.0 / 40 / 40).squareRoot()))
    }
}

extension Double {
    /// Returns whether two values are equal to the precision of the printed tables.
    fileprivate func isNear(_ other: Double) -> Bool { (self - other).magnitude < 0.000_06 }
}
