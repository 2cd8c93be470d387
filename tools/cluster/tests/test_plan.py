"""Lines of the plan, and the longest path behind each task."""

import json
import random
import unittest

from trinim_cluster.plan import Plan, PlanError, Task, parse


def random_plan(chance: random.Random, tasks: int, sources: int) -> Plan:
    """Tasks in random order of numbers, each with some earlier ones as sources."""
    numbers = list(range(100, 100 + tasks))
    chance.shuffle(numbers)
    made: list[Task] = []
    for index, number in enumerate(numbers):
        some = chance.sample(numbers[:index], min(index, chance.randint(0, sources)))
        level = 1 + max((task.level for task in made if task.number in some), default=-1)
        made.append(Task(number, (number,), tuple(some), level, chance.choice([0.5, 1.0, 3.0])))
    return Plan(made)


def block(**fields: object) -> str:
    return json.dumps({"block": 0, "level": 0, "sources": [], "targets": 0, "cost": 1} | fields)


class Lines(unittest.TestCase):
    def test_blocks(self) -> None:
        plan = parse([block(), "", block(block=7, sources=[0], level=1, cost=2.5)])
        self.assertEqual(plan.tasks[7], Task(7, (7,), (0,), 1, 2.5))
        self.assertEqual(plan.targets, {0: [7], 7: []})
        self.assertEqual((plan.blocks, plan.cost, plan.longest[0]), (2, 3.5, 3.5))

    def test_batches(self) -> None:
        lines = [
            '{"batch": 0, "blocks": [3, 5], "sources": [], "level": 0, "cost": 2}',
            '{"batch": 1, "blocks": [4], "sources": [0], "level": 1, "cost": 1, "later": "field"}',
        ]
        plan = parse(lines)
        self.assertEqual(plan.tasks[0].blocks, (3, 5))
        self.assertEqual(plan.task_of_block, {3: 0, 5: 0, 4: 1})
        self.assertEqual(plan.blocks, 3)

    def test_lines_that_cannot_be_right(self) -> None:
        for bad in (
            "{",
            "[]",
            "{}",
            block(block=-1),
            block(block=True),
            block(block="1"),
            block(sources=["0"]),
            block(sources=None),
            block(cost=-1),
            block(cost=float("nan")),
            block(cost="much"),
            '{"batch": 0, "blocks": [], "sources": [], "level": 0, "cost": 1}',
        ):
            with self.subTest(bad), self.assertRaises(PlanError) as raised:
                parse([bad])
            self.assertIn("line 1", str(raised.exception))

    def test_a_source_comes_first(self) -> None:
        with self.assertRaisesRegex(PlanError, "task 0 comes before its source 1"):
            parse([block(sources=[1]), block(block=1)])

    def test_no_task_and_no_block_twice(self) -> None:
        with self.assertRaisesRegex(PlanError, "task 0 is listed twice"):
            parse([block(), block()])
        with self.assertRaisesRegex(PlanError, "block 9 is listed twice"):
            Plan([Task(0, (9,), (), 0, 1.0), Task(1, (9,), (), 0, 1.0)])


class LongestPath(unittest.TestCase):
    def test_against_all_paths(self) -> None:
        """The definition, path by path."""
        chance = random.Random(1)

        def longest(plan: Plan, number: int) -> float:
            paths = [longest(plan, target) for target in plan.targets[number]]
            return plan.tasks[number].cost + max(paths, default=0.0)

        for _ in range(50):
            plan = random_plan(chance, chance.randint(1, 14), 3)
            for number in plan.tasks:
                self.assertEqual(plan.longest[number], longest(plan, number))

    def test_no_tasks(self) -> None:
        self.assertEqual(parse([]).longest, {})
