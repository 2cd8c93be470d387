"""Which task runs when, and what happens after each way of ending."""

import random
import unittest

from tests.test_plan import random_plan
from trinim_cluster.ledger import Ledger, Verdict
from trinim_cluster.plan import Plan, Task


def chain() -> Plan:
    """0 -> 1 -> 2, and 3 alone."""
    return Plan(
        [
            Task(0, (0,), (), 0, 1.0),
            Task(1, (1,), (0,), 1, 1.0),
            Task(2, (2,), (1,), 2, 1.0),
            Task(3, (3,), (), 0, 1.0),
        ]
    )


class Order(unittest.TestCase):
    def test_blocks_as_planned_and_batches_by_the_longest_path(self) -> None:
        tasks = [Task(0, (0,), (), 0, 1.0), Task(1, (1,), (), 0, 1.0), Task(2, (2,), (1,), 1, 1.0)]
        self.assertEqual(Ledger(Plan(tasks)).take(0.0), [0, 1])
        tasks[2] = Task(2, (2, 3), (1,), 1, 1.0)
        self.assertEqual(Ledger(Plan(tasks)).take(0.0), [1, 0])

    def test_each_task_once_and_after_its_sources(self) -> None:
        chance = random.Random(2)
        for _ in range(30):
            plan = random_plan(chance, 40, 4)
            ledger = Ledger(plan)
            running: list[int] = []
            started: list[int] = []
            while not ledger.complete:
                for number in ledger.take(0.0):
                    self.assertTrue(ledger.done.issuperset(plan.tasks[number].sources))
                    running.append(number)
                    started.append(number)
                self.assertTrue(running, "nothing runs and nothing is done")
                ended = running.pop(chance.randrange(len(running)))
                ledger.ended(ended, Verdict.DONE, "", 0.0)
            self.assertEqual(sorted(started), sorted(plan.tasks))
            self.assertEqual(ledger.starts, len(plan.tasks))
            self.assertAlmostEqual(ledger.done_cost, plan.cost)

    def test_whatever_happens_everything_ends_committed(self) -> None:
        """Random ends and lost schedulers: no task is forgotten, none runs twice at once."""
        chance = random.Random(3)
        for _ in range(60):
            plan = random_plan(chance, 30, 3)
            ledger = Ledger(plan, retries=10_000)
            committed: set[int] = set()
            running: set[int] = set()
            now = 0.0
            for _ in range(100_000):
                if ledger.complete:
                    break
                now += 10.0
                for number in ledger.take(now):
                    self.assertNotIn(number, running)
                    running.add(number)
                if chance.random() < 0.05:
                    # Some of what ran is committed although nobody told.
                    committed |= {number for number in running if chance.random() < 0.5}
                    self.assertEqual(ledger.forget_running(), sorted(running))
                    running.clear()
                    ledger.committed(sorted(committed))
                    self.assertTrue(ledger.done.issuperset(committed))
                elif running:
                    number = chance.choice(sorted(running))
                    running.remove(number)
                    verdict = chance.choice(
                        [Verdict.DONE, Verdict.DONE, Verdict.AGAIN, Verdict.CRASHED, Verdict.LOST]
                    )
                    if verdict is Verdict.DONE:
                        committed.add(number)
                    ledger.ended(number, verdict, "", now)
                self.assertFalse(ledger.stuck)
            self.assertTrue(ledger.complete)
            self.assertEqual(committed, set(plan.tasks))


class Ends(unittest.TestCase):
    def setUp(self) -> None:
        self.ledger = Ledger(chain(), retries=3)
        self.assertEqual(self.ledger.take(0.0), [0, 3])

    def test_again_comes_later_and_later_without_end(self) -> None:
        now = 0.0
        pauses = []
        for _ in range(9):
            self.ledger.ended(0, Verdict.AGAIN, "source missing", now)
            begin = now
            while self.ledger.take(now) != [0]:
                now += 0.5
            pauses.append(now - begin)
        self.assertEqual(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60])
        self.assertEqual(self.ledger.failed, {})

    def test_a_crash_is_tried_three_times_more(self) -> None:
        for start in range(4):
            self.assertFalse(self.ledger.failed, f"after {start} crashes")
            self.ledger.ended(0, Verdict.CRASHED, "exit code 101", 10.0 * start)
            self.ledger.take(10.0 * start + 5.0)
        self.assertEqual(self.ledger.failed[0].reason, "exit code 101")
        self.assertNotIn(0, self.ledger.running)

    def test_refused_is_never_tried_again_and_blocks_its_targets(self) -> None:
        self.ledger.ended(0, Verdict.REFUSED, "damaged source", 0.0)
        self.assertFalse(self.ledger.stuck, "3 still runs")
        self.ledger.ended(3, Verdict.DONE, "", 0.0)
        self.assertEqual(self.ledger.take(1e9), [])
        self.assertTrue(self.ledger.stuck)
        self.assertEqual(self.ledger.blocked, [1, 2])
        self.assertEqual(list(self.ledger.failed), [0])

    def test_lost_is_ready_at_once_and_no_crash(self) -> None:
        for _ in range(50):
            self.ledger.ended(0, Verdict.LOST, "worker died", 0.0)
            self.assertEqual(self.ledger.take(0.0), [0])
        self.assertEqual((self.ledger.failed, self.ledger.lost), ({}, 50))

    def test_late_news_of_a_done_task_change_nothing(self) -> None:
        self.ledger.committed([0])
        self.ledger.ended(0, Verdict.REFUSED, "zombie", 0.0)
        self.assertEqual(self.ledger.failed, {})
        self.assertEqual(self.ledger.take(0.0), [1])


class Listings(unittest.TestCase):
    def test_resume_starts_only_what_is_missing(self) -> None:
        ledger = Ledger(chain())
        ledger.committed([0, 1, 3])
        self.assertEqual((ledger.take(0.0), ledger.starts, ledger.done_blocks), ([2], 1, 3))

    def test_a_committed_target_before_its_source(self) -> None:
        """Another session's listing may be stale: it misses 0 and has 1."""
        ledger = Ledger(chain())
        ledger.committed([1])
        self.assertEqual(ledger.take(0.0), [0, 2, 3])

    def test_a_batch_is_done_with_its_last_block(self) -> None:
        ledger = Ledger(Plan([Task(0, (4, 6), (), 0, 1.0), Task(1, (5,), (0,), 1, 1.0)]))
        ledger.committed([4])
        self.assertEqual(ledger.done, set())
        ledger.committed([4, 6])
        self.assertEqual(ledger.done, {0})

    def test_a_block_of_another_run(self) -> None:
        with self.assertRaisesRegex(ValueError, "block 77"):
            Ledger(chain()).committed([77])

    def test_recheck_reopens_what_the_store_misses(self) -> None:
        ledger = Ledger(chain())
        for number in (0, 3, 1, 2):
            ledger.take(0.0)
            ledger.ended(number, Verdict.DONE, "", 0.0)
        self.assertTrue(ledger.complete)
        self.assertEqual(ledger.recheck([0, 2, 3]), [1])
        self.assertEqual((ledger.take(0.0), ledger.done_blocks), ([1], 3))
        ledger.ended(1, Verdict.DONE, "", 0.0)
        self.assertTrue(ledger.complete)
        self.assertEqual(ledger.recheck([0, 1, 2, 3]), [])
