-- migrate:up

-- Credentials, sealed: `wrapped_key` holds the random key that `ciphertext` is encrypted with, encrypted itself with a key
-- made of the master key of `key_version` and the organization. Both name id, organization, kind and hint, so that
-- neither opens elsewhere.
CREATE TABLE secrets (
    -- UUIDv7: pages go by it.
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    owner_user_id uuid,
    visibility text NOT NULL CHECK (visibility IN ('private', 'team', 'org')),
    team_id uuid,
    kind text NOT NULL CHECK (
        kind IN (
            'api_key', 'aws_credentials', 'gcp_service_account', 'azure_credentials',
            'git_token', 'atlassian_token', 'graph_app', 'notion_token'
        )
    ),
    display_name text NOT NULL,
    hint text NOT NULL,
    key_version integer NOT NULL CHECK (key_version > 0),
    wrapped_key bytea NOT NULL,
    ciphertext bytea NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    update_time timestamptz NOT NULL DEFAULT now(),
    value_time timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT team_is_the_visibilitys CHECK ((team_id IS NOT NULL) = (visibility = 'team')),
    FOREIGN KEY (team_id, organization_id) REFERENCES teams (id, organization_id)
);
CREATE INDEX secrets_organization ON secrets (organization_id, id);
CREATE INDEX secrets_team ON secrets (team_id) WHERE team_id IS NOT NULL;

-- What a base, or a source that syncs into it, uses which secret for. A binding outlives its secret, which has no
-- foreign key: then there is no key, and whoever needs one is told so.
CREATE TABLE secret_bindings (
    id uuid PRIMARY KEY,
    knowledge_base_id uuid NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    -- None: the base itself.
    source_id uuid,
    purpose text NOT NULL CHECK (purpose IN ('embedding', 'parsing', 'image_description', 'source')),
    secret_id uuid NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    UNIQUE NULLS NOT DISTINCT (knowledge_base_id, source_id, purpose),
    CONSTRAINT source_is_the_purposes CHECK ((source_id IS NOT NULL) = (purpose = 'source'))
);
CREATE INDEX secret_bindings_secret ON secret_bindings (secret_id);

-- migrate:down
DROP TABLE secret_bindings, secrets;
