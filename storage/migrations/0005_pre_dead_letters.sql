-- The dead-letter inbox: every step that failed for good, what became of it, and what people did about it.

CREATE TABLE dead_letters (
    tenant_id     text NOT NULL,
    run_id        text NOT NULL,
    step_id       text NOT NULL, -- with the run it names the step's input: a retry resolves its config anew
    definition_id text NOT NULL,
    version       integer NOT NULL,
    handler       text, -- NULL: a step of another kind
    document_id   text,
    status        text NOT NULL CHECK (status IN ('parked', 'failed', 'resolved')),
    error_type    text NOT NULL,
    error_message text NOT NULL,
    retryable     boolean NOT NULL,
    attempts      integer NOT NULL,
    failed_at     timestamptz NOT NULL,
    told_at       timestamptz NOT NULL, -- by the run's clock: what is older comes too late
    resolution    text CHECK (resolution IN ('retry', 'skip', 'output', 'abort', 'dismiss')),
    resolved_by   text,
    resolved_at   timestamptz,
    PRIMARY KEY (tenant_id, run_id, step_id),
    CHECK ((status = 'resolved') = (resolution IS NOT NULL))
);
CREATE INDEX dead_letters_newest ON dead_letters (tenant_id, failed_at DESC, run_id DESC, step_id DESC);
CREATE INDEX dead_letters_open ON dead_letters (tenant_id, error_type) WHERE status <> 'resolved';

-- What people did to runs and their failed steps. Only ever added to.
CREATE TABLE operator_actions (
    action_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id text NOT NULL,
    run_id    text NOT NULL,
    step_id   text, -- NULL: of the whole run
    action    text NOT NULL,
    details   jsonb NOT NULL, -- what was given by hand: configs, outputs, a reason, a version
    acted_by  text NOT NULL,
    acted_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX operator_actions_of ON operator_actions (tenant_id, run_id, action_id DESC);
