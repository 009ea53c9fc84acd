//! Includes, constants, macros, loops.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::super::ast::{Block, Expr, Macro, Name, Span};
use super::value::{Bound, Value};
use super::{Emitter, MAX_DEPTH, Result};

impl Emitter<'_, '_> {
    /// Runs `inside` one level of nesting deeper.
    fn deeper<T>(&mut self, span: Span, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return self.fail(span, format!("macros and includes {MAX_DEPTH} deep: do they use themselves?"));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Runs `inside` with `file` as the file in which errors are reported.
    fn in_file<T>(&mut self, file: usize, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.open.push(file);
        let result = inside(self)?;
        self.open.pop();
        Ok(result)
    }

    /// Runs `inside` with constants of its own.
    fn in_scope<T>(
        &mut self,
        scope: BTreeMap<String, Bound>,
        inside: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.scopes.push(scope);
        let result = inside(self);
        self.scopes.pop();
        result
    }

    pub(super) fn include(&mut self, span: Span, path: &str) -> Result<()> {
        let from = self.project.sources[self.file()].name.clone();
        let name = self.project.files.resolve(&from, path);
        let file = match self.project.by_name.get(&name) {
            Some(&file) => file,
            None => {
                let text = self.project.files.text(&name);
                let text = self.at(span, text)?;
                self.project.add(name, text)?
            }
        };
        if self.open.contains(&file) {
            return self.fail(span, format!("`{path}` includes itself"));
        }
        let block = self.project.sources[file].block.clone();
        self.deeper(span, |this| this.in_file(file, |this| this.block(&block)))
    }

    pub(super) fn constant(&mut self, name: &Name, value: &Expr) -> Result<()> {
        let value = self.bound(value)?;
        let scope = self.scopes.last_mut().expect("the outermost scope is never left");
        match scope.insert(name.text.clone(), value) {
            None => Ok(()),
            Some(_) => self.fail(name.span, format!("`{}` has a value already", name.text)),
        }
    }

    pub(super) fn definition(&mut self, name: &Name, body: &Rc<Macro>) -> Result<()> {
        match self.macros.insert(name.text.clone(), (self.file(), body.clone())) {
            None => Ok(()),
            Some(_) => self.fail(name.span, format!("macro `{}` exists already", name.text)),
        }
    }

    pub(super) fn invocation(&mut self, name: &Name, arguments: &[Expr]) -> Result<()> {
        let Some((file, body)) = self.macros.get(&name.text).cloned() else {
            return self.fail(name.span, format!("no macro `{}`", name.text));
        };
        let (wanted, given) = (body.parameters.len(), arguments.len());
        if wanted != given {
            return self.fail(name.span, format!("`{}` wants {wanted} values, not {given}", name.text));
        }
        let mut scope = BTreeMap::new();
        for (parameter, argument) in body.parameters.iter().zip(arguments) {
            scope.insert(parameter.clone(), self.bound(argument)?);
        }
        let run = |this: &mut Self| this.in_file(file, |this| this.block(&body.body));
        self.deeper(name.span, |this| this.in_scope(scope, run))
    }

    pub(super) fn for_each(&mut self, name: &Name, first: &Expr, end: &Expr, block: &Block) -> Result<()> {
        let (first, end) = (self.whole(first)?, self.whole(end)?);
        let mut index = first;
        while index < end {
            let scope = BTreeMap::from([(name.text.clone(), Bound::Value(Value::Int(index)))]);
            self.charge(name.span, 1)?;
            self.in_scope(scope, |this| this.block(block))?;
            index += 1;
        }
        Ok(())
    }

    pub(super) fn repeat(&mut self, count: &Expr, block: &Block) -> Result<()> {
        let mut left = self.size(count)?;
        while left > 0 {
            self.charge(count.span, 1)?;
            self.in_scope(BTreeMap::new(), |this| this.block(block))?;
            left -= 1;
        }
        Ok(())
    }
}
