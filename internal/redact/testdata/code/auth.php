<?php
$password = $_POST['password'];
$token = bin2hex(random_bytes(16));
$this->secret = $secret;
$config = ['password' => env('DB_PASSWORD'), 'token' => $token, 'secret' => null];
define('TOKEN_SIZE', 32);
if (password_verify($password, $user->password2)) { $auth->setToken($token); }
$stmt->execute(['password' => $hash2, ':token' => $token]);
