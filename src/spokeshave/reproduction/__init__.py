"""Studies of published papers: tasks that can be resumed, tables, figures and verdicts.

What a paper says and how it is tried is in `spokeshave.papers`; how any of them is run is here.
"""

from spokeshave.reproduction.markdown import fill_block, write_table
from spokeshave.reproduction.paper import (
    IN_PART,
    NOT_REPRODUCED,
    NOT_TRIED,
    REPRODUCED,
    Claim,
    Paper,
    Part,
    Setting,
    Tables,
    Task,
    Verdict,
)
from spokeshave.reproduction.running import run_tasks
from spokeshave.reproduction.study import Outcome, read_tables, reproduce, write_blocks
from spokeshave.reproduction.verdicts import judge_claims, write_verdicts

__all__ = [
    "IN_PART",
    "NOT_REPRODUCED",
    "NOT_TRIED",
    "REPRODUCED",
    "Claim",
    "Outcome",
    "Paper",
    "Part",
    "Setting",
    "Tables",
    "Task",
    "Verdict",
    "fill_block",
    "judge_claims",
    "read_tables",
    "reproduce",
    "run_tasks",
    "write_blocks",
    "write_table",
    "write_verdicts",
]
