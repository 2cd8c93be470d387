"""The simulator against a slow, obvious one that recomputes every share at every event."""

import json
import random
import unittest
from dataclasses import replace

from tests.test_plan import random_plan
from trinim_cluster.plan import Plan, Task
from trinim_cluster.simulate import Effort, Machines, Run, Shared, simulate


def slow(plan: Plan, efforts: dict[int, Effort], machines: Machines) -> float:
    """Seconds of a run: lists of what is where, the smallest step to the next end."""
    done: set[int] = set()
    started: set[int] = set()
    node: dict[int, int] = {}
    phase: dict[int, int] = {}
    left: dict[int, float] = {}
    now = 0.0
    while len(done) < len(plan.tasks):
        ready = [
            task.number
            for task in plan.tasks.values()
            if task.number not in started and done.issuperset(task.sources)
        ]
        ready.sort(key=lambda number: (plan.rank[number], number))
        for number in ready:
            busy = [sum(node[other] == at for other in left) for at in range(machines.nodes)]
            best = min(range(machines.nodes), key=lambda at: (busy[at], at))
            if busy[best] >= machines.slots:
                break
            started.add(number)
            node[number], phase[number], left[number] = best, 0, machines.coordinator_s
        rates = {}
        for number in left:
            same = [
                other
                for other in left
                if phase[other] == phase[number]
                and (phase[number] != 2 or node[other] == node[number])
            ]
            capacity, most = {
                0: (1.0, 1.0),
                1: (machines.store_read, machines.link / machines.slots),
                2: (machines.cores, 1.0),
                3: (machines.store_write, machines.link / machines.slots),
            }[phase[number]]
            rates[number] = min(most, capacity / len(same))
        first = min(left, key=lambda number: left[number] / rates[number])
        step = left[first] / rates[first]
        now += step
        for number in left:
            left[number] = max(0.0, left[number] - step * rates[number])
        left[first] = 0.0
        phase[first] += 1
        if phase[first] == 4:
            del left[first]
            done.add(first)
        else:
            effort = efforts[first]
            left[first] = {
                1: effort.read_bytes,
                2: effort.seconds + machines.dispatch_s,
                3: effort.write_bytes,
            }[phase[first]]
    return now


class Truth(unittest.TestCase):
    def test_random_plans_on_random_machines(self) -> None:
        chance = random.Random(5)
        for case in range(120):
            plan = random_plan(chance, chance.randint(1, 30), 3)
            efforts = {
                number: Effort(chance.random(), 100 * chance.random(), 50 * chance.random())
                for number in plan.tasks
            }
            machines = Machines(
                nodes=chance.randint(1, 4),
                slots=chance.randint(1, 3),
                cores=chance.choice([0.5, 1.0, 2.0, 3.0]),
                store_read=chance.choice([50.0, 500.0]),
                store_write=chance.choice([20.0, 5000.0]),
                link=chance.choice([30.0, 1e9]),
                coordinator_s=chance.choice([0.0, 0.1]),
                dispatch_s=chance.choice([0.0, 0.05]),
            )
            with self.subTest(case):
                fast = simulate(plan, efforts, machines)
                self.assertAlmostEqual(fast.seconds, slow(plan, efforts, machines), places=6)
                self.assertGreaterEqual(fast.seconds, fast.critical_path_s - 1e-9)
                self.assertLessEqual(fast.efficiency, 1.0 + 1e-9)

    def test_by_hand(self) -> None:
        """Four equal tasks on two slots of one core: two rounds at half speed; one store."""
        plan = Plan([Task(number, (number,), (), 0, 1.0) for number in range(4)])
        efforts = {number: Effort(1.0) for number in range(4)}
        two = Machines(nodes=1, slots=2, cores=2.0)
        self.assertAlmostEqual(simulate(plan, efforts, two).seconds, 2.0)
        self.assertAlmostEqual(simulate(plan, efforts, replace(two, cores=1.0)).seconds, 4.0)
        efforts = {number: Effort(0.0, 100.0) for number in range(4)}
        self.assertAlmostEqual(simulate(plan, efforts, replace(two, store_read=50.0)).seconds, 8.0)
        self.assertAlmostEqual(simulate(plan, efforts, replace(two, link=20.0)).seconds, 20.0)

    def test_live_bytes(self) -> None:
        """0 and 1 are needed by 2 only; 3 needs 2: never more than three blocks are live."""
        plan = Plan(
            [
                Task(0, (0,), (), 0, 1.0),
                Task(1, (1,), (), 0, 1.0),
                Task(2, (2,), (0, 1), 1, 1.0),
                Task(3, (3,), (2,), 2, 1.0),
            ]
        )
        efforts = {number: Effort(1.0, 0.0, 10.0) for number in range(4)}
        outcome = simulate(plan, efforts, Machines(nodes=1, slots=1, cores=1.0))
        self.assertEqual((outcome.seconds, outcome.peak_live_bytes), (4.0, 30.0))
        self.assertEqual(outcome.critical_path_s, 3.0)


class Parts(unittest.TestCase):
    def test_shares(self) -> None:
        """Two jobs share; the second starts when the first has half of its work behind it."""
        shared = Shared(1.0, 1.0)
        shared.add(1, 2.0, 0.0)
        shared.add(2, 2.0, 1.0)
        self.assertEqual(shared.next_end(), 3.0)
        self.assertEqual(shared.pop(3.0), 1)
        self.assertEqual(shared.next_end(), 4.0)
        self.assertEqual(shared.pop(4.0), 2)
        self.assertIsNone(shared.next_end())

    def test_log_of_a_run(self) -> None:
        def task(number: int, worker: str, began: float, ended: float) -> str:
            return json.dumps(
                {
                    "event": "task", "task": number, "verdict": "done", "worker": worker,
                    "began": began, "ended": ended,
                    "report": {"computed": [number], "read_bytes": 7, "written_bytes": 3},
                }
            )  # fmt: skip

        real = Run.parse(
            [
                '{"event": "run", "slots": 1, "threads": 2}',
                '{"event": "connected"}',
                task(0, "a", 10.0, 12.0),
                task(1, "b", 10.5, 11.0),
                task(2, "a", 12.25, 13.0),
            ]
        )
        self.assertEqual(real.efforts[0], Effort(2.0, 7.0, 3.0))
        self.assertEqual(real.waits, [0.25])
        self.assertEqual((real.blocks, real.threads), ({0: 1, 1: 1, 2: 1}, 2))
