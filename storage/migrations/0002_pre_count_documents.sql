-- What /metrics of the API tells: how documents ended, surviving restarts. Columns without a default are added at once,
-- however many rows there are; documents that were counted before have no outcome and are in no total.

ALTER TABLE documents
    ADD COLUMN outcome            text,             -- success or failed
    ADD COLUMN processing_seconds double precision, -- from received_at to metrics_recorded_at
    ADD COLUMN confidence         double precision; -- NULL if nothing was read

-- How many documents ended how, in the histograms' buckets. Kept by the statement that marks a document as counted:
-- a scrape, every few seconds for ever, reads some ten rows of each tenant instead of a million documents. It can be
-- made anew from the columns above. A bucket is named by its upper bound, so that other bounds may be chosen later.
CREATE TABLE document_counts (
    tenant_id      text NOT NULL,
    outcome        text NOT NULL CHECK (outcome IN ('success', 'failed')),
    seconds_le     double precision NOT NULL,
    confidence_le  double precision,
    documents      bigint NOT NULL,
    seconds_sum    double precision NOT NULL,
    confidence_sum double precision NOT NULL,
    UNIQUE NULLS NOT DISTINCT (tenant_id, outcome, seconds_le, confidence_le)
) WITH (fillfactor = 50); -- room for the new versions of rows that change with every document
