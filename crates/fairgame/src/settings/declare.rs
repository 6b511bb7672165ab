//! The declaration of settings, from which all else follows.

/// Declares settings.
///
/// A struct is a table of settings, and its default is the paper's:
///
/// ```text
/// declare! {
///     /// What it is.
///     #[derive(Copy)]
///     pub struct Practical {
///         /// Turns of the game.
///         pub turns: u64 = with(50_000).above(0.0).flag("turns"),
///     }
/// }
/// ```
///
/// `whole pub struct` has no default of its own. An enum is a choice; each variant has a word, and may have settings:
/// `Linear = "linear"`, `Lattice(LatticeSpec) = "lattice"`, `Mlp { units: usize = with(50) } = "mlp"`. With
/// `(short "…" rewrite)`, a single text or number is first rewritten to the full form. The help of every setting and
/// variant is its doc comment.
macro_rules! declare {
    (
        $(#[doc = $doc:literal])*
        #[derive($($derive:ident),*)]
        $vis:vis struct $name:ident { $($fields:tt)* }
    ) => {
        $crate::settings::declare! {
            $(#[doc = $doc])*
            #[derive($($derive),*)]
            whole $vis struct $name { $($fields)* }
        }

        $crate::settings::declare! { @serde $name }

        impl $name {
            /// The defaults of a recipe.
            $vis fn of(recipe: $crate::settings::Recipe) -> Self {
                let at = $crate::settings::Place::root(recipe);
                let nothing = serde_json::Value::Null;
                match <Self as $crate::settings::Declared>::read(&nothing, &at, None) {
                    Ok(settings) => settings,
                    Err(wrong) => unreachable!("every setting has a default: {wrong}"),
                }
            }
        }

        impl Default for $name {
            /// As in the paper.
            fn default() -> Self {
                $name::of($crate::settings::Recipe::Paper)
            }
        }
    };
    (
        $(#[doc = $doc:literal])*
        #[derive($($derive:ident),*)]
        whole $vis:vis struct $name:ident { $(
            $(#[doc = $help:literal])*
            pub $field:ident: $type:ty = $of:expr
        ),* $(,)? }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, $($derive),*)]
        $vis struct $name { $(
            $(#[doc = $help])*
            pub $field: $type,
        )* }

        impl $crate::settings::Declared for $name {
            fn schema() -> $crate::settings::Schema {
                #[allow(unused_imports)]
                use $crate::settings::{by, needed, with};
                $crate::settings::Kind::Record(vec![ $( {
                    let of: $crate::settings::Of<$type> = $of;
                    of.described(stringify!($field), concat!($($help),*))
                } ),* ]).into()
            }

            fn read(
                given: &serde_json::Value,
                at: &$crate::settings::Place,
                base: Option<&Self>,
            ) -> Result<Self, $crate::settings::Wrong> {
                #[allow(unused_imports)]
                use $crate::settings::{by, needed, with};
                let given = $crate::settings::record(given, at, &[$(stringify!($field)),*])?;
                Ok($name { $( $field: {
                    let base = base.map(|base| &base.$field);
                    $crate::settings::field(&given, stringify!($field), at, base, &$of)?
                }, )* })
            }

            fn write(&self) -> serde_json::Value {
                #[allow(unused_imports)]
                use $crate::settings::{by, needed, with};
                let mut written = serde_json::Map::new();
                $( {
                    let of: $crate::settings::Of<$type> = $of;
                    of.write(stringify!($field), &self.$field, &mut written);
                } )*
                written.into()
            }

            fn verify(
                &self,
                at: &$crate::settings::Place,
            ) -> Result<(), $crate::settings::Wrong> {
                #[allow(unused_imports)]
                use $crate::settings::{by, needed, with};
                $( {
                    let of: $crate::settings::Of<$type> = $of;
                    of.verify(stringify!($field), &self.$field, at)?;
                } )*
                Ok(())
            }
        }
    };
    (
        $(#[doc = $doc:literal])*
        #[derive($($derive:ident),*)]
        pub enum $name:ident $((default $default:expr))? $((short $short:literal $rewrite:expr))? { $(
            $(#[doc = $help:literal])*
            $variant:ident $(($payload:ty))? $({ $(
                $(#[doc = $field_help:literal])*
                $field:ident: $type:ty = $of:expr
            ),* $(,)? })? = $word:literal $(flag $flag:literal)?
        ),* $(,)? }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, $($derive),*)]
        pub enum $name { $(
            $(#[doc = $help])*
            $variant $(($payload))? $({ $(
                $(#[doc = $field_help])*
                $field: $type,
            )* })?,
        )* }

        $(
            impl Default for $name {
                fn default() -> Self {
                    $default
                }
            }
        )?

        $crate::settings::declare! { @choice $name $((short $short $rewrite))? { $(
            $(#[doc = $help])*
            $variant $(($payload))? $({ $(
                $(#[doc = $field_help])*
                $field: $type = $of,
            )* })? = $word $(flag $flag)?,
        )* } }
    };
    (@choice $name:ident $((short $short:literal $rewrite:expr))? { $(
        $(#[doc = $help:literal])*
        $variant:ident $(($payload:ty))? $({ $(
            $(#[doc = $field_help:literal])*
            $field:ident: $type:ty = $of:expr
        ),* $(,)? })? = $word:literal $(flag $flag:literal)?
    ),* $(,)? }) => {
        impl $crate::settings::Declared for $name {
            fn schema() -> $crate::settings::Schema {
                #[allow(unused_imports)]
                use $crate::settings::{by, needed, with};
                #[allow(unused_mut, unused_assignments)]
                let mut short: Option<&'static str> = None;
                $( short = Some($short); )?
                let kind = $crate::settings::Kind::Choice(vec![ $( {
                    #[allow(unused_mut, unused_assignments)]
                    let mut schema: Option<$crate::settings::Schema> = None;
                    $( schema = Some(<$payload as $crate::settings::Declared>::schema()); )?
                    $( schema = Some($crate::settings::Kind::Record(vec![ $( {
                        let of: $crate::settings::Of<$type> = $of;
                        of.described(stringify!($field), concat!($($field_help),*))
                    } ),* ]).into()); )?
                    #[allow(unused_mut, unused_assignments)]
                    let mut flag: Option<&'static str> = None;
                    $( flag = Some($flag); )?
                    let help = $crate::settings::sentence(concat!($($help),*));
                    $crate::settings::Variant { name: $word, help, schema, flag }
                } ),* ]);
                $crate::settings::Schema { kind, short }
            }

            fn read(
                given: &serde_json::Value,
                at: &$crate::settings::Place,
                base: Option<&Self>,
            ) -> Result<Self, $crate::settings::Wrong> {
                #[allow(unused_imports)]
                use $crate::settings::{by, needed, with};
                let _ = base;
                $(
                    let full = $rewrite(given, at)?;
                    let given = full.as_ref().unwrap_or(given);
                )?
                let (word, given) = $crate::settings::chosen(given, at, &[$($word),*])?;
                $(
                    if word == $word {
                        return $crate::settings::declare!(
                            @read $name given at base $word $variant
                            $(($payload))? $({ $($field: $type = $of,)* })?
                        );
                    }
                )*
                unreachable!("`{word}` is one of the words")
            }

            fn write(&self) -> serde_json::Value {
                $(
                    $crate::settings::declare!(
                        @write $name self $word $variant
                        $(($payload))? $({ $($field: $type = $of,)* })?
                    );
                )*
                unreachable!("a value is one of the variants")
            }

            fn verify(
                &self,
                at: &$crate::settings::Place,
            ) -> Result<(), $crate::settings::Wrong> {
                let _ = at;
                $(
                    $crate::settings::declare!(
                        @check $name self at $word $variant
                        $(($payload))? $({ $($field: $type = $of,)* })?
                    );
                )*
                Ok(())
            }
        }

        $crate::settings::declare! { @serde $name }
    };

    (@read $name:ident $given:ident $at:ident $base:ident $word:literal $variant:ident) => {
        $crate::settings::unit($given, $at, $word).map(|()| $name::$variant)
    };
    (@read $name:ident $given:ident $at:ident $base:ident $word:literal $variant:ident ($payload:ty)) => { {
        let base = match $base {
            Some($name::$variant(base)) => Some(base),
            _ => None,
        };
        <$payload as $crate::settings::Declared>::read($given, &$at.key($word), base)
            .map($name::$variant)
    } };
    (@read $name:ident $given:ident $at:ident $base:ident $word:literal $variant:ident
        { $($field:ident: $type:ty = $of:expr,)* }) => { {
        let at = $at.key($word);
        let given = $crate::settings::record($given, &at, &[$(stringify!($field)),*])?;
        Ok($name::$variant { $( $field: {
            let base = match $base {
                Some($name::$variant { $field, .. }) => Some($field),
                _ => None,
            };
            $crate::settings::field(&given, stringify!($field), &at, base, &$of)?
        }, )* })
    } };

    (@write $name:ident $self:ident $word:literal $variant:ident) => {
        if let $name::$variant = $self {
            return $word.into();
        }
    };
    (@write $name:ident $self:ident $word:literal $variant:ident ($payload:ty)) => {
        if let $name::$variant(payload) = $self {
            let payload = $crate::settings::Declared::write(payload);
            return serde_json::Map::from_iter([($word.to_owned(), payload)]).into();
        }
    };
    (@write $name:ident $self:ident $word:literal $variant:ident
        { $($field:ident: $type:ty = $of:expr,)* }) => {
        #[allow(irrefutable_let_patterns)]
        if let $name::$variant { $($field),* } = $self {
            #[allow(unused_imports)]
            use $crate::settings::{by, needed, with};
            let mut written = serde_json::Map::new();
            $( {
                let of: $crate::settings::Of<$type> = $of;
                of.write(stringify!($field), $field, &mut written);
            } )*
            return serde_json::Map::from_iter([($word.to_owned(), written.into())]).into();
        }
    };

    (@check $name:ident $self:ident $at:ident $word:literal $variant:ident) => {};
    (@check $name:ident $self:ident $at:ident $word:literal $variant:ident ($payload:ty)) => {
        if let $name::$variant(payload) = $self {
            $crate::settings::Declared::verify(payload, &$at.key($word))?;
        }
    };
    (@check $name:ident $self:ident $at:ident $word:literal $variant:ident
        { $($field:ident: $type:ty = $of:expr,)* }) => {
        if let $name::$variant { $($field),* } = $self {
            #[allow(unused_imports)]
            use $crate::settings::{by, needed, with};
            let at = $at.key($word);
            $( {
                let of: $crate::settings::Of<$type> = $of;
                of.verify(stringify!($field), $field, &at)?;
            } )*
        }
    };

    (@serde $name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::settings::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                $crate::settings::deserialize(deserializer)
            }
        }
    };
}

pub(crate) use declare;
