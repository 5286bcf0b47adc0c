    {{each}}fn {{function}}({{element}}{{parameter}}: &{{event}}) -> Self {
        Self { {{values}} }
    }
