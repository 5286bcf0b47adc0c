//! The reaction {{reaction}}.

use es_framework::prelude::*;

{{imports}}
/// {{summary}}
pub struct {{reaction}};

#[reaction{{arguments}}]
impl {{reaction}} {
    {{function}}
        {{result}}
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn {{test}}() {
{{panic}}
    }
}
