"""Public files through the pool, each as every kind: read or refused, and never a dead parser."""

import asyncio
from pathlib import Path

import pytest

from acervo.common.v1 import error_reason_pb2 as pb
from services.ingest.pool.job import Job, Refused
from services.ingest.pool.parser_pool import ParserPool, PoolLimits
from services.shared.kinds import KINDS

CORPUS = Path(__file__).parents[3].parent / "shared" / "corpus" / "dev"
THE_PARSERS = {pb.ERROR_REASON_PARSER_CRASHED, pb.ERROR_REASON_PARSE_TIMEOUT, pb.ERROR_REASON_PARSE_MEMORY}


async def test_no_public_file_of_any_format_costs_a_parser() -> None:
    if not CORPUS.exists():
        pytest.skip(f"no corpus at {CORPUS}")
    jobs = [Job(path, kind, 500, 50) for path in sorted(CORPUS.iterdir()) for kind in ("txt", "pdf", "docx")]
    assert {job.kind for job in jobs} <= set(KINDS)
    async with ParserPool(slots=2, limits=PoolLimits(seconds=60, jobs=len(jobs))) as pool:
        outcomes = await asyncio.gather(*(pool.parse(job) for job in jobs))
    lost = [
        (job.source, job.kind)
        for job, outcome in zip(jobs, outcomes, strict=True)
        if isinstance(outcome, Refused) and outcome.reason in THE_PARSERS
    ]
    assert lost == []
