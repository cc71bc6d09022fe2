package server

import (
	"reflect"
	"testing"

	"github.com/openloop-go/openloop/engines/launch"
)

func TestSettings(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want map[string]string
	}{
		{"none", nil, map[string]string{}},
		{"a value", []string{"--max-num-seqs", "64"}, map[string]string{"max_num_seqs": "64"}},
		{"joined", []string{"--max-num-seqs=64"}, map[string]string{"max_num_seqs": "64"}},
		{"a switch", []string{"--enforce-eager", "--seed", "0"}, map[string]string{"enforce_eager": "true", "seed": "0"}},
		{"a switch at the end", []string{"--enforce-eager"}, map[string]string{"enforce_eager": "true"}},
		{"a negative number", []string{"--chunked-prefill-size", "-1"}, map[string]string{"chunked_prefill_size": "-1"}},
		{"several values", []string{"--lora-modules", "a=b", "c=d"}, map[string]string{"lora_modules": "a=b c=d"}},
		{"a short name", []string{"-tp", "2"}, map[string]string{"tensor_parallel_size": "2"}},
		{"a secret", []string{"--hf-token", "t", "--seed", "1"}, map[string]string{"seed": "1"}},
		{"what belongs to no flag", []string{"model", "--seed", "1"}, map[string]string{"seed": "1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Settings(test.args, testKind().Short)
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// What is recorded of a start holds no secret, wherever one was put.
func TestSettingsHoldNoSecret(t *testing.T) {
	got := testKind().settings(Config{Config: launch.Config{
		Args: []string{"--seed", "7", "--download-dir", "s3://b?X-Amz-Signature=hush-hush", "--hf-token", "hush-hush"},
		Env:  []string{"HTTPS_PROXY=http://ann:hush-hush@proxy:3128", "HF_TOKEN=hush-hush", "A=b"},
	}}, []string{"TEST_VLLM_CACHE=redis://:hush-hush@cache:6379/0", "TEST_VLLM_KEY=hush-hush", "OTHER=hush-hush"})
	want := map[string]string{
		"seed": "7", "download_dir": "s3://b?X-Amz-Signature=[redacted]", "env.A": "b",
		"env.HTTPS_PROXY": "http://[redacted]@proxy:3128", "env.TEST_VLLM_CACHE": "redis://[redacted]@cache:6379/0",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestCommandDoesNotRepeatWhatTheUserGives(t *testing.T) {
	k := testKind()
	got := k.arguments(Config{Config: launch.Config{Model: "m", Args: []string{"--details", "--x"}}}, launch.Place{Port: 7})
	want := []string{"m", "--port", "7", "--details", "--x"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
