package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/metric"
)

func TestTheTextOfARoofline(t *testing.T) {
	r := roofline{
		Host:   []metric.Pair{{Key: "cores", Value: "16"}, {Key: "go", Value: "go1.26"}},
		Client: &rooflineCost{31e-6, 9.24e-6},
		Requests: []rooflineStep{
			{Requests: 1000, Events: 1000, Verdict: metric.ClientOK, Readings: map[string]float64{
				"achieved": 0.99999, "lag_p50_sec": 45e-6, "lag_p99_sec": 98e-6, "lag_max_sec": 312e-6, "late_p50_sec": 4.7e-6, "late_p99_sec": 40e-6, "process_cpus": 0.08, "host_busy_share": 0.11}},
			{Requests: 2000, Events: 2000, Verdict: metric.ClientLimited, Reasons: []string{"requests left late: give it more CPU"}, Readings: map[string]float64{"achieved": 0.97}},
		},
		Events:  []rooflineStep{{Requests: 166.7, Events: 5000, Streams: 100, Verdict: metric.ClientOK, Readings: map[string]float64{"lag_max_sec": 1.25}}},
		Streams: &rooflineWide{Streams: 10_000, Ended: 9_999, BytesEach: 13_722, SentSec: 0.51, Reason: "client: too many open files"},
		Holds:   &rooflineHolds{Requests: 1000, Events: 5000},
		Notes:   []string{"ended for time"},
	}
	r.Holds.Not.Requests, r.Holds.Not.Streams = 2000, 10_000
	assert.Equal(t, `host      cores 16, go go1.26
client    31µs of CPU a request, 9.2µs an event (calibrated)

short requests, of one event
                            achieved    lag                    events          client   host                 
   requests/s   events/s   ÷ offered    p50    p99     max   late p50    p99     CPUs   busy           client
        1,000      1,000      1.0000   45µs   98µs   312µs      4.7µs   40µs     0.08   11 %               ok
        2,000      2,000      0.9700      ?      ?       ?          ?      ?        ?      ?   client-limited
   2,000 events/s: requests left late

streams of 100 events/s
                                      achieved   lag                   events         client   host         
   streams   requests/s   events/s   ÷ offered   p50   p99     max   late p50   p99     CPUs   busy   client
       100          167      5,000           ?     ?     ?   1.25s          ?     ?        ?      ?       ok

at once   9,999 of 10,000 streams ended well, 13.4 KiB of memory each, all sent within 510ms
          client: too many open files
holds     1,000 requests/s (not 2,000), 5,000 events/s or more, 0 streams at once (not 10,000)
          each by itself, with the server on this host
note      ended for time
`, r.text())
}

func TestTheTextOfALoadThatIsAskedAbout(t *testing.T) {
	r := roofline{
		Client: &rooflineCost{31e-6, 9.24e-6},
		Asked: &rooflineAnswer{Why: "20 requests/s: not held: client-limited", Offered: &rooflineStep{
			Requests: 20, Events: 20, Verdict: metric.ClientLimited, Reasons: []string{"requests left late: give it more CPU"}, Readings: map[string]float64{"achieved": 0.97},
		}},
	}
	assert.Equal(t, `client    31µs of CPU a request, 9.2µs an event (calibrated)

                            achieved   lag                 events         client   host                 
   requests/s   events/s   ÷ offered   p50   p99   max   late p50   p99     CPUs   busy           client
           20         20      0.9700     ?     ?     ?          ?     ?        ?      ?   client-limited
   20 events/s: requests left late

asked     20 requests/s: not held: client-limited
`, r.text())
}

func TestWhatIsBeyondWhatIsHeld(t *testing.T) {
	assert.Equal(t, " (not 2,000)", beyondIt(2000, false))
	assert.Equal(t, " (not 2,000)", beyondIt(2000, true), "also of a climb that was cut")
	assert.Equal(t, " (ended for time)", beyondIt(0, true))
	assert.Equal(t, " or more", beyondIt(0, false))
}

func TestARateWithItsDecimals(t *testing.T) {
	assert.Equal(t, "7.5", perSecond(7.5))
	assert.Equal(t, "1,234,567", perSecond(1234567))
}
