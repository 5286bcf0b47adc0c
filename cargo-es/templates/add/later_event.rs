    {{each}}fn {{function}}(&mut self, {{element}}_: &{{event}}) {}
