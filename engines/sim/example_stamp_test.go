//go:build linux || darwin || freebsd || openbsd

package sim_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/openloop-go/openloop/engines/sim"
)

// With StampEvents each event of a stream says when it was written.
func ExampleConfig_stampEvents() {
	m, err := sim.Open(context.Background(), sim.Config{StampEvents: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	client := &http.Client{Transport: &http.Transport{DialContext: m.Dial}}
	defer client.CloseIdleConnections()
	resp, err := client.Post("http://sim.invalid/v1/completions", "application/json",
		strings.NewReader(`{"prompt":[1,2,3],"max_tokens":4,"ignore_eos":true,"stream":true}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(bytes.Count(body, []byte(`,"sent":`)), "of 4 events are stamped,", err)
	// Output: 4 of 4 events are stamped, <nil>
}
