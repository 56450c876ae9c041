//! Declarations: registers, parameters and variables.

use crate::ast::{Ident, Linkage, Variable};
use crate::diagnostic::Diagnostic;
use crate::isa::{Space, Type};
use crate::modtable::{TYPES, type_named};
use crate::name::Name;
use crate::parse::lexer::Kind;
use crate::parse::{Parsed, Parser};
use warpsim_present::misspelt;

/// What a declaration says before its names.
struct Head {
    space: Space,
    align: Option<u32>,
    vector: u8,
    ty: Type,
    ptr: Option<(Option<Space>, Option<u32>)>,
}

impl Parser<'_> {
    /// `.space … name, name;` or `None` if no state space is next.
    pub(in crate::parse) fn variables(
        &mut self,
        linkage: Linkage,
    ) -> Parsed<Option<Vec<Variable>>> {
        let Some(space) = self.space() else {
            return Ok(None);
        };
        let head = self.head(space)?;
        let mut variables = Vec::new();
        loop {
            let name = self.ident("the name of the variable")?;
            variables.push(self.declarator(&head, linkage, name)?);
            if self.eat(b';') {
                return Ok(Some(variables));
            }
            if !self.eat(b',') {
                return Err(self.expected("`;` after the declaration"));
            }
        }
    }

    /// One parameter of a function; the name may be missing.
    pub(in crate::parse) fn parameter(&mut self) -> Parsed<Variable> {
        let Some(space) = self.space() else {
            return Err(self.expected("`.param`"));
        };
        let head = self.head(space)?;
        let name = match self.peek().kind {
            Kind::Word => self.ident("a name")?,
            _ => Ident {
                name: Name::default(),
                span: self.peek().span(),
            },
        };
        self.declarator(&head, Linkage::Internal, name)
    }

    /// A state space, taken if it is next.
    fn space(&mut self) -> Option<Space> {
        let token = self.peek();
        let text = if token.kind == Kind::Dot {
            self.str(token)
        } else {
            ""
        };
        let space = match text {
            ".reg" => Space::Reg,
            ".param" => Space::Param,
            ".const" => Space::Const,
            ".global" => Space::Global,
            ".local" => Space::Local,
            ".shared" | ".shared::cta" => Space::Shared,
            ".tex" => Space::Tex,
            _ => return None,
        };
        self.skip(1);
        Some(space)
    }

    /// Everything up to the name, in any order.
    fn head(&mut self, space: Space) -> Parsed<Head> {
        let (mut align, mut vector, mut ty, mut ptr) = (None, 0, None, None);
        loop {
            self.attributes()?;
            let token = self.peek();
            if token.kind != Kind::Dot {
                break;
            }
            self.skip(1);
            match self.str(token) {
                ".align" => align = Some(self.alignment()?),
                ".v2" => vector = 2,
                ".v4" => vector = 4,
                ".v8" => vector = 8,
                ".ptr" => {
                    let target = self.space();
                    let target_align = if self.eat_dot(".align") {
                        Some(self.alignment()?)
                    } else {
                        None
                    };
                    ptr = Some((target, target_align));
                }
                text => match type_named(&text[1..]) {
                    Some(found) => ty = Some(found),
                    None => {
                        let error = Diagnostic::error(
                            token.span(),
                            format!("`{text}` does not belong in a declaration"),
                        )
                        .with_label("expected a type, `.align` or a vector width");
                        let near = misspelt(&text[1..], TYPES.iter().map(|(name, _)| *name));
                        return Err(match near {
                            Some(near) => error.with_hint(format!("did you mean `.{near}`?")),
                            None => error,
                        });
                    }
                },
            }
        }
        let Some(ty) = ty else {
            return Err(self.expected("a type such as `.b32`"));
        };
        Ok(Head {
            space,
            align,
            vector,
            ty,
            ptr,
        })
    }

    fn alignment(&mut self) -> Parsed<u32> {
        let token = self.peek();
        let align = self.unsigned("an alignment in bytes")?;
        if !align.is_power_of_two() {
            return Err(Diagnostic::error(
                token.span(),
                format!("the alignment {align} is not a power of two"),
            ));
        }
        Ok(align)
    }

    /// What follows the name: `<count>`, array dimensions, an initialiser.
    fn declarator(&mut self, head: &Head, linkage: Linkage, name: Ident) -> Parsed<Variable> {
        let mut count = None;
        if head.space == Space::Reg && self.eat(b'<') {
            count = Some(self.unsigned("a number of registers")?);
            self.expect(b'>')?;
        }
        let mut dims = Vec::new();
        while self.eat(b'[') {
            if self.eat(b']') {
                dims.push(None);
                continue;
            }
            let token = self.peek();
            let size = self.integer("an array size")?;
            let size = u64::try_from(size).map_err(|_| {
                Diagnostic::error(token.span(), format!("{size} is not an array size"))
            })?;
            dims.push(Some(size));
            self.expect(b']')?;
        }
        let init = if self.eat(b'=') {
            self.initialiser(head.ty)?
        } else {
            None
        };
        let Head {
            space,
            align,
            vector,
            ty,
            ptr,
        } = *head;
        Ok(Variable {
            linkage,
            space,
            align,
            vector,
            ty,
            name,
            count,
            dims,
            init,
            ptr,
        })
    }
}
