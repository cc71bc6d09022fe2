//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
	"github.com/openloop-go/openloop/internal/nullserver"
)

// read is a client in a process of its own: it asks for streams, all at once,
// reads them to their ends and prints how many events came.
func read(args []string) error {
	flags := flag.NewFlagSet("read", flag.ContinueOnError)
	how := flags.String("how", "openai", "client: "+ways())
	root := flags.String("url", "", "the server's root")
	n := flags.Int("streams", 1000, "streams at once")
	profile := flags.String("profile", "", "file for a CPU profile")
	memory := flags.Duration("memory", 0, "print memory after so long; 0 does not")
	if err := flags.Parse(args); err != nil {
		return err
	}
	client := clients[*how]
	if client == nil {
		return fmt.Errorf("no client %q: there are %s", *how, ways())
	}
	one, err := client(*root)
	if err != nil {
		return err
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	before := resident()
	lines := make([]line, *n)
	var wg sync.WaitGroup
	var failed atomic.Pointer[error]
	for i := range lines {
		l := &lines[i]
		l.id = fmt.Sprintf("s%06d", i)
		wg.Go(func() {
			if err := one(l); err != nil {
				failed.CompareAndSwap(nil, &err)
			}
		})
		if i%5 == 4 {
			time.Sleep(time.Second / connectRate * 5) // a server's queue of new connections is short
		}
	}
	if *memory > 0 {
		time.Sleep(*memory)
		printMemory(before, *n)
	}
	wg.Wait()
	events := 0
	for i := range lines {
		events += lines[i].events
	}
	fmt.Println("events", events)
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// connectRate is how many streams are asked for in a second, at most.
const connectRate = 5000

// line is what is kept of one stream.
type line struct {
	id     string
	events int   // that carried a token
	last   int64 // the time of the last of them
}

func (l *line) event(at int64) {
	l.events++
	l.last = at
}

// clients are the clients by name. Each parses, counts and stamps.
var clients = map[string]func(root string) (func(*line) error, error){
	"openai": func(root string) (func(*line) error, error) {
		return ours(openai.Config{URL: root})
	},
	// A proxy that is none keeps the client from its own transport.
	"openai-net/http": func(root string) (func(*line) error, error) {
		return ours(openai.Config{URL: root, Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }})
	},
	"net/http-scan": plain(scanned),
	"net/http-json": plain(decoded),
}

func ways() string { return "openai, openai-net/http, net/http-scan or net/http-json" }

// ours is this module's client, used as its driver uses it.
func ours(cfg openai.Config) (func(*line) error, error) {
	e, err := openai.New(cfg)
	if err != nil {
		return nil, err
	}
	return func(l *line) error {
		r := &engines.Request{
			ID: l.id, Text: "hello", MaxTokens: 1 << 20,
			Stamp: func() time.Duration { return time.Duration(nullserver.Now()) },
		}
		tokens := 0
		reply, err := e.Generate(context.Background(), r, func(c engines.Chunk) {
			if c.Token {
				tokens += c.Tokens.N
				l.event(int64(c.At))
			}
		})
		if err == nil && (tokens != l.events || reply.OutputTokens != engines.Known(tokens)) {
			err = fmt.Errorf("%s: %d tokens in %d events, the server counted %d", l.id, tokens, l.events, reply.OutputTokens.N)
		}
		return err
	}, nil
}

// resident is the process's resident memory in bytes.
func resident() int {
	var pages, size int
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fmt.Sscan(string(b), &size, &pages)
	return pages * os.Getpagesize()
}

func printMemory(before, streams int) {
	now := resident()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("memory: %d B a stream resident, of it %d B heap in use and %d B stacks; %d goroutines\n",
		(now-before)/streams, int(m.HeapInuse)/streams, int(m.StackInuse)/streams, runtime.NumGoroutine())
}
