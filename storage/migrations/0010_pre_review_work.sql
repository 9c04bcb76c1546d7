-- Reviews that people work through: claims, decisions, corrections that lock fields, and an audit that nobody edits.

ALTER TABLE reviews
    ADD COLUMN sla_from         timestamptz,                -- when its SLA began; NULL: its priority does not rise
    ADD COLUMN postponed_until  timestamptz,
    ADD COLUMN assigned_to      text,
    ADD COLUMN claimed_by       text,
    ADD COLUMN claimed_at       timestamptz,
    ADD COLUMN claimed_until    timestamptz,
    ADD COLUMN claim_token      bigint NOT NULL DEFAULT 0,  -- rises with every claim: who has an older one comes too late
    ADD COLUMN shown_digest     text,                       -- of what the queue shows of a document
    ADD COLUMN first_approval   json,                       -- by, at, digest: of an item that needs two
    ADD COLUMN decision_digest  text,                       -- of what was shown to whoever decided
    ADD COLUMN straight_through boolean,                    -- whether it passed without a person, or would have
    ADD COLUMN audit_sample     boolean NOT NULL DEFAULT false,
    ADD COLUMN touched          boolean NOT NULL DEFAULT false, -- somebody corrected a field
    -- Of a human step's item that asks about a document: that document's item, which stands for it in the queue. An open
    -- one of a decided item is an answer that its run has yet to be given.
    ADD COLUMN document_review_id text;
CREATE INDEX reviews_unanswered ON reviews (tenant_id, document_review_id)
    WHERE document_review_id IS NOT NULL AND status = 'open';
CREATE INDEX reviews_with_sla ON reviews (due_at) WHERE status = 'open' AND sla_from IS NOT NULL;

-- The share of the SLA is added when the queue is read: what was stored with it is stored without it.
UPDATE reviews AS r
   SET sla_from = d.received_at, parts = r.parts - 'sla',
       priority = greatest(r.priority - 30 * coalesce((r.parts ->> 'sla')::numeric, 0), 0),
       band = CASE r.band WHEN 2 THEN 0 ELSE r.band END
  FROM documents AS d
 WHERE (d.tenant_id, d.document_id) = (r.tenant_id, r.document_id) AND r.status = 'open';

-- What people said is right. A field's last row that is not undone counts.
CREATE TABLE corrections (
    correction_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id     text NOT NULL,
    document_id   text NOT NULL,
    field         text NOT NULL,
    act           text NOT NULL CHECK (act IN ('lock', 'unlock')),
    value         text,                            -- NULL: the document does not say it
    read_value    text,                            -- what stood there before
    read_source   text NOT NULL DEFAULT '',
    page          integer,
    box           double precision[],
    corrected_by  text NOT NULL,
    corrected_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    why           text NOT NULL DEFAULT '',
    undone_at     timestamptz,
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id)
);
CREATE INDEX corrections_of_document ON corrections (tenant_id, document_id, correction_id DESC);

-- Every event's hash covers the one before it; the head tells how long the chain is, and is locked to add to it.
CREATE TABLE audit_events (
    tenant_id   text NOT NULL,
    sequence    bigint NOT NULL CHECK (sequence > 0),
    happened_at timestamptz NOT NULL,
    actor       text NOT NULL,
    act         text NOT NULL,
    review_id   text,
    document_id text,
    detail      json NOT NULL, -- not jsonb, which rewrites numbers
    hash        text NOT NULL,
    PRIMARY KEY (tenant_id, sequence)
);
CREATE INDEX audit_events_of_review ON audit_events (tenant_id, review_id, sequence);
CREATE INDEX audit_events_of_document ON audit_events (tenant_id, document_id, sequence);
CREATE TABLE audit_heads (
    tenant_id text PRIMARY KEY,
    sequence  bigint NOT NULL,
    hash      text NOT NULL
);
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit events are only ever added: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_events_stay BEFORE UPDATE OR DELETE ON audit_events
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_events_stay_all BEFORE TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- Which shares of an item's SLA were told of; another due_at is another SLA.
CREATE TABLE sla_events (
    tenant_id   text NOT NULL,
    review_id   text NOT NULL,
    due_at      timestamptz NOT NULL,
    percent     smallint NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    notified_at timestamptz, -- NULL: nobody is to be notified, or nobody could be yet
    PRIMARY KEY (tenant_id, review_id, due_at, percent)
);
CREATE INDEX sla_events_untold ON sla_events (recorded_at) WHERE notified_at IS NULL;

-- Totals for dashboards, kept with each act: adding up all reviews would take longer from year to year.
CREATE TABLE review_counts (
    tenant_id text NOT NULL,
    name      text NOT NULL,
    label     text NOT NULL,
    total     double precision NOT NULL,
    PRIMARY KEY (tenant_id, name, label)
);
