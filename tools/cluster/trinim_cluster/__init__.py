"""Runs one solve of trinim on many machines: `trinim-task` processes as tasks of Dask distributed.

Only numbers of blocks pass through Dask; the data stays in the store. What is done is what is
committed in the store, so nothing here has to survive: worker, scheduler and driver may die.

plan        the tasks, their sources and costs; priorities
ledger      which task is waiting, ready, running, done, failed
trinim      the program: its commands, exit codes, reports
work        what a slot of a worker does: one `trinim-task`
shares      the check of a finished store, as tasks
service     scheduler and workers as processes that are started again
driver      plan and ledger against a Dask scheduler, until everything is committed
progress    rate, ETA, metrics
simulate    the same schedule on made-up machines
estimate    what a solve on them takes: time, disk, requests, money
options     the options of the command line
cli         the command `trinim-cluster`
"""

VERSION = "0.1.0"
