package secret_test

import (
	"fmt"
	"net/url"

	"github.com/openloop-go/openloop/internal/secret"
)

func ExampleName() {
	for _, name := range []string{"HF_TOKEN", "api-key", "max-num-batched-tokens", "eos_token"} {
		fmt.Println(name, secret.Name(name))
	}
	// Output:
	// HF_TOKEN true
	// api-key true
	// max-num-batched-tokens false
	// eos_token false
}

func ExampleRedact() {
	fmt.Println(secret.Redact(`{"hf_token": "two words", "port": 1}: the password is wrong`))
	// Output: {"hf_token": "[redacted]", "port": 1}: the password is wrong
}

func ExampleCommand() {
	fmt.Println(secret.Command("HF_TOKEN=abc vllm serve m --api-key 'two words' --port 8000"))
	// Output: HF_TOKEN=[redacted] vllm serve m --api-key '[redacted]' --port 8000
}

func ExampleValues() {
	fmt.Println(secret.Values("sesame-open", "hush", "vllm").Redact("vllm says: no: sesame-open, hushed hush"))
	// Output: vllm says: no: [redacted], hushed [redacted]
}

func ExampleGiven() {
	u, _ := url.Parse("http://ann:sesame-open@engine")
	fmt.Println(secret.Given("sk-123", nil, u.User).Redact("sk-123, sesame-open, YW5uOnNlc2FtZS1vcGVu"))
	// Output: [redacted], [redacted], [redacted]
}

func ExampleURL() {
	fmt.Println(secret.URL("http://ann:sesame@gate/v1?key=open"))
	// Output: http://gate/v1?… true
}

// Door is locked by a key.
type Door struct{ key string }

func (Door) Format(to fmt.State, verb rune) { secret.Format(to, verb, "a door", "Door{}") }

func ExampleFormat() {
	fmt.Printf("%v, %x, %#v\n", Door{"sesame"}, Door{"sesame"}, Door{"sesame"})
	// Output: a door, a door, Door{}
}
