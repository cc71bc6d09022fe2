package metric

// The verdicts on the client of a run.
const (
	// ClientOK: the load was offered as planned, and nothing shows that this
	// side stamped it late.
	ClientOK = "ok"
	// ClientLimited: the numbers are partly the client's own, or the load was not
	// offered as planned. Such a run is invalid.
	ClientLimited = "client-limited"
	// ClientUnknown: something that would tell could not be read, and what
	// could be read shows no fault.
	ClientUnknown = "unknown"
)

// Client is what this side of a run, the load generator and its host, had to
// do with the numbers, over the window.
type Client struct {
	// Verdict is ClientOK, ClientLimited or ClientUnknown; empty in records
	// that were written before there was one.
	Verdict string `json:"verdict,omitzero"`
	// Reasons are what the verdict rests on, each with what was read and the
	// limit, or with what could not be read.
	Reasons []string `json:"reasons,omitzero"`
	// Readings are what was read. One that is absent is unknown, never zero.
	//
	//	lag_p50_sec, lag_p99_sec, lag_max_sec   sent − due, by nearest rank,
	//	                    whatever the number of requests, without the waits
	//	                    for a slot and for a connection
	//	achieved            achieved ÷ offered rate, those included that failed
	//	                    on their way to the engine, and not those that
	//	                    Point.MaxInFlight refused; open loops only, and
	//	                    none with a Point.ClientLimit
	//	sent_gap_cv2        squared coefficient of variation of the gaps
	//	                    between requests as sent (planned: GapCV2)
	//	sent_burst, planned_burst   the most requests sent, and planned, within
	//	                    any 100 ms ÷ the number expected of the rate
	//	scheduler_p99_sec   how long goroutines of this process waited to run
	//	wake_p99_sec, wake_max_sec   how late this process woke up for timers
	//	                    that it set 100 times a second, by the way by which
	//	                    it learns of bytes on a socket; where the kernel
	//	                    has no alarm for that, for timers of package time
	//	read_lag_sec        how long bytes lay readable here before they were
	//	                    read: of the longest such times of each request,
	//	                    the quantile that is p99 of their events, and never
	//	                    less than the median
	//	stamp_late_sec      by how much gaps are wrong at most (p99 of all gaps)
	//	                    since events were read together with later bytes
	//	                    and have their time (Timeline.Lost); absent where
	//	                    the transport has not the times at which bytes came
	//	new_connections     requests that had to open a connection
	//	closed_connections  those of them for which an earlier request's had
	//	                    just become idle, so that the server had ended it
	//	connect_p50_sec, connect_max_sec   how long opening took them
	//	stopped_max_sec     longest stop of the process by the garbage collector
	//	stopped_share       share of the window in such stops
	//	process_cpus        CPUs that this process kept busy, of cpus
	//	cpus                CPUs that the Go scheduler may use at once
	//	host_busy_share     share of the host's CPUs that was busy, whoever
	//	                    kept it so
	Readings map[string]float64 `json:"readings,omitzero"`
}
