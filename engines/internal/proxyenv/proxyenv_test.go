package proxyenv

import (
	"net/url"
	"testing"
)

func TestProxiesOfTheEnvironment(t *testing.T) {
	for _, tt := range []struct{ what, server, name, exclude, want string }{
		{"none", "http://gpu.example.org:8000", "", "", ""},
		{"one", "http://gpu.example.org:8000", "HTTP_PROXY", "", "HTTP_PROXY"},
		{"one in small letters", "http://gpu.example.org", "all_proxy", "", "all_proxy"},
		{"of the other scheme", "http://gpu.example.org", "https_proxy", "", "https_proxy"},
		{"this host", "http://127.0.0.1:8000", "HTTP_PROXY", "", ""},
		{"this host by another address", "http://127.8.0.1:8000", "HTTP_PROXY", "", ""},
		{"this host over IPv6", "http://[::1]:8000", "HTTP_PROXY", "", ""},
		{"this host by name", "http://LocalHost:8000", "HTTP_PROXY", "", ""},
		{"all excluded", "http://gpu", "HTTP_PROXY", "*", ""},
		{"excluded by name", "http://GPU.example.org:8000", "HTTP_PROXY", "other, gpu.Example.org", ""},
		{"excluded by name and port", "http://gpu:8000", "HTTP_PROXY", "gpu:8000", ""},
		{"another port excluded", "http://gpu:8000", "HTTP_PROXY", "gpu:8001", "HTTP_PROXY"},
		{"excluded by domain", "http://gpu.example.org", "HTTP_PROXY", "example.org", ""},
		{"excluded by domain with a dot", "http://gpu.example.org", "HTTP_PROXY", ".example.org", ""},
		{"excluded by domain with a star", "http://gpu.example.org", "HTTP_PROXY", "*.example.org", ""},
		{"the domain itself is not below it", "http://example.org", "HTTP_PROXY", ".example.org", "HTTP_PROXY"},
		{"a name that ends alike", "http://myexample.org", "HTTP_PROXY", "example.org", "HTTP_PROXY"},
		{"excluded by address", "http://10.1.2.3:8000", "HTTP_PROXY", "10.1.2.3", ""},
		{"excluded by address and port", "http://[fd00::1]:8000", "HTTP_PROXY", "[fd00::1]:8000", ""},
		{"excluded by network", "http://10.1.2.3:8000", "HTTP_PROXY", "10.0.0.0/8", ""},
		{"another network excluded", "http://11.1.2.3:8000", "HTTP_PROXY", "10.0.0.0/8,10.1.2.3", "HTTP_PROXY"},
		{"a network, and the server has a name", "http://gpu", "HTTP_PROXY", "0.0.0.0/0", "HTTP_PROXY"},
	} {
		for _, exclude := range Excluding {
			t.Run(tt.what+", "+exclude, func(t *testing.T) {
				for _, name := range append(append([]string(nil), Names...), Excluding...) {
					t.Setenv(name, "")
				}
				if tt.name != "" {
					t.Setenv(tt.name, "http://user:secret@proxy")
				}
				t.Setenv(exclude, tt.exclude)
				server, err := url.Parse(tt.server)
				if err != nil {
					t.Fatal(err)
				}
				if got := For(server); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		}
	}
}
