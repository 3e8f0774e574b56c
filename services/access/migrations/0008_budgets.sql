-- migrate:up

-- Amounts are in millionths of a US dollar.

-- What an organization may spend in a calendar month (UTC). No row: no limit.
CREATE TABLE budgets (
    organization_id uuid PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
    limit_micros bigint NOT NULL CHECK (limit_micros >= 0)
);

-- Made before `spend`: what goes with an organization goes in this order, in which others take their locks too.
CREATE TABLE reservations (
    -- UUIDv7, chosen by the service.
    id uuid PRIMARY KEY,
    -- Who made it, and alone may settle it.
    service text NOT NULL,
    knowledge_base_id uuid NOT NULL,
    -- Null where the base belongs to none: there is no budget then.
    organization_id uuid REFERENCES organizations (id) ON DELETE CASCADE,
    period date NOT NULL,
    amount_micros bigint NOT NULL CHECK (amount_micros > 0),
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'settled', 'expired')),
    expire_time timestamptz NOT NULL
);
CREATE INDEX reservations_organization ON reservations (organization_id);
CREATE INDEX reservations_open ON reservations (expire_time) WHERE state = 'open';
CREATE INDEX reservations_closed ON reservations (expire_time) WHERE state <> 'open';

-- What a month has come to. Its row is locked while a reservation is judged, made, settled or given back.
CREATE TABLE spend (
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    -- The first day of the month.
    period date NOT NULL,
    spent_micros bigint NOT NULL DEFAULT 0 CHECK (spent_micros >= 0),
    -- The sum of the month's open reservations.
    reserved_micros bigint NOT NULL DEFAULT 0 CHECK (reserved_micros >= 0),
    PRIMARY KEY (organization_id, period)
);

-- migrate:down
DROP TABLE reservations, spend, budgets;
