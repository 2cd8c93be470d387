"""Bytes and requests of a plan, counted by hand."""

import unittest

from trinim_cluster.estimate import Requests, efforts, measured, size
from trinim_cluster.plan import Plan, PlanError, Task
from trinim_cluster.simulate import Effort, Run


class Figures(unittest.TestCase):
    def setUp(self) -> None:
        self.plan = Plan([Task(0, (0, 1), (), 0, 6.0, 0), Task(1, (2,), (0,), 1, 2.0, 2)])

    def test_a_task_reads_each_file_once(self) -> None:
        expected = {0: Effort(3.0, 0.0, 20.0), 1: Effort(1.0, 20.0, 10.0)}
        self.assertEqual(efforts(self.plan, 10.0, 2), expected)

    def test_a_block_reads_its_sources(self) -> None:
        alone = Plan([Task(0, (0,), (), 0, 1.0), Task(1, (1,), (0,), 1, 1.0)])
        self.assertEqual(efforts(alone, 10.0, 1)[1], Effort(1.0, 10.0, 10.0))

    def test_a_part_of_a_run_measures_the_rates(self) -> None:
        """One of two blocks took 9 s on two threads where its share of the cost was 3."""
        part = Run({0: Effort(9.0), 1: Effort(1.0)}, [], {0: 1, 1: 0}, threads=2)
        self.assertEqual(measured(part, self.plan), 6.0)
        for blocks in ({}, {0: 0}, {0: 3}, {7: 1}):
            with self.assertRaises(PlanError):
                measured(Run({0: Effort(9.0), 7: Effort(1.0)}, [], blocks), self.plan)

    def test_requests(self) -> None:
        """Three blocks: looked for, read in the end, two files of sources; two lists, a definition."""
        self.assertEqual(Requests.of(self.plan, True), Requests(11, 9, 4, 3))
        self.assertEqual(Requests.of(self.plan, False), Requests(8, 9, 2, 0))
        self.assertAlmostEqual(Requests(10, 2, 1, 9).dollars, 4e-6 + 15e-6)

    def test_sizes(self) -> None:
        self.assertEqual(size(1536), "1.5 KiB")
        self.assertEqual(size(1374 * 2.0**40), "1,374.0 TiB")


if __name__ == "__main__":
    unittest.main()
