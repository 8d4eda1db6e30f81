static const char *password = NULL;
char token[64], *secret = getenv("SECRET");
enum token { TOKEN_ID = 1, TOKEN_STRING2 = 2 };
#define PASSWORD_MAX 64
if (strcmp(password, user->password2) == 0) token = next_token(&lexer);
printf("password: %s, token: %d\n", password, token);
