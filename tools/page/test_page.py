"""The page of `trinim serve` in headless Chromium; see the script `check` beside this file.

The values that the page shows are compared with the definition of the game, computed here.
"""

import os
import re
import subprocess
import tempfile
import time
import unittest
from functools import cache
from pathlib import Path
from random import Random
from urllib.parse import unquote

import axe_playwright_python
from playwright.sync_api import sync_playwright

PROGRAM = os.environ["TRINIM"]
CHROMIUM = os.environ["CHROMIUM"]
SHOTS = os.environ.get("SHOTS")
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()


def lines(layers):
    """The lines of a triangle: rows, columns and diagonals, as lists of cells."""
    cell = lambda row, col: row * (row + 1) // 2 + col
    for fixed in range(layers):
        yield [cell(fixed, col) for col in range(fixed + 1)]
        yield [cell(row, fixed) for row in range(fixed, layers)]
        yield [cell(row, row - fixed) for row in range(fixed, layers)]


def moves(layers):
    runs = {
        frozenset(line[begin:end])
        for line in lines(layers)
        for begin in range(len(line))
        for end in range(begin + 1, len(line) + 1)
    }
    return [sum(1 << cell for cell in run) for run in runs]


@cache
def loses(layers, position):
    """Whether the player to move loses, in misère play."""
    children = [position ^ move for move in MOVES[layers] if position & move == move]
    return bool(children) and not any(loses(layers, child) for child in children)


@cache
def nimber(layers, position):
    """The least number that is no nimber of a child, in normal play."""
    children = {
        nimber(layers, position ^ move) for move in MOVES[layers] if position & move == move
    }
    return next(number for number in range(len(children) + 1) if number not in children)


@cache
def distance(layers, position):
    """The moves until the end, in misère play, if the winner hurries and the loser delays."""
    children = [position ^ move for move in MOVES[layers] if position & move == move]
    lost = [child for child in children if loses(layers, child)]
    far = [distance(layers, child) for child in lost or children]
    return 1 + (min(far) if lost else max(far)) if far else 0


MOVES = {4: moves(4)}


def groups(layers):
    """How many moves of the full board are alike: the orbits of moves under rotations and mirrors."""
    cells = [(row, col) for row in range(layers) for col in range(row + 1)]
    turned = [cells.index((layers - 1 - col, row - col)) for row, col in cells]
    mirrored = [cells.index((row, row - col)) for row, col in cells]
    orbits, left = [], set(MOVES[layers])
    while left:
        orbit = {left.pop()}
        while True:
            images = {
                sum(1 << image[cell] for cell in range(len(cells)) if move >> cell & 1)
                for move in orbit
                for image in (turned, mirrored)
            }
            if images <= orbit:
                break
            orbit |= images
        left -= orbit
        orbits.append([len(orbit), f"{len(orbit)} alike" if len(orbit) > 1 else None])
    return orbits


def mask(rows):
    return sum(1 << cell for cell, held in enumerate(rows.replace("/", "")) if held == "1")


def serve(*arguments):
    """Starts a server; returns its process and its address."""
    command = [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--quiet", *arguments]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return server, re.match(r"listening on (http://\S+)", server.stdout.readline()).group(1)


def stop(server):
    server.terminate()
    ended = server.wait(20)
    server.stdout.close()
    if ended != 0:
        raise AssertionError(f"the server ended with {ended}")


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server, cls.address = serve("--layers", "2,4,5")
        cls.playwright = sync_playwright().start()
        cls.browser = cls.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()
        stop(cls.server)

    def open(self, hash="", address=None, **options):
        """Opens the page, of another server if an address is given; requests to elsewhere and errors fail the test at its end."""
        address = address or self.address
        context = self.browser.new_context(**{"viewport": {"width": 1100, "height": 900}, **options})
        context.set_default_timeout(10_000)
        self.addCleanup(context.close)
        page = context.new_page()
        troubles = []
        page.on(
            "request", lambda request: request.url.startswith((address, "data:")) or troubles.append(request.url)
        )
        page.on("pageerror", lambda error: troubles.append(str(error)))
        # The page does not ask for what the server cannot know.
        page.on("console", lambda message: message.type != "error" or troubles.append(message.text))
        self.addCleanup(lambda: self.assertEqual(troubles, []))
        page.goto(address + hash)
        page.wait_for_selector(".cell")
        return page

    def shot(self, page, name):
        if SHOTS:
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)

    def cell(self, page, name):
        return page.locator(".cell", has=page.locator("text", has_text=re.compile(f"^{name}$")))

    def center(self, page, name):
        self.cell(page, name).scroll_into_view_if_needed()
        box = self.cell(page, name).locator("circle").first.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def until(self, page, expression):
        """Waits until an expression holds: Playwright would evaluate text in the page, whose policy forbids that."""
        end = time.monotonic() + 60
        while not page.evaluate(expression):
            self.assertLess(time.monotonic(), end, expression)
            page.wait_for_timeout(20)

    def address_of(self, page):
        """The address as the page has it: Playwright hears of a change later."""
        return page.evaluate("location.href")

    def held(self, page):
        return page.locator(".cell.piece").count()

    def yours(self, page):
        self.until(page, "document.querySelector('#turn').textContent.match(/(Your move|wins?)\\.$/)")

    def drag(self, page, names):
        page.mouse.move(*self.center(page, names[0]))
        page.mouse.down()
        for name in names[1:]:
            page.mouse.move(*self.center(page, name), steps=4)
        page.mouse.up()

    def test_a_move_is_dragged_and_the_program_answers(self):
        page = self.open("#board=triangle:5&rule=misere")
        self.drag(page, ["d", "e", "f"])
        self.yours(page)
        self.assertRegex(page.locator("#record").inner_text(), r"You: d-f\s+The program: \S+")
        self.assertLess(self.held(page), 12)
        before = self.held(page)
        # Around a corner, over a gap, from an empty cell: nothing happens.
        for names in (["a", "b", "e"], ["d", "d"], ["k", "a"]):
            if all(self.cell(page, name).evaluate("one => one.matches('.piece')") for name in (names[0], names[-1])):
                continue
            self.drag(page, names)
            self.assertEqual(self.held(page), before)
        self.shot(page, "game")

    def test_moves_are_chosen_by_clicks_by_keys_and_by_name(self):
        page = self.open("#board=triangle:4&opponent=person")
        self.drag(page, ["a", "b", "e"])
        self.assertEqual(self.held(page), 10)
        self.assertIn("No move leads from a to e.", page.locator("#turn").inner_text())
        self.cell(page, "g").click()
        self.cell(page, "j").click()
        self.assertEqual(self.held(page), 6)
        self.assertIn("Player 1 took g-j.", page.locator("#turn").inner_text())
        # One piece, chosen twice.
        self.cell(page, "a").click()
        self.cell(page, "a").click()
        self.assertEqual(self.held(page), 5)
        # By the keyboard alone: d to f.
        self.cell(page, "d").focus()
        for key in ("Enter", "ArrowRight", "ArrowRight", "Enter"):
            page.keyboard.press(key)
        self.assertEqual(self.held(page), 2)
        # The focus stays where it was.
        self.assertEqual(page.evaluate("document.activeElement.getAttribute('aria-label')"), "f, empty")
        page.keyboard.press("u")
        self.assertEqual(self.held(page), 5)
        page.keyboard.press("r")
        self.assertEqual(self.held(page), 2)
        for text, reason in (
            ("z", "no cell is named"),
            ("d", "no piece on d"),
            ("", "type a move"),
            ("b-c-b", "no move leads"),
        ):
            page.fill("#move", text)
            page.keyboard.press("Enter")
            self.assertIn(reason, page.locator("#unread").inner_text())
            self.assertTrue(page.locator("#unread").is_visible())
        page.fill("#move", "C-B")
        page.keyboard.press("Enter")
        self.assertIn("No piece can be taken: Player 1 wins.", page.locator("#turn").inner_text())
        self.assertEqual(page.locator("#unread").inner_text(), "")

    def test_values_are_those_of_the_definition(self):
        page = self.open("#board=triangle:4&rule=misere&opponent=person")
        page.check("#values")
        # Every piece that is left, down to the end.
        for taken in (None, "g-j", "a", "d-e", "f", "b", "c"):
            if taken:
                page.fill("#move", taken)
                page.keyboard.press("Enter")
            rows = re.search(r"p=([01/]+)", self.address_of(page)).group(1)
            position = mask(rows)
            legal = [move for move in MOVES[4] if position & move == move]
            self.until(page, f"document.querySelectorAll('#moves button').length === {len(legal)}")
            if not legal:
                self.until(page, "document.querySelector('#verdict').textContent === 'The game is over.'")
                break
            value = "loss" if loses(4, position) else "win"
            self.until(page, f"document.querySelector('#verdict span')?.className === '{value}'")
            wins = sum(loses(4, position ^ move) for move in legal)
            self.assertEqual(page.locator("#moves button.win").count(), wins, rows)
            if not taken:
                # Moves of the full board that are images of each other stand together: 2, 3 or 6 of them.
                found = page.locator("#moves li").evaluate_all(
                    "all => all.map(one => [one.querySelectorAll('button').length, one.querySelector('.soft')?.textContent])"
                )
                self.assertEqual(sorted(found), sorted(groups(4)), rows)
            good = [move for move in legal if loses(4, position ^ move)]
            marked = sum(
                1 << int(cell)
                for cell in page.locator(".cell.good").evaluate_all("all => all.map(one => one.dataset.cell)")
            )
            wanted = 0
            for move in good:
                wanted |= move
            self.assertEqual(marked, wanted, rows)
            # Without nimbers nothing speaks of them, but of the moves until the end.
            self.assertNotIn("imber", page.locator("#answer").inner_text())
            far = distance(4, position)
            self.assertIn(f" in {far} move{'s' if far > 1 else ''} for the player", page.locator("#verdict").inner_text())
            shown = page.locator("#moves .nimber").all_inner_texts()
            self.assertEqual(sorted(map(int, shown)), sorted(distance(4, position ^ move) for move in legal))

    def test_nimbers_are_shown_in_words_and_are_those_of_the_definition(self):
        with tempfile.TemporaryDirectory(prefix="trinim-page-") as scratch:
            folder = f"{scratch}/nimbers"
            solve = [PROGRAM, "solve", "--layers", "4", "--rule", "normal", "--values", "nimbers", "--out", folder]
            subprocess.run(solve, check=True, capture_output=True, timeout=60)
            server, address = serve(folder)
            self.addCleanup(stop, server)
            start = "#board=triangle:4&rule=normal&opponent=person"
            page = self.open(start, address)
            page.check("#values")
            for taken in (None, "g-j", "a", "d-e", "f", "b", "c"):
                if taken:
                    page.fill("#move", taken)
                    page.keyboard.press("Enter")
                rows = re.search(r"p=([01/]+)", self.address_of(page)).group(1)
                position = mask(rows)
                legal = [move for move in MOVES[4] if position & move == move]
                self.until(page, f"document.querySelectorAll('#moves button').length === {len(legal)}")
                words = f"nimber {nimber(4, position)}, for the player to move" if legal else "The game is over."
                self.until(page, f"document.querySelector('#verdict').textContent.includes({words!r})")
                shown = page.locator("#moves .nimber").all_inner_texts()
                self.assertEqual(sorted(map(int, shown)), sorted(nimber(4, position ^ move) for move in legal))
                for number, label in zip(
                    shown, page.locator("#moves button").evaluate_all("all => all.map(one => one.textContent)")
                ):
                    sign, verb = ("[+]", "wins") if number == "0" else ("−", "loses")
                    self.assertRegex(label, rf"^{sign} \S+ {verb}, nimber {number}$")
                self.assertEqual(page.locator("#numbers").is_visible(), bool(legal))
            for scheme in ("light", "dark"):
                for width in (1100, 360):
                    page = self.open(start, address, viewport={"width": width, "height": 900}, color_scheme=scheme)
                    page.check("#values")
                    page.wait_for_selector("#moves .nimber")
                    self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                    self.shot(page, f"nimbers-{width}-{scheme}")

    def test_why_names_the_answer_to_the_move_that_is_chosen(self):
        page = self.open("#board=triangle:2&opponent=person")
        page.check("#explain")
        self.assertIn("Choose a move", page.locator("#why").inner_text())
        self.cell(page, "a").click()
        self.until(page, "document.querySelector('#why').textContent.includes('the answer is')")
        self.assertRegex(page.locator("#why").inner_text(), r"a loses: the answer is [bc]\.")
        self.assertEqual(page.locator(".cell.reply").count(), 1)
        self.shot(page, "why")
        page.mouse.move(*self.center(page, "b"))
        self.until(page, "document.querySelector('#why').textContent.startsWith('a-b wins')")
        page.keyboard.press("Escape")

    def test_a_perfect_program_wins_what_is_won(self):
        page = self.open("#board=triangle:4&rule=misere&to=1")
        self.yours(page)
        page.check("#values")
        while not page.locator("#turn").inner_text().endswith("wins."):
            page.locator("#moves button").first.click()
            self.yours(page)
        self.assertIn("the program wins.", page.locator("#turn").inner_text())
        page.click("#undo")
        self.assertIn("Taken back. Your move.", page.locator("#turn").inner_text())
        page.click("#hint")
        self.until(page, "document.querySelector('#turn').textContent.startsWith('Hint: ')")
        # Every turn leads to the position after it, and later ones stay in the list.
        turns = page.locator("#record .played").count()
        page.locator("#record .played button").first.click()
        self.assertIn(f"After turn 1 of {turns}. Your move.", page.locator("#turn").inner_text())
        self.assertEqual(page.locator("#record .played").count(), turns)
        self.assertEqual(page.locator("#record .later").count(), turns - 1)
        # Looking back at a turn of the program lets it play nothing.
        page.locator("#record button").first.click()
        self.assertIn("The start. The program moved here.", page.locator("#turn").inner_text())
        page.click("#redo")
        page.click("#redo")
        self.assertEqual(page.locator("#record .later").count(), turns - 3)

    def enter(self, page, move):
        """Types a move, given as its mask, as the list of its cells."""
        page.fill("#move", ",".join(chr(ord("a") + cell) for cell in range(10) if move >> cell & 1))
        page.keyboard.press("Enter")

    def position_of(self, page):
        return mask(re.search(r"p=([01/]+)", self.address_of(page)).group(1))

    def says(self, page, text):
        self.until(page, f"document.querySelector('#turn').textContent.includes({text!r})")

    def test_a_puzzle_has_one_solution_and_counts_days(self):
        page = self.open("#board=triangle:4&rule=misere&to=1&opponent=perfect")
        self.yours(page)
        page.click("#puzzle")
        self.says(page, "exactly one move wins")
        position = self.position_of(page)
        legal = [move for move in MOVES[4] if position & move == move]
        right = [move for move in legal if loses(4, position ^ move)]
        self.assertEqual(len(right), 1, position)
        wrong = [move for move in legal if move not in right][:2]
        for move in wrong:
            self.enter(page, move)
            self.says(page, "loses")
            self.says(page, "Try again.")
            self.assertEqual(self.position_of(page), position)
            self.until(page, "document.querySelector('#move').value === ''")
            page.evaluate("document.querySelector('#turn').textContent = ''")
        self.enter(page, right[0])
        self.says(page, f"in {len(wrong) + 1} tries. 1 day in a row.")
        self.shot(page, "puzzle")
        # It was found, not played: now the program answers it.
        self.assertEqual(self.position_of(page), position)
        self.enter(page, right[0])
        self.yours(page)
        # The same day has the same puzzle, and counts once; a day after another counts on.
        for streak, days in (("", "1 day"), ("day: 20000101, days: 8", "1 day"), ("day: yesterday, days: 8", "9 days")):
            if streak:
                page.evaluate(
                    "{ const date = new Date(); date.setDate(date.getDate() - 1);"
                    "const yesterday = date.getFullYear() * 10000 + (date.getMonth() + 1) * 100 + date.getDate();"
                    f"localStorage.setItem('trinim.streak', JSON.stringify({{ {streak} }})); }}"
                )
            page.click("#puzzle")
            self.says(page, "exactly one move wins")
            self.assertEqual(self.position_of(page), position)
            self.enter(page, right[0])
            self.says(page, f"found at once. {days} in a row.")

    def test_teaching_warns_once_of_a_move_that_gives_the_game_away(self):
        page = self.open("#board=triangle:4&rule=misere&opponent=person")
        page.check("#teach")
        full = self.position_of(page)
        lost = next(move for move in MOVES[4] if not loses(4, full ^ move))
        self.enter(page, lost)
        self.says(page, "gives the game away: the answer is")
        self.assertEqual(self.position_of(page), full)
        self.enter(page, lost)
        self.says(page, "Player 1 took")
        self.assertEqual(self.position_of(page), full ^ lost)
        # A move that wins is played at once, and so is every move of a lost position.
        good = next(
            move for move in MOVES[4] if (full ^ lost) & move == move and loses(4, full ^ lost ^ move)
        )
        self.enter(page, good)
        self.until(page, "document.querySelectorAll('#record .played').length === 2")
        left = self.position_of(page)
        self.enter(page, next(move for move in MOVES[4] if left & move == move))
        self.until(page, "document.querySelectorAll('#record .played').length === 3")

    def test_mistakes_are_marked_and_the_game_is_text_that_the_program_reads(self):
        page = self.open("#board=triangle:4&rule=misere&opponent=person")
        page.check("#values")
        position, mistakes = self.position_of(page), []
        for turn in range(3):
            legal = [move for move in MOVES[4] if position & move == move]
            bad = [move for move in legal if not loses(4, position ^ move)]
            was_won = len(bad) < len(legal)
            move = min(bad or legal, key=lambda one: (one.bit_count(), one))
            mistakes.append(was_won and move in bad)
            self.enter(page, move)
            position ^= move
            self.until(page, f"document.querySelectorAll('#record .played').length === {turn + 1}")
            self.assertEqual(self.position_of(page), position)
        self.assertTrue(any(mistakes))
        marked = f"[...document.querySelectorAll('#record .played')].filter(one => one.querySelector('.loss')).length"
        self.until(page, f"{marked} === {sum(mistakes)}")
        found = page.locator("#record .played").evaluate_all("all => all.map(one => one.textContent.includes('a mistake: it was won in '))")
        self.assertEqual(found, mistakes)
        self.assertEqual("The last move was a mistake: it was won in " in page.locator("#verdict").inner_text(), mistakes[-1])
        self.shot(page, "marks")
        page.click("#swap")
        page.check("#edit")
        self.cell(page, "j").click()
        page.uncheck("#edit")
        text = unquote(page.locator("#text").get_attribute("href").split(",", 1)[1])
        with tempfile.TemporaryDirectory(prefix="trinim-page-") as scratch:
            Path(scratch, "game.txt").write_text(text)
            play = [PROGRAM, "play", "--layers", "4"]
            shown = subprocess.run(
                play, input="replay game.txt\n", capture_output=True, text=True, cwd=scratch, timeout=60, check=True
            ).stdout
        self.assertIn("sides exchanged", shown, text)
        self.assertEqual(shown.count("gives the game away"), sum(mistakes), text)
        self.assertIn("set up ", shown, text)

    def test_the_game_goes_by_keys_has_variations_and_a_graph(self):
        page = self.open("#board=triangle:4&rule=misere&opponent=person")
        page.check("#values")
        positions = [self.position_of(page)]

        def play(text):
            page.fill("#move", text)
            page.keyboard.press("Enter")
            positions.append(self.position_of(page))

        for text in "g-j", "a", "d":
            play(text)
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        self.says(page, "After turn 1 of 3. Player 2 to move.")
        self.assertEqual(self.position_of(page), positions[1])
        page.keyboard.press("ArrowRight")
        self.assertEqual(self.position_of(page), positions[2])
        page.keyboard.press("ArrowLeft")
        # The same turn goes on in the list, another one begins a variation.
        page.fill("#move", "a")
        page.keyboard.press("Enter")
        self.assertEqual(page.locator("#record .later").count(), 1)
        page.locator("#record button").nth(1).click()
        play("b-c")
        self.assertEqual(page.locator("#record .played").count(), 2)
        self.assertEqual(page.locator("#record .variation").inner_text(), "instead: a d")
        other = positions.pop()
        page.click("#record .variation")
        self.assertEqual(self.position_of(page), positions[2])
        self.assertEqual(page.locator("#record .played").count(), 3)
        self.assertEqual(page.locator("#record .variation").inner_text(), "instead: b-c")
        page.click("#record .variation")
        self.assertEqual(self.position_of(page), other)
        page.click("#record .variation")
        self.shot(page, "variation")
        # A bar for each position, up where the first player wins, and each leads there.
        self.until(page, "document.querySelectorAll('#graph rect').length === 4")
        bars = page.locator("#graph rect").evaluate_all(
            "all => all.map(one => [one.classList[0], Number(one.getAttribute('height'))])"
        )
        for turn, (position, (kind, height)) in enumerate(zip(positions, bars)):
            self.assertEqual(kind, "down" if loses(4, position) == (turn % 2 == 0) else "up", turn)
            self.assertAlmostEqual(height, 1 - 0.02 * distance(4, position))
        label = page.get_attribute("#graph", "aria-label")
        self.assertEqual(re.findall(r"Player \d", label), [f"Player {1 + (kind == 'down')}" for kind, _ in bars])
        page.locator("#graph rect").first.click()
        self.assertEqual(self.position_of(page), positions[0])

    def test_a_game_is_shared_as_pictures_and_text_and_read_again(self):
        page = self.open("#board=triangle:4&rule=normal&opponent=person")
        for text in "g-j", "a":
            page.fill("#move", text)
            page.keyboard.press("Enter")
        page.check("#edit")
        self.cell(page, "j").click()
        page.uncheck("#edit")
        page.click("#swap")
        address = self.address_of(page)
        with tempfile.TemporaryDirectory(prefix="trinim-page-") as scratch:
            for kind in "svg", "png":
                with page.expect_download() as saved:
                    page.click(f"#{kind}")
                saved.value.save_as(f"{scratch}/{kind}")
            svg = Path(scratch, "svg").read_text()
            self.assertEqual((svg.count("<circle"), svg.count("#33475b")), (10, 6))
            png = Path(scratch, "png").read_bytes()
            self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
            self.assertGreater(int.from_bytes(png[16:20]), 200)
        text = unquote(page.locator("#text").get_attribute("href").split(",", 1)[1])
        other = self.open("#board=triangle:5&opponent=person")
        other.click("details:has(#paste) summary")
        for bad, reason in (
            ("nonsense", "line 1: expected"),
            (text.replace("g-j", "g-z"), "line 6: no cell is named “z”"),
            (text.replace("triangle:4", "triangle:3"), "line 5: board triangle:3, rule normal: not offered here"),
            (text.replace("swap", "jump"), "line 9: jump is not understood"),
            ("# trinim game\n", "the game ends before it began"),
        ):
            other.fill("#game", bad)
            other.click("#paste button")
            self.assertIn(f"Not read: {reason}", other.locator("#misread").inner_text())
        other.fill("#game", text)
        other.click("#paste button")
        self.says(other, "The game was read:")
        self.assertEqual(self.address_of(other), address)
        self.assertEqual(
            other.locator("#record .played").all_inner_texts(), page.locator("#record .played").all_inner_texts()
        )

    def test_every_step_of_a_game_is_kept_and_its_text_is_read_again(self):
        page, other = (self.open("#board=triangle:4&opponent=person") for _ in range(2))
        other.click("details:has(#paste) summary")
        page.on("dialog", lambda dialog: dialog.accept())
        random = Random(2)
        for _ in range(2):
            page.click("#new")
            # Positions and players by turn; which turn is shown; what else followed a turn.
            line, at, variations = [self.address_of(page)], 0, []
            step, is_set = "", False
            for _ in range(20):
                position = mask(re.search(r"p=([01/]+)", line[at]).group(1))
                legal = [move for move in MOVES[4] if position & move == move]
                steps = ["undo"] * 3 * (at > 0) + ["redo"] * (at + 1 < len(line)) + ["variation"] * len(variations)
                # A swap says who moves in a position that was set up.
                is_part = step == "set"
                steps += ["take"] * 3 * bool(legal) + ["swap"] * (bool(legal) and (is_part or not is_set))
                steps += ["set"] * (not is_set)
                step = random.choice(steps)
                is_set = False
                if step in ("undo", "redo"):
                    page.click(f"#{step}")
                    at += 1 if step == "redo" else -1
                    is_set = True
                elif step == "variation":
                    variations.sort(key=lambda one: one[0])
                    chosen = random.randrange(len(variations))
                    page.locator("#record .variation").nth(chosen).click()
                    (begin, turns), rest = variations[chosen], variations[:chosen] + variations[chosen + 1 :]
                    variations = [one for one in rest if one[0] <= begin] + [(begin, line[begin + 1 :])]
                    line, at, is_set = line[: begin + 1] + turns, begin + 1, True
                elif step == "swap" and is_part:
                    page.click("#swap")
                    variations = [one for one in variations if one[0] < at]
                    line, is_set = line[:at] + [self.address_of(page)], True
                else:
                    if step == "take":
                        cells = random.choice(legal)
                        page.fill("#move", ",".join(chr(97 + cell) for cell in range(10) if cells >> cell & 1))
                        page.keyboard.press("Enter")
                    elif step == "set":
                        page.check("#edit")
                        self.cell(page, random.choice("abcdefghij")).click()
                        page.uncheck("#edit")
                        is_set = True
                    else:
                        page.click("#swap")
                    turn = self.address_of(page)
                    if line[at + 1 : at + 2] != [turn]:
                        variations = [one for one in variations if one[0] <= at]
                        variations += [(at, line[at + 1 :])] * (at + 1 < len(line))
                        line = line[: at + 1] + [turn]
                    at += 1
                self.assertEqual(self.address_of(page), line[at], step)
                self.assertEqual(page.locator("#record .played").count(), len(line) - 1, step)
                shown = page.locator("#record .variation").all_inner_texts()
                kept = [len(turns) for _, turns in sorted(variations, key=lambda one: one[0])]
                self.assertEqual([len(text.split()) - 1 for text in shown], kept, step)
                text = lambda page: unquote(page.locator("#text").get_attribute("href").split(",", 1)[1])
                other.fill("#game", text(page))
                other.click("#paste button")
                self.assertEqual((text(other), self.address_of(other)), (text(page), line[at]), step)
                self.assertEqual(other.locator("#record .played").count(), at, text(page))

    def test_the_first_visit_explains_the_rules_on_the_board(self):
        page = self.open()
        chosen = "[...document.querySelectorAll('.cell.chosen')].map(one => Number(one.dataset.cell))"
        of = lambda cells: sum(1 << cell for cell in cells)
        self.assertIn("1 of 3.", page.locator("#step").inner_text())
        self.assertIn(of(page.evaluate(chosen)), MOVES[4])
        page.click("#next")
        self.assertIn("2 of 3. Not over a gap, and not around a corner", page.locator("#step").inner_text())
        apart = of(page.evaluate(chosen))
        self.assertEqual((apart.bit_count(), any(move & apart == apart for move in MOVES[4])), (3, False))
        self.shot(page, "guide")
        page.click("#next")
        self.assertRegex(page.locator("#step").inner_text(), "3 of 3. .* last piece")
        page.click("#next")
        self.assertFalse(page.locator("#guide").is_visible())
        self.assertEqual(page.evaluate(chosen), [])
        # Once; then when it is asked for, and whoever follows a link to a game sees the game.
        page.evaluate("history.replaceState(null, '', '/')")
        page.reload()
        page.wait_for_selector(".cell.piece")
        self.assertFalse(page.locator("#guide").is_visible())
        page.click("#rules-again")
        self.assertTrue(page.locator("#guide").is_visible())
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        self.assertFalse(page.locator("#guide").is_visible())
        self.assertFalse(self.open("#board=triangle:4").locator("#guide").is_visible())
        # The first game can be won.
        self.assertFalse(loses(4, mask(re.search(r"p=([01/]+)", self.address_of(page)).group(1))))

    def test_everything_switched_on_fits_and_has_no_finding_of_axe(self):
        for scheme in "light", "dark":
            for width, height in (320, 640), (390, 844), (1280, 900):
                page = self.open(
                    "#board=triangle:5&opponent=person",
                    viewport={"width": width, "height": height},
                    color_scheme=scheme,
                    has_touch=width < 1000,
                )
                for switch in "values", "explain", "teach":
                    page.check(f"#{switch}")
                for text in "k-o", "k-o", "a", "a":
                    page.fill("#move", text)
                    page.keyboard.press("Enter")
                    page.wait_for_timeout(200)
                page.click("#undo")
                page.fill("#move", "d")
                page.keyboard.press("Enter")
                page.fill("#move", "d")
                page.keyboard.press("Enter")
                page.wait_for_selector("#graph rect")
                page.evaluate("document.activeElement.blur(), scrollTo(0, 0)")
                # Board, verdict and moves are seen at once.
                self.assertLess(page.locator("#moves button").first.bounding_box()["y"] + 34, height, width)
                for summary in "#statistics summary", "details:has(#paste) summary":
                    page.click(summary)
                page.wait_for_selector("#counts table")
                page.click("#rules-again")
                self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                page.evaluate(AXE)
                found = page.evaluate("axe.run().then(found => found.violations.map(one => [one.id, one.nodes[0].html]))")
                self.assertEqual(found, [], f"{scheme} {width}")
                self.shot(page, f"everything-{width}-{scheme}")
        # All that is loaded before the first picture, uncompressed.
        loaded = page.evaluate(
            "performance.getEntriesByType('resource').filter(one => !one.name.includes('/v1/'))"
            ".reduce((sum, one) => sum + one.decodedBodySize, 0)"
        )
        self.assertTrue(20_000 < loaded < 200_000, loaded)

    def test_the_address_keeps_the_position(self):
        page = self.open("#board=triangle:5&rule=normal&opponent=person")
        page.fill("#move", "d-f")
        page.keyboard.press("Enter")
        self.assertIn("p=1/11/000/1111/11111&to=1", self.address_of(page))
        page.reload()
        page.wait_for_selector(".cell.piece")
        self.assertEqual(self.held(page), 12)
        self.assertEqual(page.input_value("#rule"), "normal")
        self.assertTrue(page.locator("#link").get_attribute("href").endswith("&opponent=person"))
        page.check("#edit")
        self.cell(page, "e").click()
        self.assertIn("p=1/11/010/1111/11111", self.address_of(page))
        self.assertEqual(page.evaluate("document.activeElement.getAttribute('aria-label')"), "e, piece")
        page.uncheck("#edit")
        page.click("#swap")
        self.assertIn("to=0", self.address_of(page))
        # Cells and the player, changed one after another, are one turn.
        page.check("#edit")
        for name in "e", "g", "h":
            self.cell(page, name).click()
        page.uncheck("#edit")
        self.assertEqual(page.locator("#record").inner_text().count("position set up"), 1)
        # Nonsense is not taken, and said.
        odd = self.open("#board=triangle:99&rule=nim&p=1/2&to=7&opponent=god")
        self.assertEqual(self.held(odd), 10)
        said = odd.locator("#turn").inner_text()
        for wrong in ("board triangle:99", "rule nim", "opponent god", "position 1/2"):
            self.assertIn(wrong, said)
        page.evaluate("location.hash = '#board=triangle:4&p=1/00/000/0000'")
        self.until(page, "document.querySelectorAll('.cell').length === 10")
        self.assertEqual(self.held(page), 1)

    def test_nine_layers_say_what_has_to_be_solved(self):
        page = self.open("#board=triangle:9&rule=misere&opponent=person")
        page.check("#values")
        page.wait_for_selector("#moves button.win")
        self.assertEqual(self.held(page), 45)
        # Words for the ears, beside 405 moves, made the page five screens long.
        self.assertLess(page.evaluate("document.documentElement.scrollHeight"), 1500)
        self.shot(page, "nine")
        # So many pieces take a while: the page says so, and can be told to stop.
        page.evaluate("location.hash = '#board=triangle:9&p=1/11/111/1111/11111/111111/1111111/11110000/000000000'")
        self.until(page, "/^(Solving this position: \\d+ %|Another)/.test(document.querySelector('#share').textContent)")
        page.click("#leave")
        self.until(page, "document.querySelector('#verdict').textContent.includes('Not solved: it was left.')")
        self.assertFalse(page.locator("#waiting").is_visible())
        page.click("#hint")
        page.wait_for_selector("#waiting", state="visible")
        self.until(page, "/^Hint: .* (wins|every move loses)/.test(document.querySelector('#turn').textContent)")
        self.assertFalse(page.locator("#waiting").is_visible())
        page.uncheck("#values")
        page.check("#values")
        self.until(page, "document.querySelector('#verdict').textContent.includes('for the player to move')")
        self.assertFalse(page.locator("#waiting").is_visible())
        # Few enough pieces are solved on the spot.
        page.evaluate("location.hash = '#board=triangle:9&p=1/11/111/0000/00000/000000/0000000/00000000/000000000'")
        self.until(page, "document.querySelector('#verdict').textContent.includes('for the player to move')")

    def test_statistics_are_shown(self):
        page = self.open("#board=triangle:5&rule=misere")
        page.click("#statistics summary")
        page.wait_for_selector("#counts table")
        self.assertIn("32,768 positions, 3,902 of them lost", page.locator("#counts").inner_text())
        self.assertEqual(page.locator("#counts tbody tr").count(), 16)
        self.shot(page, "statistics")

    def test_on_a_phone_everything_fits_and_is_touched(self):
        for scheme in ("light", "dark"):
            page = self.open(
                "#board=triangle:5&opponent=person",
                viewport={"width": 360, "height": 740},
                has_touch=True,
                is_mobile=True,
                color_scheme=scheme,
            )
            page.check("#values")
            page.wait_for_selector("#moves button")
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 360)
            small = page.evaluate(
                "[...document.querySelectorAll('button, select, input:not([type])')].filter(one => one.checkVisibility())"
                ".filter(one => one.getBoundingClientRect().height < 34).map(one => one.id || one.textContent)"
            )
            self.assertEqual(small, [])
            self.shot(page, f"phone-{scheme}")
            page.touchscreen.tap(*self.center(page, "k"))
            page.touchscreen.tap(*self.center(page, "o"))
            self.assertEqual(self.held(page), 10)

    def test_a_screen_reader_finds_names_roles_and_news(self):
        page = self.open("#board=triangle:4")
        unnamed = page.evaluate(
            "[...document.querySelectorAll('button, select, input, summary, a, [role=button]')]"
            ".filter(one => !(one.labels?.length"
            " || one.getAttribute('aria-label') || one.textContent.trim())).map(one => one.outerHTML)"
        )
        self.assertEqual(unnamed, [])
        self.assertEqual(page.locator(".cell").evaluate_all("all => all.filter(one => one.tabIndex === 0).length"), 1)
        self.assertEqual(self.cell(page, "d").get_attribute("role"), "button")
        self.assertEqual(self.cell(page, "d").get_attribute("aria-label"), "d, piece")
        self.cell(page, "d").click()
        self.assertEqual(self.cell(page, "d").get_attribute("aria-pressed"), "true")
        self.assertEqual(page.locator("#turn").get_attribute("aria-live"), "polite")
        self.assertEqual(page.get_attribute("html", "lang"), "en")
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
        self.assertEqual(len(ids), len(set(ids)))

    def test_colours_can_be_told_apart_in_light_and_dark(self):
        def luminance(colour):
            parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
            linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

        def contrast(one, other):
            lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
            return (lighter + 0.05) / (darker + 0.05)

        for scheme in ("light", "dark"):
            page = self.open("#board=triangle:5", color_scheme=scheme)
            names = ["ground", "card", "ink", "soft", "piece", "mark", "win", "loss", "unknown", "button", "focus"]
            colours = page.evaluate(
                "names => Object.fromEntries(names.map(name => { const one = document.createElement('i');"
                " one.style.color = `var(--${name})`; document.body.append(one);"
                " return [name, getComputedStyle(one).color]; }))",
                names,
            )
            # Text needs 4.5, shapes 3 (WCAG 2.2, 1.4.3 and 1.4.11).
            for one, other, least in [
                ("ink", "card", 4.5),
                ("ink", "ground", 4.5),
                ("ink", "button", 4.5),
                ("soft", "card", 4.5),
                ("soft", "ground", 4.5),
                ("win", "card", 4.5),
                ("loss", "card", 4.5),
                ("unknown", "card", 4.5),
                ("focus", "card", 4.5),
                ("card", "piece", 4.5),
                ("card", "mark", 4.5),
                ("win", "button", 4.5),
                ("loss", "button", 4.5),
                ("piece", "card", 3),
                ("focus", "ground", 3),
            ]:
                found = contrast(colours[one], colours[other])
                self.assertGreaterEqual(found, least, f"{scheme}: {one} on {other}")
            self.shot(page, f"wide-{scheme}")


if __name__ == "__main__":
    unittest.main()
