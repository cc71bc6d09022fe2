package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines/launch"
)

// logFile keeps the logs of later starts beside the first one's.
func logFile(path string, start int64) string {
	if path == "" || start == 1 {
		return path
	}
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, ext), start, ext)
}

// artifact is a log file in the folder for artifacts; empty when none is set.
func artifact(name string) string {
	env, err := ci.Load()
	if err != nil || env.Artifacts == "" {
		return ""
	}
	file := fmt.Sprintf("%s-%s-%d.log", name, time.Now().Format("20060102-150405.000"), os.Getpid())
	return filepath.Join(env.Artifacts, "logs", file)
}

// discardLogs removes the logs whose place nobody chose, of a server that has
// ended and whose test passed.
func (s *Server) discardLogs() {
	s.restarting.Lock()
	defer s.restarting.Unlock()
	for _, path := range s.unnamed {
		_ = os.Remove(path) // what is left is no more than a file in a temporary folder
	}
	s.unnamed = nil
}

// passed reports a test that says it has not failed.
func passed(t launch.T) bool {
	told, ok := t.(interface{ Failed() bool })
	return ok && !told.Failed()
}
