public class Auth {
    private static final String PASSWORD = "password";
    private String token = null;
    private final char[] secret;
    public void login(String user, String password) {
        this.token = tokens.next();
        String apiKey = System.getenv("API_KEY");
        Token token = parser.getToken(i2);
        if (password.equals(user.getPassword())) { setPassword(password); }
        request.header("Authorization", "Bearer " + token);
        throw new AuthException("Invalid token: " + token2);
    }
    public Builder withPassword(String password) { this.password = password; return this; }
}
