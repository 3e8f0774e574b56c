-- migrate:up

CREATE TABLE teams (
    -- UUIDv7: the order of ids is the order of making.
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    display_name text NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    -- For those who refer to a team of their own organization.
    UNIQUE (id, organization_id)
);
CREATE INDEX teams_organization ON teams (organization_id, id);

-- Nobody is in a team who is no member of its organization: leaving the one leaves the other.
CREATE TABLE team_members (
    -- UUIDv7: pages go by it.
    id uuid PRIMARY KEY,
    team_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    UNIQUE (team_id, user_id),
    FOREIGN KEY (team_id, organization_id) REFERENCES teams (id, organization_id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id) ON DELETE CASCADE
);
CREATE INDEX team_members_member ON team_members (organization_id, user_id);

ALTER TABLE knowledge_bases
    DROP CONSTRAINT knowledge_bases_visibility_check,
    ADD CONSTRAINT knowledge_bases_visibility_check CHECK (visibility IN ('private', 'team', 'org')),
    ADD COLUMN team_id uuid,
    ADD CONSTRAINT team_is_the_visibilitys CHECK ((team_id IS NOT NULL) = (visibility IS NOT DISTINCT FROM 'team')),
    ADD FOREIGN KEY (team_id, organization_id) REFERENCES teams (id, organization_id);
CREATE INDEX knowledge_bases_app ON knowledge_bases (id) WHERE scope = 'app';
CREATE INDEX knowledge_bases_team ON knowledge_bases (team_id) WHERE team_id IS NOT NULL;

-- Who may do more with a base than roles allow. A person's goes with the membership, a team's with the team, and all of
-- them with the base. Whether one counts is decided by the rule of `reach`.
CREATE TABLE grants (
    -- UUIDv7: pages go by it.
    id uuid PRIMARY KEY,
    knowledge_base_id uuid NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    -- The base's.
    organization_id uuid,
    grantee_kind text NOT NULL CHECK (grantee_kind IN ('user', 'team', 'agent')),
    grantee_id uuid NOT NULL,
    permission text NOT NULL CHECK (permission IN ('view', 'edit')),
    giver_user_id uuid NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    user_id uuid GENERATED ALWAYS AS (CASE grantee_kind WHEN 'user' THEN grantee_id END) STORED,
    team_id uuid GENERATED ALWAYS AS (CASE grantee_kind WHEN 'team' THEN grantee_id END) STORED,
    -- In this order, so that one grantee's grants on any bases stand together: listings ask for them all.
    UNIQUE (grantee_id, grantee_kind, knowledge_base_id),
    CONSTRAINT people_and_teams_are_an_organizations CHECK (grantee_kind = 'agent' OR organization_id IS NOT NULL),
    FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id) ON DELETE CASCADE,
    FOREIGN KEY (team_id, organization_id) REFERENCES teams (id, organization_id) ON DELETE CASCADE
);
CREATE INDEX grants_base ON grants (knowledge_base_id, id);
CREATE INDEX grants_member ON grants (organization_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX grants_team ON grants (team_id) WHERE team_id IS NOT NULL;

-- migrate:down
DROP TABLE grants;
DROP INDEX knowledge_bases_app;
UPDATE knowledge_bases SET visibility = 'private', team_id = NULL WHERE visibility = 'team';
ALTER TABLE knowledge_bases
    DROP COLUMN team_id,
    DROP CONSTRAINT knowledge_bases_visibility_check,
    ADD CONSTRAINT knowledge_bases_visibility_check CHECK (visibility IN ('private', 'org'));
DROP TABLE team_members, teams;
