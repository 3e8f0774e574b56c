-- migrate:up

-- What was changed, by whom. Rows are added and never changed, and outlive what they name: there are no foreign keys.
CREATE TABLE audit_events (
    -- UUIDv7.
    id uuid PRIMARY KEY,
    create_time timestamptz NOT NULL DEFAULT now(),
    -- Whose log it stands in: an organization's, the deployment's, or else that of the person who acted.
    organization_id uuid,
    deployment boolean NOT NULL DEFAULT false,
    actor_kind text NOT NULL CHECK (actor_kind IN ('person', 'agent', 'service')),
    -- The person, or the one that an agent acted for.
    actor_user_id uuid,
    actor_agent_id uuid,
    actor_service text,
    action text NOT NULL,
    object_kind text NOT NULL,
    object_id uuid NOT NULL,
    -- Names and ids as they were and as they are: objects of strings.
    before jsonb NOT NULL,
    after jsonb NOT NULL,
    CONSTRAINT one_log CHECK (NOT deployment OR organization_id IS NULL),
    CONSTRAINT actor_is_named CHECK (
        CASE actor_kind
            WHEN 'person' THEN actor_user_id IS NOT NULL
            WHEN 'agent' THEN actor_agent_id IS NOT NULL
            ELSE actor_service IS NOT NULL
        END
    )
);
CREATE INDEX audit_events_organization ON audit_events (organization_id, id);
CREATE INDEX audit_events_personal ON audit_events (actor_user_id, id) WHERE organization_id IS NULL;
CREATE INDEX audit_events_deployment ON audit_events (id) WHERE deployment;
CREATE INDEX audit_events_object ON audit_events (object_id, id);

-- Events that the chain does not hold yet. Written with them, so that the sealer looks at no others.
CREATE TABLE audit_unsealed (
    event_id uuid PRIMARY KEY REFERENCES audit_events (id)
);

-- The chain: each hash is over an event and the hash before. Its order is that in which the sealer found the events.
CREATE TABLE audit_seals (
    sequence bigint PRIMARY KEY CHECK (sequence > 0),
    event_id uuid NOT NULL UNIQUE REFERENCES audit_events (id),
    -- Unique: nothing has two successors. The first one's is zeros.
    previous_hash bytea NOT NULL UNIQUE CHECK (octet_length(previous_hash) = 32),
    hash bytea NOT NULL CHECK (octet_length(hash) = 32)
);

CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER audit_seals_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_seals
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();

-- migrate:down
DROP TABLE audit_seals, audit_unsealed, audit_events;
DROP FUNCTION audit_refuse;
