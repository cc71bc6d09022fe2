package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/metric"
)

func TestTheTextOfARoofline(t *testing.T) {
	ended, streams, requests, events := 9_999, 100, 1000.0, 5000.0
	r := roofline{
		Host:   []metric.Pair{{Key: "cores", Value: "16"}, {Key: "go", Value: "go1.26"}},
		Client: &rooflineCost{31e-6, 9.24e-6},
		Requests: []rooflineStep{
			{Requests: 1000, Events: 1000, WindowSec: 1, Verdict: metric.ClientOK, Readings: map[string]float64{
				"achieved": 0.99999, "lag_p50_sec": 45e-6, "lag_p99_sec": 98e-6, "lag_max_sec": 312e-6, "late_p50_sec": 4.7e-6, "late_p99_sec": 40e-6, "process_cpus": 0.08, "host_busy_share": 0.11}},
			{Requests: 2000, Events: 2000, WindowSec: 0.25, Verdict: metric.ClientLimited, Reasons: []string{"requests left late: give it more CPU"}, Readings: map[string]float64{"achieved": 0.97}},
		},
		Events:  []rooflineStep{{Requests: 166.7, Events: 5000, Streams: 100, WindowSec: 0.25, Verdict: metric.ClientOK, Readings: map[string]float64{"lag_max_sec": 1.25}}},
		Streams: &rooflineWide{Streams: 10_000, Ended: &ended, BytesEach: 13_722, SentSec: 0.51, Reason: "client: too many open files"},
		Holds:   &rooflineHolds{Requests: &requests, Events: &events, Streams: &streams},
		Busy:    busyHost(3.77, 2),
		Notes:   []string{"ended for time"},
	}
	r.Holds.Not.Requests, r.Holds.Not.Streams, r.Holds.Cut.Events = 2000, 10_000, true
	r.Holds.Sec.Requests, r.Holds.Sec.Events = 2, 0.25
	r.Holds.plan()
	assert.Equal(t, `host      cores 16, go go1.26
client    31µs of CPU a request, 9.2µs an event (calibrated)

short requests, of one event
                                    achieved    lag                    events          client   host                 
   requests/s   events/s     for   ÷ offered    p50    p99     max   late p50    p99     CPUs   busy           client
        1,000      1,000      1s      1.0000   45µs   98µs   312µs      4.7µs   40µs     0.08   11 %               ok
        2,000      2,000   250ms      0.9700      ?      ?       ?          ?      ?        ?      ?   client-limited
   2,000 events/s: requests left late

streams of 100 events/s
                                              achieved   lag                   events         client   host         
   streams   requests/s   events/s     for   ÷ offered   p50   p99     max   late p50   p99     CPUs   busy   client
       100          167      5,000   250ms           ?     ?     ?   1.25s          ?     ?        ?      ?       ok

at once   9,999 of 10,000 streams ended well, 13.4 KiB of memory each, all sent within 510ms
          client: too many open files
holds     1,000 requests/s (not 2,000), at least 5,000 events/s (more not tried to the end), 100 streams at once (not 10,000)
          each by itself, with the server on this host; the requests for 2s, the events for 250ms
          of a busy host: the load average was 3.77 on 2 CPUs when this began: with nothing else running it may hold more
plan      with at most 500 requests/s: 50 % of what was held, since a host does not hold its most at all times, and a busy one not even that
note      ended for time
`, r.text())
}

func TestTheTextOfALoadThatIsAskedAbout(t *testing.T) {
	r := roofline{
		Client: &rooflineCost{31e-6, 9.24e-6},
		Busy:   "it computes",
		Asked: &rooflineAnswer{Why: "20 requests/s: not held: client-limited", Offered: &rooflineStep{
			Requests: 2.5, Events: 2.5, WindowSec: 4, Verdict: metric.ClientLimited, Reasons: []string{"requests left late: give it more CPU"}, Readings: map[string]float64{"achieved": 0.97},
		}},
	}
	assert.Equal(t, `client    31µs of CPU a request, 9.2µs an event (calibrated)

                                  achieved   lag                 events         client   host                 
   requests/s   events/s   for   ÷ offered   p50   p99   max   late p50   p99     CPUs   busy           client
          2.5        2.5    4s      0.9700     ?     ?     ?          ?     ?        ?      ?   client-limited
   2.5 events/s: requests left late

asked     20 requests/s: not held: client-limited
          of a busy host: it computes
`, r.text())
}

func TestARateWithItsDecimals(t *testing.T) {
	assert.Equal(t, "7.5", perSecond(7.5))
	assert.Equal(t, "1,234,567", perSecond(1234567))
}

func TestARateWithDecimalsWhereItIsSmall(t *testing.T) {
	assert.Equal(t, "0.67", fewPerSecond(2.0/3))
	assert.Equal(t, "3", fewPerSecond(3))
	assert.Equal(t, "5,417", fewPerSecond(5416.6667))
}
