interface Login {
  user: string
  password: string
  token?: AuthToken
  secret: Buffer | null
}
type TokenKind = "identifier" | "keyword2";
const token: Token = scanner.peek2();
const password: string = this.form.get('password')!.value;
class Auth {
  private secret = inject(SecretService);
  constructor(private readonly token: TokenService, readonly apiKey: string = env.apiKey) {}
  login = (password: string): Promise<Token> => this.http.post<Token>(url, { password, token: this.token2 });
}
