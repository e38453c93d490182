//! Which column of a table is filled from which of another one.

use std::collections::BTreeMap;

use super::error::CopyError;
use crate::task::backfill::column::{Column, Kind};
use crate::task::backfill::table::Table;

/// What is said of columns; all others keep their names.
#[derive(Debug, Clone, Default)]
pub(super) struct Choice {
    pub(super) except: Vec<String>,
    pub(super) renames: Vec<(String, String)>,
    /// Which columns each function fills, and from which.
    pub(super) computed: Vec<(Vec<String>, Vec<String>)>,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A column that is read.
    Read(usize),
    /// A value of a function.
    Computed { work: usize, nth: usize },
}

/// A column of the table that is copied into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Filled {
    pub(super) column: Column,
    pub(super) from: Origin,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mapping {
    /// Columns of the table that is copied, its key first.
    pub(super) reads: Vec<Column>,
    /// Of each function, the reads that it takes.
    pub(super) inputs: Vec<Vec<usize>>,
    /// In the order of the key.
    pub(super) keys: Vec<Filled>,
    /// Of one cell each.
    pub(super) cells: Vec<Filled>,
    /// Of many cells each.
    pub(super) collections: Vec<Filled>,
}

impl Mapping {
    pub(super) fn of(from: &Table, into: &Table, choice: &Choice) -> Result<Self, CopyError> {
        let mut matching = Matching::new(from, into);
        matching.computed(choice)?;
        matching.renamed(choice)?;
        matching.same_names(choice)?;
        matching.mapping()
    }

    /// All that are filled, in the order in which their values are named.
    pub(super) fn filled(&self) -> impl Iterator<Item = &Filled> {
        self.keys.iter().chain(&self.cells).chain(&self.collections)
    }

    /// The reads that one value comes from.
    pub(super) fn sources(&self, from: Origin) -> Vec<&Column> {
        match from {
            Origin::Read(read) => vec![&self.reads[read]],
            Origin::Computed { work, .. } => {
                self.inputs[work].iter().map(|read| &self.reads[*read]).collect()
            }
        }
    }
}

struct Matching<'a> {
    from: &'a Table,
    into: &'a Table,
    reads: Vec<Column>,
    inputs: Vec<Vec<usize>>,
    /// By the name of the column that is filled.
    filled: BTreeMap<String, Origin>,
}

impl<'a> Matching<'a> {
    fn new(from: &'a Table, into: &'a Table) -> Self {
        let reads = from.columns.iter().filter(|column| column.is_key()).cloned().collect();
        Self { from, into, reads, inputs: Vec::new(), filled: BTreeMap::new() }
    }

    fn computed(&mut self, choice: &Choice) -> Result<(), CopyError> {
        for (work, (columns, inputs)) in choice.computed.iter().enumerate() {
            let inputs = inputs.iter().map(|name| self.read(name)).collect::<Result<_, _>>()?;
            self.inputs.push(inputs);
            for (nth, name) in columns.iter().enumerate() {
                self.fill(name, Origin::Computed { work, nth })?;
            }
        }
        Ok(())
    }

    fn renamed(&mut self, choice: &Choice) -> Result<(), CopyError> {
        for (name, new) in &choice.renames {
            let read = self.read(name)?;
            self.fill(new, Origin::Read(read))?;
        }
        Ok(())
    }

    fn same_names(&mut self, choice: &Choice) -> Result<(), CopyError> {
        for name in &choice.except {
            find(self.from, name)?;
        }
        let is_said = |name: &String| {
            choice.except.contains(name) || choice.renames.iter().any(|(renamed, _)| renamed == name)
        };
        for Column { name, .. } in self.from.columns.iter().filter(|column| !is_said(&column.name)) {
            let has_it = find(self.into, name).is_ok();
            let is_computed = matches!(self.filled.get(name), Some(Origin::Computed { .. }));
            let is_taken = choice.computed.iter().any(|(_, inputs)| inputs.contains(name));
            if has_it && !is_computed {
                let read = self.read(name)?;
                self.fill(name, Origin::Read(read))?;
            } else if !has_it && !is_taken {
                let (from, into) = (self.from.name.clone(), self.into.name.clone());
                return Err(CopyError::NotInTarget { from, into, column: name.clone() });
            }
        }
        Ok(())
    }

    fn read(&mut self, name: &str) -> Result<usize, CopyError> {
        let column = find(self.from, name)?;
        let at = self.reads.iter().position(|read| read == column);
        Ok(at.unwrap_or_else(|| {
            self.reads.push(column.clone());
            self.reads.len() - 1
        }))
    }

    fn fill(&mut self, name: &str, from: Origin) -> Result<(), CopyError> {
        let column = find(self.into, name)?;
        let into = self.into.name.clone();
        if column.is_list() {
            return Err(CopyError::List { into, column: name.to_owned() });
        }
        if let Origin::Read(read) = from
            && !column.takes(&self.reads[read])
        {
            return Err(CopyError::Type {
                into,
                column: name.to_owned(),
                into_type: column.cql_type.clone(),
                from_type: self.reads[read].cql_type.clone(),
            });
        }
        match self.filled.insert(name.to_owned(), from) {
            Some(_) => Err(CopyError::FilledTwice { into, column: name.to_owned() }),
            None => Ok(()),
        }
    }

    fn mapping(mut self) -> Result<Mapping, CopyError> {
        let mut mapping = Mapping {
            reads: self.reads,
            inputs: self.inputs,
            keys: Vec::new(),
            cells: Vec::new(),
            collections: Vec::new(),
        };
        for column in &self.into.columns {
            let filled = self.filled.remove(&column.name);
            let filled = filled.map(|from| Filled { column: column.clone(), from });
            if column.is_key() {
                mapping.keys.push(filled.ok_or_else(|| CopyError::KeyNotFilled {
                    from: self.from.name.clone(),
                    into: self.into.name.clone(),
                    column: column.name.clone(),
                })?);
            } else if column.is_multi_cell() {
                mapping.collections.extend(filled);
            } else {
                mapping.cells.extend(filled);
            }
        }
        Ok(mapping)
    }
}

fn find<'a>(table: &'a Table, name: &str) -> Result<&'a Column, CopyError> {
    let found = table.columns.iter().find(|column| column.name == name);
    found.ok_or_else(|| CopyError::NoColumn { table: table.name.clone(), column: name.to_owned() })
}

impl Filled {
    pub(super) fn is_static(&self) -> bool {
        self.column.kind == Kind::Static
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::task::backfill::column::column;

    pub(in super::super) fn users() -> Table {
        let columns = vec![
            column("id", "int", Kind::Partition),
            column("Full", "text", Kind::Regular),
            column("mail", "text", Kind::Regular),
            column("tags", "set<text>", Kind::Regular),
        ];
        Table::of_columns("users", columns)
    }

    pub(in super::super) fn by_mail(others: &[(&str, &str)]) -> Table {
        let mut columns =
            vec![column("mail", "text", Kind::Partition), column("id", "int", Kind::Clustering)];
        columns.extend(others.iter().map(|(name, cql_type)| column(name, cql_type, Kind::Regular)));
        Table::of_columns("users_by_mail", columns)
    }

    const OTHERS: [(&str, &str); 2] = [("Full", "text"), ("tags", "set<text>")];

    fn names<'a>(filled: impl IntoIterator<Item = &'a Filled>) -> Vec<&'a str> {
        filled.into_iter().map(|filled| filled.column.name.as_str()).collect()
    }

    fn refused(into: &Table, choice: &Choice) -> CopyError {
        Mapping::of(&users(), into, choice).unwrap_err()
    }

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn columns_keep_their_names() {
        let mapping = Mapping::of(&users(), &by_mail(&OTHERS), &Choice::default()).unwrap();
        assert_eq!(names(&mapping.keys), ["mail", "id"]);
        assert_eq!((names(&mapping.cells), names(&mapping.collections)), (vec!["Full"], vec!["tags"]));
        assert_eq!(mapping.reads[0].name, "id", "the key first");
        assert_eq!(mapping.sources(mapping.keys[0].from)[0].name, "mail");
    }

    #[test]
    fn a_column_that_has_no_place_is_not_lost_in_silence() {
        let into = by_mail(&OTHERS[..1]);
        assert!(
            matches!(refused(&into, &Choice::default()), CopyError::NotInTarget { column, .. } if column == "tags")
        );
        let choice = Choice { except: list(&["tags"]), ..Choice::default() };
        assert!(Mapping::of(&users(), &into, &choice).unwrap().collections.is_empty());
        let choice = Choice { except: list(&["nothing"]), ..choice };
        assert!(matches!(refused(&into, &choice), CopyError::NoColumn { table, .. } if table == "users"));
    }

    #[test]
    fn a_column_with_another_name() {
        let into = by_mail(&[("name", "text"), ("tags", "set<text>")]);
        let rename = |from: &str, to: &str| Choice {
            renames: vec![(from.to_owned(), to.to_owned())],
            ..Choice::default()
        };
        let mapping = Mapping::of(&users(), &into, &rename("Full", "name")).unwrap();
        assert_eq!(mapping.sources(mapping.cells[0].from)[0].name, "Full");
        assert!(
            matches!(refused(&into, &rename("Full", "id")), CopyError::Type { column, .. } if column == "id")
        );
        assert!(
            matches!(refused(&into, &rename("Full", "x")), CopyError::NoColumn { column, .. } if column == "x")
        );
        let both = by_mail(&[("name", "text"), ("tags", "set<text>"), ("Full", "text")]);
        let choice = Choice {
            renames: vec![("Full".into(), "name".into()), ("mail".into(), "name".into())],
            ..Choice::default()
        };
        assert!(matches!(refused(&both, &choice), CopyError::FilledTwice { column, .. } if column == "name"));
    }

    #[test]
    fn what_is_computed_goes_before_what_has_the_name() {
        let into = by_mail(&OTHERS);
        let choice =
            Choice { computed: vec![(list(&["mail", "Full"]), list(&["mail"]))], ..Choice::default() };
        let mapping = Mapping::of(&users(), &into, &choice).unwrap();
        assert_eq!(mapping.keys[0].from, Origin::Computed { work: 0, nth: 0 });
        assert_eq!(mapping.cells[0].from, Origin::Computed { work: 0, nth: 1 });
        assert_eq!(mapping.sources(mapping.cells[0].from)[0].name, "mail");
        let choice = Choice { computed: vec![(list(&["mail"]), list(&["name"]))], ..Choice::default() };
        assert!(matches!(refused(&into, &choice), CopyError::NoColumn { column, .. } if column == "name"));
    }

    #[test]
    fn each_column_of_the_key_is_filled() {
        let mut into = by_mail(&OTHERS);
        into.columns.insert(2, column("day", "date", Kind::Clustering));
        assert!(
            matches!(refused(&into, &Choice::default()), CopyError::KeyNotFilled { column, .. } if column == "day")
        );
    }

    #[test]
    fn a_list_is_copied_into_a_frozen_one_alone() {
        let mut users = users();
        users.columns.push(column("visits", "list<int>", Kind::Regular));
        let into = |cql_type| by_mail(&[OTHERS[0], OTHERS[1], ("visits", cql_type)]);
        let of = |cql_type| Mapping::of(&users, &into(cql_type), &Choice::default());
        assert!(matches!(of("list<int>"), Err(CopyError::List { .. })));
        assert_eq!(names(&of("frozen<list<int>>").unwrap().cells), ["Full", "visits"]);
    }
}
