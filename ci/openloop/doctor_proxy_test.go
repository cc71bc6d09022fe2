package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// proxy serves a reverse proxy, which with changes, and returns its URL.
func proxy(t *testing.T, behind string, with func(*httputil.ReverseProxy) http.Handler) string {
	t.Helper()
	target, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
	p := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			// Read whole: an answer that comes first would close it.
			body, _ := io.ReadAll(r.In.Body)
			send(r, body)
		},
		FlushInterval: -1,
		// llama-server closes connections unannounced.
		Transport: &http.Transport{DisableKeepAlives: true},
	}
	server := httptest.NewServer(with(p))
	t.Cleanup(server.Close)
	return server.URL
}

func send(r *httputil.ProxyRequest, body []byte) {
	r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

// buffering holds streams back.
func buffering(t *testing.T, behind string) string {
	return proxy(t, behind, func(p *httputil.ReverseProxy) http.Handler {
		p.ModifyResponse = func(r *http.Response) error {
			if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
				return nil
			}
			b, err := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(b))
			return err
		}
		return p
	})
}

// batching passes on so many events at a time, and what is left at the end.
func batching(size int) func(*testing.T, string) string {
	return func(t *testing.T, behind string) string {
		return proxy(t, behind, func(p *httputil.ReverseProxy) http.Handler {
			p.ModifyResponse = func(r *http.Response) error {
				if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
					r.Body = inBatches(r.Body, size)
				}
				return nil
			}
			return p
		})
	}
}

func inBatches(from io.ReadCloser, size int) io.ReadCloser {
	read, write := io.Pipe()
	go func() {
		defer from.Close()
		var have []byte
		lines := bufio.NewReader(from)
		for events := 0; ; {
			line, err := lines.ReadBytes('\n')
			if have = append(have, line...); len(line) == 1 {
				events++
			}
			if err == nil && (len(line) != 1 || events%size != 0) {
				continue
			}
			if _, gone := write.Write(have); gone != nil {
				return
			}
			if have = nil; err != nil {
				write.CloseWithError(err)
				return
			}
		}
	}()
	return read
}

// usageOff takes all counts of tokens out of streams.
func usageOff(t *testing.T, behind string) string {
	return proxy(t, behind, func(p *httputil.ReverseProxy) http.Handler {
		p.ModifyResponse = func(r *http.Response) error {
			if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
				r.Body = uncounted(r.Body)
			}
			return nil
		}
		return p
	})
}

func uncounted(from io.ReadCloser) io.ReadCloser {
	read, write := io.Pipe()
	go func() {
		defer from.Close()
		lines := bufio.NewReader(from)
		for {
			line, err := lines.ReadBytes('\n')
			var event map[string]any
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && json.Unmarshal(data, &event) == nil {
				delete(event, "usage")
				delete(event, "timings")
				data, _ = json.Marshal(event)
				line = fmt.Appendf(nil, "data: %s\n", data)
			}
			if _, gone := write.Write(line); gone != nil {
				return
			}
			if err != nil {
				write.CloseWithError(err)
				return
			}
		}
	}()
	return read
}

// lyingFlush answers the flush itself, as each kind of server would.
func lyingFlush(t *testing.T, behind string) string {
	return proxy(t, behind, func(p *httputil.ReverseProxy) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch path := r.Method + " " + r.URL.Path; {
			case path == "POST /reset_prefix_cache":
				_, _ = io.WriteString(w, `{"success":true}`)
			case path == "POST /flush_cache":
				_, _ = io.WriteString(w, "Cache flushed.\n")
			case strings.HasPrefix(path, "POST /slots/"):
				_, _ = io.WriteString(w, `{"id_slot":0,"n_erased":320}`)
			default:
				p.ServeHTTP(w, r)
			}
		})
	})
}
