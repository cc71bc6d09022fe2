package secret

import "testing"

// Names that hold secrets, and names that only look so.
func TestNames(t *testing.T) {
	for _, name := range []string{
		"api-key", "API_KEY", "apiKey", "APIKey", "apikey", "api_keys", "api_key_file", "admin-api-key", "OPENAI_API_KEY", "setting-api-key",
		"setting-env.VLLM_API_KEY", "lmcache.api-key", "x-api-key", "X-API-Key", "key", "access_key", "AWSAccessKey", "s3_secret_access_key",
		"secretAccessKey", "secret_key", "private_key", "private-key", "PrivateKey", "private_key_path", "ssh-key", "encryptionKey",
		"HF_TOKEN", "HFToken", "hf-token", "access_token", "accessToken", "AUTHTOKEN", "token", "TOKEN", "bearer-token", "setting-token",
		"secret", "SECRET", "client-secret", "MYSECRET", "secrets", "secret_name",
		"password", "passwd", "PGPASSWORD", "passwords", "REDIS_PASSWD", "password_file", "passw",
		"credential", "credentials", "AWS_CREDENTIALS", "credentials_file", "authorization", "Authorization", "Proxy-Authorization",
	} {
		if !Name(name) {
			t.Errorf("%q holds a secret", name)
		}
	}
	for _, name := range []string{
		"", "-", "MAX_TOKENS", "max-num-batched-tokens", "setting-max-num-batched-tokens", "max_tokens", "num_tokens", "tokens", "cached_tokens",
		"TOKENIZER", "tokenizer", "tokenizer-mode", "skip-tokenizer-init", "TOKENIZERS_PARALLELISM", "detokenizer", "token_usage",
		"ssl-keyfile", "eos_token", "setting-eos_token", "stopToken", "pad-token", "time_per_token", "max-token", "cache_key", "public_key",
		"monkey", "keys", "keyword", "author", "authorised", "pass", "compass-word", "bypass", "privateer", "kv-cache-dtype", "port",
	} {
		if Name(name) {
			t.Errorf("%q holds none", name)
		}
	}
}
