package nullserver_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/internal/nullserver"
)

func TestConnections(t *testing.T) {
	for _, closes := range []bool{false, true} {
		url := serving(t, nullserver.Options{Close: closes, Journal: true})
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		require.NoError(t, err)
		defer conn.Close()
		in := bufio.NewReader(conn)
		for range 2 {
			io.WriteString(conn, "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n{\"stream\":true}")
			resp, err := http.ReadResponse(in, nil)
			require.NoError(t, err)
			assert.Equal(t, closes, resp.Close)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
			if closes {
				_, err = in.ReadByte()
				assert.Equal(t, io.EOF, err)
				break
			}
		}
		if !closes {
			journal, err := nullserver.Read(t.Context(), url)
			require.NoError(t, err)
			require.Len(t, journal, 2)
			assert.Equal(t, []bool{true, false}, []bool{journal[0].Fresh, journal[1].Fresh})
		}
	}
}

func TestPages(t *testing.T) {
	url := serving(t, nullserver.Options{Model: "m", Token: " w17"})
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/v1/models", "", 200, `{"object":"list","data":[{"id":"m","object":"model","created":1764547200,"owned_by":"null","root":"m","max_model_len":8192}]}`},
		{"GET", "/50/v1/models", "", 200, `{"object":"list","data":[{"id":"m","object":"model","created":1764547200,"owned_by":"null","root":"m","max_model_len":8192}]}`},
		{"GET", "/health", "", 200, `{}`},
		{"GET", "/version", "", 200, `{"version":"0"}`},
		{"GET", "/v1/completions", "", 404, `{"error":{"message":"no such route","code":404}}`},
		{"POST", "/v1/embeddings", "{}", 404, `{"error":{"message":"no such route","code":404}}`},
		{"POST", "/v1/completions", `{"max_tokens":3,"prompt":[1,2,3,4]}`, 200, `{"id":"cmpl-0000000000000001","object":"text_completion","created":1764547200,"model":"m",` +
			`"choices":[{"index":0,"text":" w17 w17 w17","logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":4,"total_tokens":7,"completion_tokens":3}}`},
	} {
		req, err := http.NewRequest(c.method, url+c.path, strings.NewReader(c.body))
		require.NoError(t, err)
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(t, err)
		assert.Equal(t, c.status, resp.StatusCode, c.path)
		assert.JSONEq(t, c.want, string(text), c.path)
	}
	resp, err := http.Get(url + "/events")
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(text), `data: {`), "a stream for clients that send no body")
}
