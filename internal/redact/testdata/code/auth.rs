#[derive(Debug)]
struct Login<'a> {
    password: &'a str,
    token: Option<String>,
    secret: [u8; 32],
}
impl Login<'_> {
    fn login(&self, password: &str) -> Result<Token> {
        let token = self.lexer.next_token2()?;
        let secret: Vec<u8> = hkdf(password.as_bytes());
        match token { Token::Ident(token) => token, _ => panic!("unexpected token: {token:?}") }
        Ok(Login { password, token: Some(token.to_string()), secret: Default::default() })
    }
}
