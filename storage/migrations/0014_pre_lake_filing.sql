-- What people decide and correct is filed in the lake again: which acts on a document there were, and which are filed.

ALTER TABLE reviews
    ADD COLUMN revision       integer NOT NULL DEFAULT 0, -- rises with every decision, reopening and correction
    ADD COLUMN filed_revision integer NOT NULL DEFAULT 0; -- up to which the lake knows
CREATE INDEX reviews_unfiled ON reviews (tenant_id, document_id) WHERE revision > filed_revision;

-- What was decided before this release, the lake has yet to be told.
UPDATE reviews AS r SET revision = 1
 WHERE (r.status IN ('approved', 'rejected') OR r.touched)
   AND EXISTS (SELECT FROM lake_versions v WHERE v.tenant_id = r.tenant_id AND v.document_id = r.document_id);
