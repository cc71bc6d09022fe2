package benchtest

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// modulePath is how build information names this module.
const modulePath = "github.com/openloop-go/openloop"

// client is what the load was made on and by. A value that could not be found
// out is empty.
var client = sync.OnceValue(func() []metric.Pair {
	return []metric.Pair{
		{Key: "client-cpu", Value: procField("/proc/cpuinfo", "model name")},
		{Key: "client-cores", Value: strconv.Itoa(runtime.NumCPU())},
		{Key: "client-memory", Value: procField("/proc/meminfo", "MemTotal")},
		{Key: "client-os", Value: runtime.GOOS + "/" + runtime.GOARCH},
		{Key: "go", Value: runtime.Version()},
		{Key: "openloop", Value: ownVersion()},
	}
})

// procField is the first value of a key in a file of "key : value" lines.
func procField(path, key string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		k, v, found := strings.Cut(lines.Text(), ":")
		if found && strings.TrimSpace(k) == key {
			return strings.Join(strings.Fields(v), " ")
		}
	}
	return ""
}

// ownVersion is the version of this module in the running binary, with the
// commit where it is built from a checkout.
func ownVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == modulePath {
			return m.Version
		}
	}
	if info.Main.Path != modulePath {
		return ""
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && !strings.Contains(version, s.Value[:min(12, len(s.Value))]) {
			version += " " + s.Value
		}
	}
	return version
}
