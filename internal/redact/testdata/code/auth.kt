data class Login(val user: String, val password: String, val token: String? = null)
val apiKey: String = System.getenv("API_KEY") ?: error("no key2")
fun login(password: String) = client.post { headers["Authorization"] = "Bearer $token"; setBody(Login(user, password = password, token = token2)) }
