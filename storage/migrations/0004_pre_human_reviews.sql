-- A review item may be the question of a run's human step; until now it was always that of a document.

-- A document's item is still found by its document. A step's has none here: it may concern a document that has its own.
ALTER TABLE reviews DROP CONSTRAINT reviews_pkey;
ALTER TABLE reviews ALTER COLUMN document_id DROP NOT NULL, ALTER COLUMN due_at DROP NOT NULL;
CREATE UNIQUE INDEX reviews_of_document ON reviews (document_id);

-- json where people see it: jsonb would forget in which order a form's fields stand.
ALTER TABLE reviews
    ADD COLUMN step_id         text,                                 -- with run_id the item's identity; NULL: a document's
    ADD COLUMN run_document_id text,                                 -- the document of the run that asks
    ADD COLUMN queue           text NOT NULL DEFAULT 'documents',
    ADD COLUMN title           text NOT NULL DEFAULT '',             -- of a step's item '' until its question is known
    ADD COLUMN form            json,                                 -- JSON Schema of a decision
    ADD COLUMN show            json,
    ADD COLUMN asked_at        double precision NOT NULL DEFAULT 0,  -- by the run's clock: what is older comes too late
    ADD COLUMN decision        json,
    ADD COLUMN decided_by      text,
    ADD COLUMN closed_at       timestamptz,
    ADD CHECK ((document_id IS NULL) = (step_id IS NOT NULL));
-- Only one of the two indexes can be hit by an item, so that two upserts at once cannot collide on the other.
CREATE UNIQUE INDEX reviews_of_step ON reviews (tenant_id, run_id, step_id) WHERE step_id IS NOT NULL;
CREATE INDEX reviews_queues ON reviews (tenant_id, queue, status, (-band), (-priority), created_at, review_id);
