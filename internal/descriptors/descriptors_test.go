package descriptors

import "testing"

func TestWhatALimitDoesNotHold(t *testing.T) {
	const raise = ": raise it with ulimit -n, as LimitNOFILE or --ulimit nofile"
	for _, tt := range []struct {
		what  string
		need  Need
		limit int
		want  string
	}{
		{"all that there are", Need{What: "20 streams", More: 20, Open: 12}, 64, ""},
		{"one more", Need{What: "21 streams", More: 21, Open: 12}, 64,
			"21 streams need 65 descriptors, with 12 that are open and 32 for all else, and the limit (RLIMIT_NOFILE) is 64" + raise},
		{"how many are open is unknown", Need{What: "9,800 streams", More: 9800, Else: 256}, 10_000,
			"9,800 streams need 10056 descriptors, with 256 for all else, and the limit (RLIMIT_NOFILE) is 10000" + raise},
		{"none is left", Need{What: "5 more", More: 5, Open: 40}, 40,
			"5 more need 77 descriptors, with 40 that are open and 32 for all else, and the limit (RLIMIT_NOFILE) is 40" + raise},
		{"the limit is unknown", Need{What: "5 more", More: 5, Open: 40}, 0, ""},
	} {
		if got := tt.need.Beyond(tt.limit); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.what, got, tt.want)
		}
	}
}
