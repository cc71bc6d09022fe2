//go:build linux

package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// body is a request that is no stream.
const body = `{"model":"` + model + `","prompt":"w1 w2 w3","max_tokens":1}`

// floorClients are those of the load without streams: wrk and hey, which know
// nothing of streams, and ours, whose replies are streams of one event. Wrk has
// no open loop: it sends as fast as 16 connections are answered.
func floorClients(p places) []client {
	us := clients(p)[0]
	return []client{us, hey(), wrk()}
}

func hey() client {
	return client{
		Name: "hey", Package: "hey", Version: []string{"hey"},
		Run: func(url, dir string, l load) []string {
			const workers = 50
			return []string{
				"hey", "-o", "csv", "-c", strconv.Itoa(workers), "-q", number(l.Rate / workers), "-n", strconv.Itoa(l.Requests),
				"-m", "POST", "-T", "application/json", "-d", body, url + "/v1/completions",
			}
		},
		Read: func(dir string) (said, error) {
			f, err := os.Open(filepath.Join(dir, "log"))
			if err != nil {
				return said{}, err
			}
			defer f.Close()
			rows, err := csv.NewReader(f).ReadAll()
			if err != nil {
				return said{}, fmt.Errorf("read what hey printed: %w", err)
			}
			var ms []float64
			for _, row := range rows[min(1, len(rows)):] {
				seconds, err := strconv.ParseFloat(row[0], 64)
				if err != nil {
					return said{}, fmt.Errorf("read what hey printed: %w", err)
				}
				ms = append(ms, seconds*1e3)
			}
			return said{TTFT: distOf(ms), ITL: none, Requests: len(ms)}, nil
		},
	}
}

func wrk() client {
	return client{
		Name: "wrk (closed loop)", Package: "wrk", Version: []string{"wrk"},
		Run: func(url, dir string, l load) []string {
			script := filepath.Join(dir, "post.lua")
			text := fmt.Sprintf("wrk.method = %q\nwrk.body = %q\nwrk.headers[%q] = %q\n", "POST", body, "Content-Type", "application/json")
			// A file that cannot be written is found by wrk, which reads it.
			_ = os.WriteFile(script, []byte(text), 0o644)
			seconds := max(1, int(math.Round(float64(l.Requests)/l.Rate)))
			return []string{
				"wrk", "-t", "1", "-c", "16", "-d", strconv.Itoa(seconds) + "s", "--latency", "-s", script, url + "/v1/completions",
			}
		},
		Read: func(dir string) (said, error) {
			f, err := os.Open(filepath.Join(dir, "log"))
			if err != nil {
				return said{}, err
			}
			defer f.Close()
			s := said{TTFT: none, ITL: none, Closed: true}
			for lines := bufio.NewScanner(f); lines.Scan(); {
				fields := strings.Fields(lines.Text())
				switch {
				case len(fields) > 1 && fields[0] == "Latency" && fields[1] != "Distribution":
					s.TTFT.Mean = ms(fields[1])
				case len(fields) == 2 && fields[0] == "50%":
					s.TTFT.P50 = ms(fields[1])
				case len(fields) == 2 && fields[0] == "99%":
					s.TTFT.P99 = ms(fields[1])
				case len(fields) > 2 && fields[1] == "requests" && fields[2] == "in":
					s.Requests, _ = strconv.Atoi(fields[0])
				}
			}
			if math.IsNaN(s.TTFT.P99) {
				return s, fmt.Errorf("wrk printed no latency: %s", tail(filepath.Join(dir, "log")))
			}
			return s, nil
		},
	}
}

func ms(text string) float64 {
	d, err := time.ParseDuration(text)
	if err != nil {
		return math.NaN()
	}
	return d.Seconds() * 1e3
}
