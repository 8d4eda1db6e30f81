public record Login(string User, string Password, string? Token = null);
var token = await _tokens.GetAsync(id2);
Password = password, Token = token,
services.Configure<Auth>(o => o.Secret = configuration["Auth:Secret2"]);
