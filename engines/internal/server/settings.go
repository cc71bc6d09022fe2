package server

import (
	"strings"

	"github.com/openloop-go/openloop/internal/secret"
)

// Settings turns arguments into names and values: "--max-num-seqs 64" is
// max_num_seqs: 64, "--enforce-eager" is enforce_eager: true. Short names are
// spelled out as in names; secrets are left out.
func Settings(args []string, names map[string]string) map[string]string {
	settings := map[string]string{}
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i], "-") {
			continue
		}
		name, value, joined := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if !joined {
			var values []string
			for i+1 < len(args) && (!strings.HasPrefix(args[i+1], "-") || number(args[i+1])) {
				i++
				values = append(values, args[i])
			}
			value = strings.Join(values, " ")
			if len(values) == 0 {
				value = "true"
			}
		}
		if secret.Name(name) {
			continue
		}
		if long, ok := names[name]; ok {
			name = long
		}
		settings[strings.ReplaceAll(name, "-", "_")] = value
	}
	return settings
}

// number tells the value -1 from a flag.
func number(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && strings.Trim(arg[1:], "0123456789.") == ""
}
