package server

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/launch"
)

// The test binary is also the server that is started: with this variable set
// it serves the model that its first argument names.
const roleName = "SERVER_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleName)
	if role == "" {
		servertest.Unset()
		os.Exit(m.Run())
	}
	port, model := "", os.Args[1]
	for i, arg := range os.Args {
		if arg == "--port" {
			port = os.Args[i+1]
		}
	}
	fmt.Println("serving", model, "with", strings.Join(os.Args[2:], " "), os.Getenv("TEST_API_KEY"))
	switch role {
	case "gpuless":
		fmt.Println("RuntimeError: Failed to infer device type")
		os.Exit(1)
	case "mislabelled":
		model = "another"
	}
	if role == "hung" {
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		for err == nil {
			_, err = l.Accept()
		}
		os.Exit(1)
	}
	s := &servertest.Server{Owner: "test", Models: []string{model}, Key: os.Getenv("TEST_API_KEY")}
	s.Routes = map[string][]servertest.Reply{
		"GET /version": {servertest.JSON(`{"version":"1.2.3"}`)},
		// What a server that is still loading says, then the real thing.
		"GET /v1/models": {servertest.Text(503, "loading"), {}},
	}
	http.HandleFunc("POST /die", func(http.ResponseWriter, *http.Request) { os.Exit(7) })
	http.Handle("/", s)
	fmt.Println(http.ListenAndServe("127.0.0.1:"+port, nil))
	os.Exit(1)
}

// testKind is a kind of which the test binary is the server.
func testKind() *Kind {
	return &Kind{
		Name: "vllm", Variable: "OPENLOOP_VLLM_URL",
		URL:     func(c ci.Config) string { return c.VLLMURL },
		Program: []string{os.Args[0]}, Install: "install it (pip install it)",
		Arguments: func(model, _ string, at launch.Place) []string {
			return []string{model, "--port", strconv.Itoa(at.Port), "--details"}
		},
		Environment: func(key string) []string {
			return []string{roleName + "=serve", "TEST_API_KEY=" + key}
		},
		Prefix: "TEST_VLLM_", Short: map[string]string{"tp": "tensor-parallel-size"},
		Reserved: map[string]string{"--port": "every start gets its own", "--api-key": "set Config.APIKey"},
	}
}
