const sinceLastToken = Date.now() - lastToken;
const { token, password } = req.body2;
const apiKey = process.env.OPENAI_API_KEY;
let password = await prompt2("Password");
export const login = async ({ user, password }) => {
  const token = await getToken(user, password);
  headers.Authorization = `Bearer ${token}`;
  headers["Authorization"] = "Bearer " + token;
  if (token === 'expired') throw new Error('token: expired2');
  localStorage.setItem('token', token);
  return { token, password: hash(password), secret: config.secret2, auth: useAuth() };
};
form.password.value = "";
token = this.nextToken(token2);
const schema = { password: z.string().min(8), token: { type: "string", default: null } };
