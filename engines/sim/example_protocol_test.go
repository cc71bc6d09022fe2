package sim_test

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/openloop-go/openloop/engines/sim"
)

// A client of one's own, over the same in-memory connections.
func ExampleMemory_Dial() {
	m, err := sim.Open(context.Background(), sim.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	client := &http.Client{Transport: &http.Transport{DialContext: m.Dial}}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://sim.invalid/version")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Print(string(body))
	// Output: {"version":"sim-1"}
}

// A server whose usage tells a quarter too many output tokens.
func ExampleProtocol() {
	fmt.Println(sim.Config{Faults: sim.Faults{Protocol: sim.Protocol{Miscount: 0.25}}}.Validate())
	fmt.Println(sim.Config{Faults: sim.Faults{Protocol: sim.Protocol{Miscount: 25}}}.Validate())
	// Output:
	// <nil>
	// sim: Faults.Protocol.Miscount must be from -1 to 1, got 25
}
