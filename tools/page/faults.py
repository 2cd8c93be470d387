"""Plants faults in the page, one at a time, and checks that the test that should notice does.

`python faults.py [WORD..]` takes TRINIM and CHROMIUM like `check`, and only faults that have one of
the words in their file or test. Each test has to pass on the unchanged sources first.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = Path(os.environ.get("PAGE") or HERE.parents[1] / "src/serve/page")

#: A file of the page, a text that it has once, what stands there instead, and the test.
FAULTS = [
    ("page.css", "main { height: calc(100dvh", "main { height: calc(130dvh", "all_that_a_state_needs_is_in_sight"),
    ("board.js", "run.reach < far + 0.5", "run.reach < far - 0.5", "drags_go_along_the_lines_that_are_offered"),
    ("board.js", '"pointercancel"', '"pointerlost"', "a_drag_ends_at_a_gap_and_can_be_given_up"),
    ("page.css", ".crowded #corner { position: static;", ".crowded #corner {", "any_board_is_played"),
    ("story.js", "const line = count(game.position) ?", "const line = false ?", "boards_of_files_and_limits_of_takes_are_played"),
    ("story.js", 'if (hadFocus) $("next").focus();', "", "a_whole_game_is_played_by_keys"),
    ("page.css", ".keys .cell:focus-visible .ring { stroke: var(--accent);", ".keys .cell:focus-visible .ring {", "a_whole_game_is_played_by_keys"),
    ("board.js", "(this.editing || this.game.has(index)) && along", "along", "arrows_and_replies_lead_to_the_nearest_piece"),
    ("board.js", "this.cells[near].focus({ preventScroll: true });", "{}", "arrows_and_replies_lead_to_the_nearest_piece"),
    ("page.js", 'if (given.has("at"))', 'if (given.has("to"))', "the_address_holds_the_game"),
    ("table.js", "[500, 500, [500, 1000, 2000]]", "[500, 500, []]", "lost_answers_are_asked_for_again"),
    ("table.js", "import.meta.url", "location.origin", "the_page_works_below_a_path_of_a_proxy"),
    ("page.css", "  .chart { flex: 1;", "  .chart {", "statistics_have_no_hole_and_nothing_is_cut"),
    ("story.js", "game.playerAt(index) === loser", "game.playerAt(index) === winner", "the_end_names_the_move_that_decided"),
    ("story.js", 'move.value === "loss"', 'move.value === "win"', "the_analysis_agrees_with_the_definition"),
    ("story.js", "(isWin(one) ? game.playerAt(index)", "(!isWin(one) ? game.playerAt(index)", "every_bar_of_the_graph_is_a_link_with_its_value"),
    ("puzzle.js", "streak(known, today()) || ", "", "a_puzzle_has_one_solution_and_days_are_counted"),
    ("story.js", "!isWin(found) || !isWin(after)", "!isWin(found) || isWin(after)", "warnings_show_the_answer_and_the_same_move_again_plays"),
    ("share.js", "take ${game.name(move)}", "took ${game.name(move)}", "a_game_is_shared_as_link_picture_and_text"),
    ("table.js", '$("solving").hidden = $("stop").hidden', '$("solving").hidden', "nine_layers_are_played_to_the_end"),
    ("page.js", "if (!view.locked) return change();", "if (!view.locked) return;", "nine_layers_offer_to_solve_and_can_be_stopped"),
    ("index.html", ' aria-label="Opponent"', "", "no_finding_of_axe_in_any_state"),
    ("index.html", ' aria-label="Who moves"', "", "no_finding_of_axe_in_any_state"),
    ("index.html", ' aria-label="Share"></dialog>', "></dialog>", "a_game_is_shared_as_link_picture_and_text"),
    ("page.css", "{ :root { --target: 44px; --small: 44px; --row: 44px; } }", "{}", "targets_are_large_enough"),
    ("page.css", "scroll-padding: 8px 0 72px;", "", "nothing_is_cut_or_out_of_reach"),
    ("page.css", ".bar > select { flex-basis: 100%; }", "", "nothing_is_cut_or_out_of_reach"),
    ("page.css", "max-width: 560px;", "min-width: 660px;", "nothing_is_cut_or_out_of_reach"),
    ("page.css", ".sketch .empty { fill: Canvas;", ".sketch .empty { fill: CanvasText;", "forced_colours_tell_pieces_from_holes"),
    ("page.css", "nav a:not([aria-current]) { border-color: Canvas; }", "", "forced_colours_tell_pieces_from_holes"),
    ("index.html", '<link rel="modulepreload" href="game.js">', '<link rel="modulepreload" href="stats.js">', "the_first_load_is_small"),
    ("index.html", '<link rel="preload" href="v1/boards" as="fetch" crossorigin>', "", "the_first_load_takes_two_trips"),
    ("page.js", "game.isPast ? { move", "false ? { move", "in_play_it_is_always_someones_turn"),
    ("page.js", "before() >= 0) walk(before())", "game.at > 0) walk(game.at - 1)", "in_play_it_is_always_someones_turn"),
    ("page.js", 'isFirst &&= state === "first";', "", "what_is_set_up_first_is_shared"),
    ("share.js", "copy(url), {", "copy(`trinim ${url}`), {", "what_is_set_up_first_is_shared"),
    ("table.js", "parts[part] = null;", "", "parts_that_do_not_arrive_are_said_and_loaded_again"),
    ("index.html", '<p id="lost">', '<p id="lost" hidden>', "parts_that_do_not_arrive_are_said_and_loaded_again"),
    ("story.js", "found.distance !== null && !found.moves_not_kept &&", "!found.moves_not_kept ||", "where_no_distance_is_known_none_is_claimed"),
    ("page.css", ".long { font-size: clamp(10px, 3.5cqi, 14px); }", "", "statistics_fit_into_every_window"),
    ("stats.js", "window.onresize =", "window.unused =", "statistics_fit_into_every_window"),
    ("page.css", "max-height: max(45dvh, var(--floor))", "max-height: 45dvh", "a_zoomed_page_has_as_large_a_board"),
    ("table.js", "if (next > performance.now())", "if (false)", "keys_that_are_held_do_no_harm"),
    ("table.js", "catch { timer = setTimeout(flush, 10 * PAUSE); }", "finally { }", "keys_that_are_held_do_no_harm"),
    ("page.js", "if (!event.repeat ||", "if (event.repeat ||", "keys_that_are_held_do_no_harm"),
    ("page.js", "one.id.slice(2)", "one.textContent.toLowerCase()", "a_translated_page_works"),
    ("board.js", "event.code.match", "false && event.code.match", "keys_of_other_scripts_are_those_of_their_place"),
    ("puzzle.js", "record = recordOf(days()[id()]);", "record = NEW;", "tries_and_hints_of_a_day_are_kept"),
    ("puzzle.js", "if (record.solved || recordOf(days()[id()]).solved) return;", "", "tries_and_hints_of_a_day_are_kept"),
    ("puzzle.js", "!extra && offer === daily()", "!extra", "a_day_has_one_puzzle"),
    ("puzzle.js", "const id = () => (isDaily() ?", "const id = () => (!extra || isDaily() ?", "a_day_has_one_puzzle"),
    ("puzzle.js", "solved: isSolved && !record.shown", "solved: isSolved", "a_puzzle_has_one_solution_and_days_are_counted"),
    ("puzzle.js", '=== "solved"; one = before(one)', '!== "open"; one = before(one)', "a_puzzle_has_one_solution_and_days_are_counted"),
    ("table.js", "JSON.parse(window[area].getItem(`trinim.${key}`)) ?? {}", "JSON.parse(window[area].getItem(`trinim.${key}`))", "what_other_programs_stored_does_no_harm"),
    ("page.css", "--soft: #59626e", "--soft: #8a929c", "colours_can_be_told_apart_in_light_and_dark"),
    ("table.js", "found.status < 502", "found.status < 500", "failures_of_the_server_are_said_in_its_words"),
    ("table.js", '!error.includes("not known here")', "false", "failures_of_the_server_are_said_in_its_words"),
    ("puzzle.js", "if (waits !== epoch) return;", "", "answers_that_come_too_late_change_nothing"),
    ("page.js", "  view.locked = true;", "", "answers_that_come_too_late_change_nothing"),
    ("puzzle.js", "if (asked === epoch) trouble(error, () => attempt", "trouble(error, () => attempt", "answers_that_come_too_late_change_nothing"),
    ("puzzle.js", "if (asked === epoch) trouble(error, () => withWinner", "trouble(error, () => withWinner", "answers_that_come_too_late_change_nothing"),
    ("page.js", "game.moves.length > game.first;", "game.moves.length > 0;", "a_game_that_is_left_can_be_taken_back"),
    ("table.js", "game?.moves.length > game?.first", "game?.moves.length", "a_game_that_is_left_can_be_taken_back"),
    ("page.js", "{ replace(new Game", "{ place(new Game", "a_game_that_is_left_can_be_taken_back"),
    ("page.js", "if (isChanged || isOther)", "if (isChanged)", "the_address_holds_the_game"),
    ("page.js", "view.locked || game.winner() !== null", "view.locked", "the_end_names_the_move_that_decided"),
    ("table.js", 'if (!isSolving && !$("solving").hidden)', "if (false)", "nine_layers_offer_to_solve_and_can_be_stopped"),
    ("story.js", "if (!waits && isSolvable &&", "if (held < least && !waits && isSolvable &&", "stored_values_are_shown_without_a_solve"),
    ("puzzle.js", 'isAgain ? "Solved again" : ', "", "tries_and_hints_of_a_day_are_kept"),
    ("puzzle.js", "view.update(game);", "view.choose(null);", "a_puzzle_has_one_solution_and_days_are_counted"),
    ("puzzle.js", 'if (hadFocus) $("b-tries").querySelector("button").focus();', "", "focus_stays_near_what_was_pressed"),
    ("puzzle.js", 'if (hadFocus) $("b-days").querySelector("[aria-current]")?.focus();', "", "focus_stays_near_what_was_pressed"),
    ("story.js", "more[0].focus();", "", "focus_stays_near_what_was_pressed"),
    ("page.js", '"The opponent begins: press Start."', '$("how").textContent', "what_is_set_up_first_is_shared"),
]


def reason(test, folder):
    """Why a test fails on a folder of sources; None if it passes."""
    command = [sys.executable, "-m", "unittest", f"test_page.Page.test_{test}"]
    env = {"PATIENCE": "20", **os.environ, "PAGE": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(command, cwd=HERE, env=env, capture_output=True, text=True, timeout=900)
    said = [line for line in ended.stderr.splitlines() if "Error" in line]
    return (said or ["?"])[-1][:120] if ended.returncode else None


def main():
    chosen = [one for one in FAULTS if any(word in one[0] + one[3] for word in sys.argv[1:] or [""])]
    for file, old, _, test in chosen:
        found = (SOURCES / file).read_text().count(old)
        if found != 1:
            sys.exit(f"{file} has {found} times what the fault for {test} changes: {old}")
    missed, passes = 0, {}
    for file, old, new, test in chosen:
        if test not in passes:
            why = reason(test, SOURCES)
            passes[test] = why is None
            if why:
                print(f"FAILS WITHOUT A FAULT  {test}: {why}", flush=True)
        with tempfile.TemporaryDirectory(prefix="trinim-page-") as scratch:
            folder = Path(shutil.copytree(SOURCES, f"{scratch}/page"))
            text = (folder / file).read_text()
            (folder / file).write_text(text.replace(old, new))
            why = reason(test, folder)
        is_caught = passes[test] and why is not None
        missed += not is_caught
        print(f"{'caught' if is_caught else 'NOT CAUGHT':10}  {file:10}  {test}: {why}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} faults are caught")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
