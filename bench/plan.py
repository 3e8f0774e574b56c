"""How much is measured."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes of one run. Everything that is made up is made from `seed`, the same in every run.

    `repetitions`: of each way, in turns. `file_mib`: the uploaded file. `documents`: of one storing. `chunks`: of
    each searched base. `questions`: of one repetition. `small_documents`: uploaded one after another. `bases`,
    `members` and `grants`: what a large deployment has.
    """

    repetitions: int = 5
    file_mib: int = 48
    documents: int = 200
    chunks: int = 5000
    questions: int = 100
    small_documents: int = 30
    bases: int = 10_000
    members: int = 1_000
    grants: int = 50_000
    seed: int = 7


FULL = Plan()
QUICK = Plan(
    repetitions=2,
    file_mib=4,
    documents=8,
    chunks=200,
    questions=5,
    small_documents=3,
    bases=200,
    members=20,
    grants=1_000,
)
"""Just enough to see that everything still runs: its figures mean nothing."""
