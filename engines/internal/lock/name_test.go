package lock

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
)

// box is a host with two addresses, a link-local one, and a name server.
var box = &host{
	name: func() (string, error) { return "box-7", nil },
	addresses: func() ([]net.Addr, error) {
		var all []net.Addr
		for _, a := range []string{"127.0.0.1/8", "192.0.2.7/24", "2001:db8::7/64", "fe80::7/64"} {
			ip, network, err := net.ParseCIDR(a)
			if err != nil {
				return nil, err
			}
			all = append(all, &net.IPNet{IP: ip, Mask: network.Mask})
		}
		return all, nil
	},
	lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
		switch name {
		case "box-7.example":
			return []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7")}, nil
		case "both.example": // turns by turns
			return []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("192.0.2.8")}, nil
		}
		return nil, errors.New("no such host")
	},
}

func TestURLsOfOneServerAreOne(t *testing.T) {
	tests := []struct{ raw, want string }{
		{"http://gpu-7:8000", "http://gpu-7:8000"},
		{"HTTP://GPU-7:8000/", "http://gpu-7:8000"},
		{"http://user:sesame@gpu-7:8000/?key=sesame#sesame", "http://gpu-7:8000"},
		{"http://gpu-7:8000/v1/", "http://gpu-7:8000"},
		{"http://gpu-7", "http://gpu-7:80"},
		{"https://gate.example/team/a/", "https://gate.example:443/team/a"},
		{"https://gate.example/team/b", "https://gate.example:443/team/b"},
		{"http://[FE80::1]:8000", "http://[fe80::1]:8000"},
		{"http://192.0.2.8:8000", "http://192.0.2.8:8000"},
		{"http://[2001:0DB8:0::8]:8000", "http://[2001:db8::8]:8000"},
		{"http://both.example:8000", "http://both.example:8000"},

		{"http://127.0.0.1:8000", "http://127.0.0.1:8000"},
		{"http://localhost:8000", "http://127.0.0.1:8000"},
		{"http://LocalHost.:08000/v1", "http://127.0.0.1:8000"},
		{"http://api.localhost:8000", "http://127.0.0.1:8000"},
		{"http://127.0.1.1:8000", "http://127.0.0.1:8000"},
		{"http://0.0.0.0:8000", "http://127.0.0.1:8000"},
		{"http://[::]:8000", "http://127.0.0.1:8000"},
		{"http://[::1]:8000", "http://127.0.0.1:8000"},
		{"http://[0:0:0:0:0:0:0:1]:8000", "http://127.0.0.1:8000"},
		{"http://[::ffff:127.0.0.1]:8000", "http://127.0.0.1:8000"},
		{"http://192.0.2.7:8000/", "http://127.0.0.1:8000"},
		{"http://[2001:db8::7]:8000", "http://127.0.0.1:8000"},
		{"http://[fe80::7%25eth0]:8000", "http://127.0.0.1:8000"},
		{"http://Box-7:8000", "http://127.0.0.1:8000"},
		{"http://box-7.example:8000", "http://127.0.0.1:8000"},
		{"http://0.0.0.0", "http://127.0.0.1:80"},
		{"https://localhost/v1/", "https://127.0.0.1:443"},
		{"http://localhost:8000/team/a", "http://127.0.0.1:8000/team/a"},
	}
	for _, test := range tests {
		if got := box.url(test.raw); got != test.want {
			t.Errorf("URL(%q) = %q, want %q", test.raw, got, test.want)
		}
	}
	for _, raw := range []string{"", "sesame", "http://sesame:se%zz@x"} {
		if got := URL(raw); strings.Contains(got, "sesame") || !strings.HasPrefix(got, "url ") {
			t.Errorf("URL(%q) = %q", raw, got)
		}
	}
}

// By each of its own addresses, and by its name, this host is one.
func TestThisHostIsOne(t *testing.T) {
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip(err)
	}
	var names []string
	for _, a := range own {
		if n, ok := a.(*net.IPNet); ok {
			names = append(names, n.IP.String())
		}
	}
	if name, err := os.Hostname(); err == nil && name != "" {
		names = append(names, name)
	}
	for _, name := range names {
		if got := URL("http://" + net.JoinHostPort(name, "18100") + "/v1"); got != "http://127.0.0.1:18100" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// What a name server answers later changes no name.
func TestAServerKeepsItsName(t *testing.T) {
	answers := 0
	changing := &host{name: box.name, addresses: box.addresses, lookup: func(ctx context.Context, name string) ([]netip.Addr, error) {
		if answers++; answers == 1 {
			return nil, context.DeadlineExceeded
		}
		return box.lookup(ctx, name)
	}}
	for range 2 {
		if got := changing.url("http://box-7.example:8000"); got != "http://box-7.example:8000" {
			t.Error(got)
		}
	}
	if answers != 1 {
		t.Errorf("asked %d times", answers)
	}
}

// Different resources have different files, whatever they are called.
func FuzzFileNames(f *testing.F) {
	f.Add("gpu GPU-1", "gpu-GPU-1")
	f.Add("http://a:1/b", "http://a:1-b")
	f.Add("", "..")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := fileName(a), fileName(b)
		if a != b && x == y {
			t.Errorf("%q and %q are both %q", a, b, x)
		}
		if strings.ContainsAny(x, `/\:`) || strings.HasPrefix(x, "..") || len(x) > 120 {
			t.Errorf("%q is no name for a file: %q", a, x)
		}
	})
}
