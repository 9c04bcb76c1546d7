-- Who uploaded a document, and so started its run, even if that begins later. '': not known, of earlier releases.
ALTER TABLE documents ADD COLUMN uploaded_by text NOT NULL DEFAULT '';

-- Whom the question of a human step is for, and who may not decide it.
ALTER TABLE reviews
    ADD COLUMN assignee_group text,                          -- NULL: anybody's who looks at the queue
    ADD COLUMN may_not_decide text[] NOT NULL DEFAULT '{}';  -- names of principals; the run refuses their decision
CREATE INDEX reviews_of_group ON reviews (tenant_id, assignee_group, status, (-band), (-priority), created_at, review_id)
    WHERE assignee_group IS NOT NULL;
