-- A human step may want several people to decide alike: how many, and what each of them has decided so far.
ALTER TABLE reviews
    ADD COLUMN approvals_needed integer NOT NULL DEFAULT 1,
    ADD COLUMN decided_so_far   json NOT NULL DEFAULT '[]'; -- of each person: by, at, digest, decision, number

-- All that is, or was, asked of a document's item: a run and those inside it ask by it once.
CREATE INDEX reviews_of_item ON reviews (tenant_id, document_review_id) WHERE document_review_id IS NOT NULL;
