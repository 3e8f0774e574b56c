import asyncpg

from tests.conftest import Databases

# `jobs` go with the document or the run that they work on.
_PASSING = {"jobs"}


async def test_whatever_a_service_keeps_of_an_organization_or_a_person_goes_with_a_base(
    databases: Databases,
) -> None:
    connection = await asyncpg.connect(databases.admin_url)
    rows = await connection.fetch(
        "SELECT c.table_schema, c.table_name,"
        " bool_or(c.column_name = 'knowledge_base_id' AND c.is_nullable = 'NO') AS kept"
        "  FROM information_schema.columns c"
        " WHERE c.table_schema IN ('upload', 'ingest', 'vectorstore', 'sync')"
        " GROUP BY c.table_schema, c.table_name"
        " HAVING bool_or(c.column_name ~ '(organization|tenant|user|person)_id$')"
    )
    await connection.close()
    found = {f"{row['table_schema']}.{row['table_name']}" for row in rows}
    assert {"upload.files", "ingest.documents", "sync.sources"} <= found
    assert [row for row in rows if not row["kept"] and row["table_name"] not in _PASSING] == []
