package openai

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// What is no server of HTTP is said to be none, and is not waited for.
func TestWhatDoesNotSpeakHTTP(t *testing.T) {
	e, err := New(Config{URL: "http://host"})
	require.NoError(t, err)
	for _, tt := range []struct{ err, want string }{
		{"readLoopPeekFailLocked: %!w(<nil>)", "http://host: GET /v1/models: what answers does not speak HTTP (it speaks before it is asked): correct the URL"},
		{`net/http: HTTP/1.x transport connection broken: malformed HTTP response "SSH-2.0-OpenSSH_9.2"`,
			`http://host: GET /v1/models: what answers does not speak HTTP (it says "SSH-2.0-OpenSSH_9.2"): correct the URL`},
		{`malformed HTTP response "say \"hello\" \\"`, `http://host: GET /v1/models: what answers does not speak HTTP (it says "say \"hello\" \\"): correct the URL`},
		{`malformed HTTP status code "mail.example"`, `http://host: GET /v1/models: what answers does not speak HTTP (it says "mail.example"): correct the URL`},
		{`malformed HTTP response "` + strings.Repeat("x", 400) + `"`,
			`http://host: GET /v1/models: what answers does not speak HTTP (it says "` + strings.Repeat("x", 299) + `…): correct the URL`},
	} {
		failure := e.broken(t.Context(), nil, &attempt{}, "GET /v1/models", errors.New(tt.err))
		assert.EqualError(t, failure, tt.want)
		assert.Equal(t, engines.Protocol, failure.(*engines.Error).Class, tt.err)
	}
	assert.Empty(t, e.noHTTP(errors.New(`malformed MIME header: missing colon: "abc"`)))
	// Answers on a connection that has spoken HTTP have gone astray.
	failure := e.broken(t.Context(), nil, &attempt{kept: true}, "GET /v1/models", errors.New(`malformed HTTP response "data: x"`))
	assert.EqualError(t, failure, `http://host: GET /v1/models: malformed HTTP response "data: x"`)
}

// Over real connections it is left to chance which of the two comes.
func TestABannerIsNoHTTP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, "220 mail.example ESMTP\r\n")
			_, _ = bufio.NewReader(c).ReadString('\n')
			_ = c.Close()
		}
	}()
	e, err := New(Config{URL: "http://" + l.Addr().String()})
	require.NoError(t, err)
	defer e.Close()
	for range 50 {
		_, err := e.Models(context.Background())
		var failure *engines.Error
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, engines.Protocol, failure.Class)
		assert.Contains(t, err.Error(), "GET /v1/models: what answers does not speak HTTP (it ")
	}
}
