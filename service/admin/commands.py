"""The group `verdict admin`: commands on a data folder. Each is imported when it is used."""

from service.cli.commands import LazyCommand
from service.cli.environment import VerdictGroup

COMMANDS = (
    LazyCommand("keys", "create, list and revoke API keys", "service.admin.accounts:keys"),
    LazyCommand("grants", "grant tiers to users and wallets", "service.admin.accounts:grants"),
    LazyCommand("usage", "show how many questions users have asked", "service.admin.accounts:usage"),
    LazyCommand("payments", "list, export, reconcile and resume payments", "service.admin.payments:payments"),
    LazyCommand("receipts", "verify a saved receipt", "service.admin.verify:receipts"),
    LazyCommand("wallets", "choose the wallets that are watched", "service.admin.wallets:wallets"),
    LazyCommand("backup", "copy the database while it is in use", "service.admin.store:backup"),
    LazyCommand("doctor", "check the data folder; exit code 1 on a finding", "service.admin.doctor:doctor"),
    LazyCommand("quarantine", "list values that are held back, and why", "service.admin.doctor_checks:quarantine"),
    LazyCommand("record", "capture live upstreams as a fixture set", "service.admin.store:record"),
    LazyCommand("init", "start with an empty store in a folder whose store is lost", "service.admin.store:initialize"),
    LazyCommand("migrate", "copy all stored data to another, empty store", "service.admin.store:migrate"),
    LazyCommand("walkforward", "walk the stored market forward now", "service.admin.walkforward:walkforward"),
)
"""In the order of the help."""

_HELP = (
    "Operate a service: commands on its data folder (VERDICT_DATA_DIR), also while it runs. "
    "`verdict keys`, `verdict spending` and `verdict doctor` are about you as a caller."
)


admin = VerdictGroup("admin", rows=COMMANDS, help=_HELP)
