/// The statements that every storage runs, as fixed texts.
///
/// Parameters have the form of PostgreSQL. SQLite numbers them in the order of their first use, so
/// that is the order of their numbers.
package enum CommonSQL {
    // MARK: Transactions

    package static let commit: StaticString = "COMMIT"
    package static let rollBack: StaticString = "ROLLBACK"

    // MARK: One lineage, one customer

    package static let unsettle: StaticString = """
        UPDATE owner SET settled = NULL, settled_since = NULL
        WHERE app = $1 AND environment = $2 AND lineage = $3 AND settled IS NOT NULL
        """
    package static let customer: StaticString = """
        SELECT version, answer, valid_until, fingerprint, derived_at,
            pass, pass_signer, pass_issued_at, pass_renew_at, reconciled_at, customer,
            presented
        FROM customer
        WHERE app = $1 AND environment = $2 AND customer = coalesce(
            (SELECT alias.customer FROM alias
            WHERE alias.app = $1 AND alias.environment = $2 AND alias.alias = $3), $3)
        """
    package static let told: StaticString = """
        SELECT name FROM told WHERE app = $1 AND environment = $2 AND customer = $3 ORDER BY event
        """

    // MARK: Drift

    package static let openDrift: StaticString = """
        SELECT form FROM drift
        WHERE app = $1 AND environment = $2 AND customer = $3 AND healed_at IS NULL ORDER BY id
        """
    package static let driftOf: StaticString = """
        SELECT form FROM drift WHERE app = $1 AND environment = $2 AND customer = $3
        ORDER BY id DESC LIMIT $4
        """
    package static let driftAfter: StaticString = """
        SELECT form FROM drift
        WHERE app = $1 AND environment = $2 AND (customer, id) > ($3, $4)
        ORDER BY customer, id LIMIT $5
        """
    package static let insertDrift: StaticString = """
        INSERT INTO drift (app, environment, customer, id, entitlement, opened_at, healed_at, form)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT DO NOTHING
        """

    // MARK: Attributes

    package static let attributesOf: StaticString = """
        SELECT name, value, updated_at FROM attribute
        WHERE app = $1 AND environment = $2 AND customer = $3 ORDER BY name
        """
    /// The latest statement of a name counts.
    package static let putAttribute: StaticString = """
        INSERT INTO attribute (app, environment, customer, name, value, updated_at, stored_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (app, environment, customer, name) DO UPDATE SET
            value = excluded.value, updated_at = excluded.updated_at,
            stored_at = excluded.stored_at
        WHERE excluded.updated_at > attribute.updated_at
        """
    package static let attributeRecords: StaticString = """
        SELECT name, value, updated_at, customer FROM attribute
        WHERE app = $1 AND environment = $2 AND (customer, name) > ($3, $4)
        ORDER BY customer, name LIMIT $5
        """
    package static let eraseAttributes: StaticString = """
        DELETE FROM attribute WHERE app = $1 AND environment = $2 AND customer = $3
        """
    package static let attributedAfter: StaticString = """
        SELECT DISTINCT customer FROM attribute
        WHERE app = $1 AND environment = $2 AND customer > $3
        ORDER BY customer LIMIT $4
        """
    package static let pruneAttributes: StaticString = """
        DELETE FROM attribute
        WHERE app = $1 AND environment = $2 AND customer = $3
        AND NOT EXISTS (SELECT 1 FROM attribute AS later
            WHERE later.app = $1 AND later.environment = $2 AND later.customer = $3
            AND later.stored_at >= $4)
        AND NOT EXISTS (SELECT 1 FROM customer AS c
            WHERE c.app = $1 AND c.environment = $2 AND c.customer = $3)
        AND NOT EXISTS (SELECT 1 FROM alias AS a
            WHERE a.app = $1 AND a.environment = $2 AND a.alias = $3)
        """

    // MARK: Due answers

    package static let dueCount: StaticString = """
        SELECT count(*), min(valid_until) FROM
            (SELECT valid_until FROM customer
            WHERE app = $1 AND environment = $2 AND valid_until <= $3
            ORDER BY valid_until LIMIT $4) AS due
        """
    package static let nextDue: StaticString = """
        SELECT min(valid_until) FROM customer
        WHERE app = $1 AND environment = $2 AND valid_until > $3
        """

    // MARK: Commit

    package static let insertEvidence: StaticString = """
        INSERT INTO evidence (app, environment, dedupe_key, id, source, signed_at, received_at, form)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (app, environment, dedupe_key) DO NOTHING
        """
    package static let insertName: StaticString = """
        INSERT INTO purchase_name (app, kind, name, environment, lineage) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (app, kind, name, environment, lineage) DO NOTHING
        """
    package static let insertOwner: StaticString = """
        INSERT INTO owner (app, environment, lineage, seq, customer, form)
        VALUES ($1, $2, $3, $4, $5, $6)
        """
    package static let insertAlias: StaticString = """
        INSERT INTO alias (app, environment, alias, customer, since, why, declared_by)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """
    package static let forgetCustomer: StaticString = """
        DELETE FROM customer WHERE app = $1 AND environment = $2 AND customer = $3
        """
    package static let latestAudit: StaticString = """
        SELECT id FROM audit WHERE app = $1 ORDER BY id DESC LIMIT 1
        """
    package static let insertAudit: StaticString = """
        INSERT INTO audit (app, id, environment, customer, other, name, form)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
        """
    package static let auditNamed: StaticString = """
        SELECT id, form FROM audit WHERE app = $1 AND environment = $2 AND name = $3
        """
    package static let insertUnclaimed: StaticString = """
        INSERT INTO unclaimed (app, environment, lineage) VALUES ($1, $2, $3)
        ON CONFLICT (app, environment, lineage) DO NOTHING
        """
    package static let deleteUnclaimed: StaticString = """
        DELETE FROM unclaimed WHERE app = $1 AND environment = $2 AND lineage = $3
        """
    package static let insertEvent: StaticString = """
        INSERT INTO outbox (app, id, environment, customer, version, kind, at, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """
    package static let insertTold: StaticString = """
        INSERT INTO told (app, environment, customer, name, event) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (app, environment, customer, name) DO NOTHING
        """
    package static let addTally: StaticString = """
        INSERT INTO tally (app, environment, kind, name, count) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (app, environment, kind, name) DO UPDATE SET count = tally.count + excluded.count
        """
    /// Keeps the greater of the stored form and the new one.
    package static let raiseBookmark: StaticString = """
        INSERT INTO bookmark (app, environment, name, form)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (app, environment, name) DO UPDATE SET form = excluded.form
        WHERE bookmark.form < excluded.form
        """
    package static let putBookmark: StaticString = """
        INSERT INTO bookmark (app, environment, name, form) VALUES ($1, $2, $3, $4)
        ON CONFLICT (app, environment, name) DO UPDATE SET form = excluded.form
        """
    package static let addBookmark: StaticString = """
        INSERT INTO bookmark (app, environment, name, form) VALUES ($1, $2, $3, $4)
        ON CONFLICT (app, environment, name) DO NOTHING
        """

    // MARK: Figures

    package static let figures: StaticString = """
        SELECT subject, stamp, form FROM figures
        WHERE app = $1 AND environment = $2 AND kind = $3 AND subject > $4
        ORDER BY subject LIMIT $5
        """
    package static let staleFigures: StaticString = """
        SELECT kind, subject, mark, form
        FROM stale_figures LEFT JOIN figures USING (app, environment, kind, subject)
        WHERE app = $1 AND environment = $2 LIMIT $3
        """
    /// How often figures were stored: the stamp of a row of its own.
    package static let figuresTurn: StaticString = """
        SELECT stamp FROM figures
        WHERE app = $1 AND environment = $2 AND kind = 'turn' AND subject = ''
        """
    package static let figuresMark: StaticString = """
        SELECT mark FROM stale_figures
        WHERE app = $1 AND environment = $2 AND kind = $3 AND subject = $4
        """
    package static let putFigures: StaticString = """
        INSERT INTO figures (app, environment, kind, subject, stamp, form)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (app, environment, kind, subject) DO UPDATE SET
            stamp = excluded.stamp, form = excluded.form
        """
    package static let removeFigures: StaticString = """
        DELETE FROM figures WHERE app = $1 AND environment = $2 AND kind = $3 AND subject = $4
        """
    package static let figuresAfter: StaticString = """
        SELECT subject, stamp FROM figures
        WHERE app = $1 AND environment = $2 AND kind = $3 AND subject > $4
        ORDER BY subject LIMIT $5
        """
    package static let removeMark: StaticString = """
        DELETE FROM stale_figures
        WHERE app = $1 AND environment = $2 AND kind = $3 AND subject = $4
        """

    // MARK: Removal

    /// For a piece of evidence that a fact was read from later.
    package static let unidle: StaticString = """
        UPDATE evidence SET idle_since = NULL, idle_lineage = NULL
        WHERE app = $1 AND id = $2 AND environment = $3 AND idle_since IS NOT NULL
        """
    package static let pruneDrift: StaticString = """
        DELETE FROM drift WHERE (app, environment, customer, id) IN
            (SELECT app, environment, customer, id FROM drift
            WHERE app = $1 AND environment = $2 AND healed_at < $3
            ORDER BY healed_at LIMIT $4)
        """
    package static let prunePrompts: StaticString = """
        DELETE FROM prompt WHERE (app, environment, customer, id) IN
            (SELECT app, environment, customer, id FROM prompt
            WHERE app = $1 AND environment = $2 AND shown_at < $3
            ORDER BY shown_at LIMIT $4)
        """
    /// The latest entry stays, since later ids are derived from it. So does the latest event.
    package static let pruneAudit: StaticString = """
        DELETE FROM audit WHERE app = $1 AND id IN
            (SELECT id FROM audit
            WHERE app = $1 AND environment = $2 AND id < $3
            AND id < (SELECT max(id) FROM audit WHERE app = $1)
            ORDER BY id LIMIT $4)
        """
    package static let webhooks: StaticString = """
        SELECT id, form, position, failing_since, disabled, disabled_at FROM webhook
        WHERE app = $1 ORDER BY id
        """
    package static let webhookByID: StaticString = """
        SELECT id, form, position, failing_since, disabled, disabled_at FROM webhook
        WHERE app = $1 AND id = $2
        """
    package static let dueDeliveries: StaticString = """
        SELECT event, attempts, next_at FROM webhook_delivery
        WHERE app = $1 AND webhook = $2 AND next_at <= $3 ORDER BY next_at, event LIMIT $4
        """
    package static let deliveryCount: StaticString = """
        SELECT count(*) FROM webhook_delivery WHERE app = $1 AND webhook = $2
        """
    package static let attempts: StaticString = """
        SELECT number, event, at, ordinal, outcome, status, detail FROM webhook_attempt
        WHERE app = $1 AND webhook = $2 AND number < $3 ORDER BY number DESC LIMIT $4
        """
    package static let deleteDelivery: StaticString = """
        DELETE FROM webhook_delivery WHERE app = $1 AND webhook = $2 AND event = $3
        """
    package static let customersAfter: StaticString = """
        SELECT customer FROM customer WHERE app = $1 AND environment = $2 AND customer > $3
        ORDER BY customer LIMIT $4
        """
    package static let pruneCustomer: StaticString = """
        DELETE FROM customer
        WHERE app = $1 AND environment = $2 AND customer = $3 AND derived_at < $4
        AND NOT EXISTS (SELECT 1 FROM owner AS o
            WHERE o.app = $1 AND o.environment = $2 AND o.customer = $3)
        AND NOT EXISTS (SELECT 1 FROM alias AS a
            WHERE a.app = $1 AND a.environment = $2 AND a.customer = $3)
        AND NOT EXISTS (SELECT 1 FROM told AS t
            WHERE t.app = $1 AND t.environment = $2 AND t.customer = $3)
        AND NOT EXISTS (SELECT 1 FROM drift AS d
            WHERE d.app = $1 AND d.environment = $2 AND d.customer = $3)
        """
    package static let eraseFacts: StaticString = """
        DELETE FROM fact WHERE app = $1 AND environment = $2 AND lineage = $3
        """
    package static let eraseOwners: StaticString = """
        DELETE FROM owner WHERE app = $1 AND environment = $2 AND lineage = $3
        """
    package static let eraseName: StaticString = """
        DELETE FROM purchase_name
        WHERE app = $1 AND environment = $2 AND lineage = $3 AND kind = $4 AND name = $5
        """
    package static let eraseIdle: StaticString = """
        DELETE FROM evidence
        WHERE app = $1 AND environment = $2 AND idle_lineage = $3 AND idle_since IS NOT NULL
        """
    package static let eraseBookmark: StaticString = """
        DELETE FROM bookmark WHERE app = $1 AND environment = $2 AND name = $3
        """
    package static let eraseEvidence: StaticString = """
        DELETE FROM evidence WHERE app = $1 AND id = $2 AND environment = $3
        """
    package static let eraseTold: StaticString = """
        DELETE FROM told WHERE app = $1 AND environment = $2 AND customer = $3
        """
    package static let eraseDrift: StaticString = """
        DELETE FROM drift WHERE app = $1 AND environment = $2 AND customer = $3
        """
    package static let erasePrompts: StaticString = """
        DELETE FROM prompt WHERE app = $1 AND environment = $2 AND customer = $3
        """
    package static let eraseAliases: StaticString = """
        DELETE FROM alias WHERE app = $1 AND environment = $2 AND customer = $3
        """
    package static let laterEvents: StaticString = """
        SELECT id FROM outbox
        WHERE app = $1 AND environment = $2 AND customer = $3 AND id > $4
        """
    package static let eraseAudit: StaticString = """
        DELETE FROM audit WHERE app = $1 AND id = $2
        AND id < (SELECT max(id) FROM audit WHERE app = $1)
        """

    // MARK: Everything, record by record

    package static let evidenceRecords: StaticString = """
        SELECT dedupe_key, source, signed_at, received_at, form, id, idle_since, idle_lineage
        FROM evidence
        WHERE app = $1 AND environment = $2 AND (id, dedupe_key) > ($3, $4)
        ORDER BY id, dedupe_key LIMIT $5
        """
    package static let ownerRecords: StaticString = """
        SELECT form, lineage, seq FROM owner
        WHERE app = $1 AND environment = $2 AND (lineage, seq) > ($3, $4)
        ORDER BY lineage, seq LIMIT $5
        """
    package static let aliasRecords: StaticString = """
        SELECT alias, customer, since, why, declared_by FROM alias
        WHERE app = $1 AND environment = $2 AND alias > $3 ORDER BY alias LIMIT $4
        """
    package static let promptRecords: StaticString = """
        SELECT id, kind, shown_at, response, customer FROM prompt
        WHERE app = $1 AND environment = $2 AND (customer, id) > ($3, $4)
        ORDER BY customer, id LIMIT $5
        """
    package static let driftRecords: StaticString = """
        SELECT form, customer, id FROM drift
        WHERE app = $1 AND environment = $2 AND (customer, id) > ($3, $4)
        ORDER BY customer, id LIMIT $5
        """
    package static let toldRecords: StaticString = """
        SELECT customer, name, event FROM told
        WHERE app = $1 AND environment = $2 AND (customer, name) > ($3, $4)
        ORDER BY customer, name LIMIT $5
        """
    package static let auditRecords: StaticString = """
        SELECT id, environment, form, name FROM audit
        WHERE app = $1 AND environment = $2 AND id > $3 ORDER BY id LIMIT $4
        """
    package static let bookmarkRecords: StaticString = """
        SELECT name, form FROM bookmark
        WHERE app = $1 AND environment = $2 AND name > $3 AND name < $4 ORDER BY name LIMIT $5
        """
    package static let policyRecords: StaticString = """
        SELECT effective_at, fingerprint, form FROM policy_version
        WHERE app = $1 AND environment = $2 AND effective_at > $3 ORDER BY effective_at LIMIT $4
        """
    package static let customerRecords: StaticString = """
        SELECT customer, version, answer, valid_until, derived_at, reconciled_at, presented
        FROM customer
        WHERE app = $1 AND environment = $2 AND customer > $3 ORDER BY customer LIMIT $4
        """
    /// Adds a prompt, or the response to one.
    package static let restorePrompt: StaticString = """
        INSERT INTO prompt (app, environment, customer, id, kind, shown_at, response)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (app, environment, customer, id) DO UPDATE SET response = excluded.response
        WHERE prompt.response IS NULL AND excluded.response IS NOT NULL
        """
    package static let restoreBookmark: StaticString = """
        INSERT INTO bookmark (app, environment, name, form) VALUES ($1, $2, $3, $4)
        ON CONFLICT DO NOTHING
        """
    package static let restorePolicy: StaticString = """
        INSERT INTO policy_version (app, environment, effective_at, fingerprint, form)
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING
        """
    package static let policyFingerprint: StaticString = """
        SELECT fingerprint FROM policy_version
        WHERE app = $1 AND environment = $2 AND effective_at = $3
        """
    package static let hasDrift: StaticString = """
        SELECT 1 FROM drift WHERE app = $1 AND environment = $2 AND customer = $3 AND id = $4
        """

    // MARK: Removal, record by record

    package static let removeEvidence: StaticString = """
        DELETE FROM evidence
        WHERE app = $1 AND environment = $2 AND dedupe_key = $3 AND id = $4
        """
    package static let removeFact: StaticString = """
        DELETE FROM fact
        WHERE app = $1 AND environment = $2 AND lineage = $3 AND asserted_at = $4 AND identity = $5
        """
    package static let removeOwners: StaticString = """
        DELETE FROM owner WHERE app = $1 AND environment = $2 AND lineage = $3 AND seq >= $4
        """
    package static let removeAlias: StaticString = """
        DELETE FROM alias WHERE app = $1 AND environment = $2 AND alias = $3
        """
    package static let removeAttribute: StaticString = """
        DELETE FROM attribute
        WHERE app = $1 AND environment = $2 AND customer = $3 AND name = $4
        """
    package static let removePrompt: StaticString = """
        DELETE FROM prompt WHERE app = $1 AND environment = $2 AND customer = $3 AND id = $4
        """
    package static let removeBookmark: StaticString = """
        DELETE FROM bookmark WHERE app = $1 AND environment = $2 AND name = $3
        """
    package static let removeDrift: StaticString = """
        DELETE FROM drift WHERE app = $1 AND environment = $2 AND customer = $3 AND id = $4
        """
    package static let removeEvent: StaticString = """
        DELETE FROM outbox WHERE app = $1 AND environment = $2 AND id = $3
        """
    package static let removeTold: StaticString = """
        DELETE FROM told WHERE app = $1 AND environment = $2 AND customer = $3 AND name = $4
        """
    package static let removeAudit: StaticString = """
        DELETE FROM audit WHERE app = $1 AND environment = $2 AND id = $3
        """
    package static let removePolicy: StaticString = """
        DELETE FROM policy_version WHERE app = $1 AND environment = $2 AND effective_at = $3
        """
    package static let removeWebhook: StaticString = """
        DELETE FROM webhook WHERE app = $1 AND id = $2
        """
    package static let removeDeliveries: StaticString = """
        DELETE FROM webhook_delivery WHERE app = $1 AND webhook = $2
        """
    package static let removeAttempts: StaticString = """
        DELETE FROM webhook_attempt WHERE app = $1 AND webhook = $2
        """

    // MARK: Policy

    package static let newestPolicy: StaticString = """
        SELECT fingerprint FROM policy_version WHERE app = $1 AND environment = $2
        ORDER BY effective_at DESC LIMIT 1
        """
    package static let policyVersions: StaticString = """
        SELECT effective_at, fingerprint, form FROM policy_version
        WHERE app = $1 AND environment = $2 ORDER BY effective_at
        """

    // MARK: Keys

    package static let insertKey: StaticString = """
        INSERT INTO api_key (id, digest, kind, apps, name, created_at, revoked_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """
    package static let key: StaticString = """
        SELECT id, digest, kind, apps, name, created_at, revoked_at FROM api_key WHERE id = $1
        """
    package static let keys: StaticString = """
        SELECT id, digest, kind, apps, name, created_at, revoked_at FROM api_key ORDER BY id
        """

    // MARK: Read

    package static let evidenceAfter: StaticString = """
        SELECT dedupe_key, source, signed_at, received_at, form, id FROM evidence
        WHERE app = $1 AND id > $2 AND environment = $3 ORDER BY id LIMIT $4
        """
    package static let evidenceKeyed: StaticString = """
        SELECT dedupe_key, source, signed_at, received_at, form, id FROM evidence
        WHERE app = $1 AND environment = $2 AND dedupe_key > $3 AND dedupe_key < $4
        ORDER BY dedupe_key LIMIT $5
        """
    package static let named: StaticString = """
        SELECT environment, lineage FROM purchase_name WHERE app = $1 AND kind = $2 AND name = $3
        ORDER BY environment, lineage LIMIT $4
        """
    package static let bookmark: StaticString = """
        SELECT form FROM bookmark WHERE app = $1 AND environment = $2 AND name = $3
        """
    package static let bookmarks: StaticString = """
        SELECT name, form FROM bookmark
        WHERE app = $1 AND environment = $2 AND name > $3 AND name < $4
        """
    package static let header: StaticString = "SELECT text FROM header WHERE fingerprint = $1"
    package static let audit: StaticString = """
        SELECT id, environment, form FROM audit WHERE app = $1 AND id > $2 ORDER BY id LIMIT $3
        """
    package static let unclaimed: StaticString = """
        SELECT lineage FROM unclaimed WHERE app = $1 AND environment = $2 AND lineage > $3
        ORDER BY lineage LIMIT $4
        """
    package static let tallies: StaticString = """
        SELECT environment, kind, name, count FROM tally WHERE app = $1
        """
}
