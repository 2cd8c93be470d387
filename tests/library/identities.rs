//! Digests and identities: those of the table for each kind of values, and another one for whatever
//! else they are about.

use crate::common::scratch;
use std::collections::BTreeSet;
use trinim::Solve;
use trinim::database::{Game, Manifest, Terms, Values};
use trinim::game::{Board, Rule, Takes};

const KINDS: [(Rule, Values); 5] = [
    (Rule::Misere, Values::Outcomes),
    (Rule::Normal, Values::Outcomes),
    (Rule::Normal, Values::Nimbers),
    (Rule::Misere, Values::Remoteness),
    (Rule::Normal, Values::Remoteness),
];

fn solved(game: &Game, values: Values) -> Manifest {
    Solve::from(game).values(values).threads(1).run(scratch().path()).unwrap().manifest
}

/// A change of a digest or an identity changes the table, which the failure prints.
#[test]
fn identities_are_those_of_the_table() {
    let triangles = [(3, None), (4, None), (4, Some(2))].map(|(layers, take)| Board::triangle(layers, take).unwrap());
    let boards = triangles.into_iter().chain([Board::named("rect:3x3", Takes::ANY).unwrap()]);
    let mut table = String::new();
    let [mut censuses, mut solutions, mut rules] = [const { BTreeSet::new() }; 3];
    for board in boards {
        for (rule, values) in KINDS {
            for bits in [4, 40] {
                let game = Game::on(board.clone(), rule, bits);
                let (spec, manifest) = (Terms { values, ..Terms::default() }.spec(&game), solved(&game, values));
                let [census, solution] =
                    [manifest.values_digest(&game), manifest.digest].map(|hex| hex[..16].to_owned());
                let take = board.max_take().map_or(String::new(), |take| format!(" taking {take}"));
                table += &format!(
                    "{}{take} {rule} {values} {bits}: census {census}, solution {solution}, rules {:016x}, game {:016x}, \
                     blocks {:016x}\n",
                    board.name(),
                    game.rules_identity(),
                    game.identity(),
                    spec.identity()
                );
                censuses.insert(census);
                solutions.insert(solution);
                rules.insert(game.rules_identity().to_string());
            }
        }
    }
    // A census does not depend on the layout, nor do the rules, which do not depend on the values.
    assert_eq!([&censuses, &solutions, &rules].map(BTreeSet::len), [20, 40, 8]);
    let recorded = include_str!("../golden/identities.txt");
    let differs = table.lines().zip(recorded.lines()).find(|(now, then)| now != then);
    assert!(table == recorded, "{differs:?}\n{table}");
}

/// The census digest is about every count, and tells them apart.
#[test]
fn another_count_has_another_census_digest() {
    for (rule, values) in KINDS {
        let game = Game::triangle(4, rule, 40).unwrap();
        let manifest = solved(&game, values);
        let mut digests = BTreeSet::from([manifest.values_digest(&game)]);
        let mut changes = 1;
        let mut changed = |change: &dyn Fn(&mut Manifest)| {
            let mut other = manifest.clone();
            change(&mut other);
            digests.insert(other.values_digest(&game));
            changes += 1;
        };
        for row in 0..manifest.census.by_pieces.len() {
            changed(&|other| other.census.by_pieces[row].losses += 1);
        }
        for row in 0..manifest.by_nimber.as_ref().map_or(0, Vec::len) {
            changed(&|other| other.by_nimber.as_mut().unwrap()[row].positions += 1);
        }
        for row in 0..manifest.by_distance.as_ref().map_or(0, Vec::len) {
            changed(&|other| other.by_distance.as_mut().unwrap()[row].wins += 1);
        }
        assert_eq!(digests.len(), changes, "{rule}, {values}");
    }
}
