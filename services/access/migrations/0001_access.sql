-- migrate:up

CREATE TABLE organizations (
    -- UUIDv7: the order of ids is the order of making.
    id uuid PRIMARY KEY,
    display_name text NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE members (
    -- UUIDv7, of the membership: pages go by it.
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_id uuid NOT NULL,
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'builder', 'member', 'viewer')),
    create_time timestamptz NOT NULL DEFAULT now(),
    UNIQUE (organization_id, user_id)
);
CREATE INDEX members_user ON members (user_id);

-- A name exists while a base holds it or a teardown of such a base goes on. Its row is the lock under which claims,
-- deletions and answers meet; the bases of a name share its embedding space by having no other.
CREATE TABLE collection_names (
    name text PRIMARY KEY,
    embedding_model text NOT NULL,
    embedding_width integer NOT NULL CHECK (embedding_width BETWEEN 1 AND 4096)
);

CREATE TABLE knowledge_bases (
    -- UUIDv7, never reused.
    id uuid PRIMARY KEY,
    -- All but the regular ones are hidden from people: they hold what nobody owns.
    kind text NOT NULL DEFAULT 'regular' CHECK (kind IN ('regular', 'operator', 'legacy_unknown')),
    scope text NOT NULL CHECK (scope IN ('personal', 'org', 'app')),
    organization_id uuid REFERENCES organizations (id),
    owner_user_id uuid,
    visibility text CHECK (visibility IN ('private', 'org')),
    default_base boolean NOT NULL DEFAULT false,
    display_name text NOT NULL,
    collection_name text NOT NULL REFERENCES collection_names (name),
    -- Complete: every setting, merged when the base was made.
    ingestion_config jsonb NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT scope_has_its_owner CHECK (
        CASE scope
            WHEN 'personal' THEN owner_user_id IS NOT NULL
            WHEN 'org' THEN organization_id IS NOT NULL
            ELSE organization_id IS NULL
        END
    ),
    CONSTRAINT visibility_is_for_organizations CHECK ((visibility IS NOT NULL) = (scope = 'org')),
    CONSTRAINT default_is_an_organizations CHECK (NOT default_base OR scope = 'org')
);
CREATE INDEX knowledge_bases_name ON knowledge_bases (collection_name);
CREATE INDEX knowledge_bases_organization ON knowledge_bases (organization_id, id);
CREATE INDEX knowledge_bases_owner ON knowledge_bases (owner_user_id);
CREATE UNIQUE INDEX knowledge_bases_default ON knowledge_bases (organization_id) WHERE default_base;

-- Deletions that wait for upload, ingest, vectorstore and sync to remove what they hold. While no base holds a
-- name, its teardowns reserve it.
CREATE TABLE teardowns (
    id uuid PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('deleted', 'emptied')),
    knowledge_base_id uuid NOT NULL,
    collection_name text NOT NULL REFERENCES collection_names (name),
    last_holder boolean NOT NULL,
    emptied_before uuid,
    -- The services that have not answered.
    awaited text[] NOT NULL,
    announce_time timestamptz NOT NULL DEFAULT now(),
    create_time timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT emptied_has_its_mark CHECK ((emptied_before IS NOT NULL) = (kind = 'emptied'))
);
CREATE INDEX teardowns_name ON teardowns (collection_name);
CREATE INDEX teardowns_announced ON teardowns (announce_time);

-- migrate:down
DROP TABLE teardowns, knowledge_bases, collection_names, members, organizations;
