from evidence.services.archive import archive_row, restore_row
from evidence.services.baseline import BaselineReport, BaselineRow, import_baseline
from evidence.services.decisions import accept_proposal, reject_proposal
from evidence.services.experiments import add_entry, correct_entry, import_entries
from evidence.services.flags import clear_flag, confirm_flag, flag_row
from evidence.services.lever_merging import merge_levers, unmerge_levers
from evidence.services.levers import add_alias, archive_lever, create_lever, edit_lever, remove_alias, restore_lever
from evidence.services.proposals import propose_change, propose_row, revise_proposal, withdraw_proposal
from evidence.services.runs import RunOutcome, attach_receipt, propose_from_run
from evidence.services.supersession import supersede_row
from evidence.services.vectors import keep_vectors, store_vectors

__all__ = [
    "BaselineReport",
    "BaselineRow",
    "RunOutcome",
    "accept_proposal",
    "add_alias",
    "add_entry",
    "archive_lever",
    "archive_row",
    "attach_receipt",
    "clear_flag",
    "confirm_flag",
    "correct_entry",
    "create_lever",
    "edit_lever",
    "flag_row",
    "import_baseline",
    "import_entries",
    "keep_vectors",
    "merge_levers",
    "propose_change",
    "propose_from_run",
    "propose_row",
    "reject_proposal",
    "remove_alias",
    "restore_lever",
    "restore_row",
    "revise_proposal",
    "store_vectors",
    "supersede_row",
    "unmerge_levers",
    "withdraw_proposal",
]
