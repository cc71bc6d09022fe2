package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/launch"
)

// A key that is missing, and a certificate that nobody vouches for, are one
// sentence each.
func TestAttachWithoutKeyOrTrust(t *testing.T) {
	locked := httptest.NewServer(&servertest.Server{Owner: "vllm", Models: []string{"m"}, Key: "sesame-open"})
	defer locked.Close()
	secure := httptest.NewTLSServer(&servertest.Server{Owner: "vllm", Models: []string{"m"}})
	defer secure.Close()
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of the handshakes
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	for _, test := range []struct {
		name   string
		config launch.Config
		want   string
	}{
		{"no key", launch.Config{URL: locked.URL},
			"attach vllm: URL: GET /v1/models: 401 Unauthorized: Unauthorized: no API key was sent: set it (OPENLOOP_API_KEY)"},
		{"another key", launch.Config{URL: locked.URL, APIKey: "open-sesame"},
			"attach vllm: URL: GET /v1/models: 401 Unauthorized: Unauthorized: the API key that was sent is refused: correct it (OPENLOOP_API_KEY)"},
		{"a certificate of nobody's", launch.Config{URL: secure.URL},
			"attach vllm: URL: GET /v1/models: the server's certificate is self-signed: add it to Config.TLS.RootCAs, or to this host's roots (SSL_CERT_FILE)"},
		{"a certificate for another name", launch.Config{URL: secure.URL, TLS: &tls.Config{ServerName: "gate.example.org", RootCAs: roots}},
			"attach vllm: URL: GET /v1/models: certificate is valid for example.com, *.example.com, not gate.example.org: use a name of the certificate in the URL, or set Config.TLS.ServerName to one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Attach(t.Context(), testKind(), test.config)
			if err == nil {
				t.Fatal("attached")
			}
			if got := strings.ReplaceAll(err.Error(), test.config.URL, "URL"); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// What waiting cannot change is not waited for.
func TestWhatLasts(t *testing.T) {
	for _, test := range []struct {
		err  error
		want bool
	}{
		{lasting("another model"), true},
		{&engines.Error{Class: engines.Unauthorized, Status: 401}, true},
		{&engines.Error{Class: engines.Protocol, Message: "the server speaks TLS"}, true},
		{&engines.Error{Class: engines.Protocol, Status: 200, Message: "a page of the gateway before it"}, false},
		{&engines.Error{Class: engines.Unreachable}, false},
		{&engines.Error{Class: engines.Reset}, false},
		{&engines.Error{Class: engines.Status, Status: 404}, false},
		{&engines.Error{Class: engines.Refused, Status: 503}, false},
		{errors.New("connection refused"), false},
	} {
		if got := isLasting(test.err); got != test.want {
			t.Errorf("%#v: %t", test.err, got)
		}
	}
}

// A server that is none of ours is told from one that is only starting by how
// long it answers so.
func TestStranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		missing := &engines.Error{Class: engines.Status, Status: 404, Message: "404 Not Found"}
		loading := &engines.Error{Class: engines.Refused, Status: 503, Message: "503 loading"}
		var s stranger
		say := func(what error, after time.Duration, lasts bool) {
			t.Helper()
			time.Sleep(after)
			if err := s.judge(what, "http://x"); isLasting(err) != lasts {
				t.Errorf("%v: %v", what, err)
			}
		}
		say(missing, 0, false)
		say(missing, strangeFor-1, false)
		say(loading, 1, false) // it comes along
		say(missing, time.Hour, false)
		say(missing, strangeFor-1, false)
		say(errors.New("connection refused"), time.Second, false)
		say(missing, 0, false)
		say(missing, strangeFor, true)
		err := s.judge(missing, "http://x")
		const want = "404 Not Found: http://x has answered like this for 30s, which no server of this kind does: check Config.Command or Config.Image"
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
	})
}
