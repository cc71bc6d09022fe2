package lock

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// holder is what the one who has a resource says of itself, in a file beside
// the lock. It is for people: only the lock decides.
type holder struct {
	PID int `json:"pid"`
	// Program is the test binary, Folder where it runs: the package's.
	Program string    `json:"program"`
	Folder  string    `json:"folder"`
	Test    string    `json:"test,omitzero"`
	Since   time.Time `json:"since"`
}

// String is a sentence's end, as in "vllm.test (pid 42, TestDecode, in
// /src/perf) has held since 14:02:11".
func (h holder) String() string {
	if h.PID == 0 {
		return "another process holds"
	}
	test := ""
	if h.Test != "" {
		test = ", " + h.Test
	}
	return fmt.Sprintf("%s (pid %d%s, in %s) has held since %s", h.Program, h.PID, test, h.Folder, h.Since.Local().Format(time.TimeOnly))
}

// writeHolder says who has the resource now. That it cannot be said keeps
// nobody from having it.
func writeHolder(folder, name, test string) {
	h := holder{PID: os.Getpid(), Program: filepath.Base(os.Args[0]), Test: test, Since: time.Now().Round(time.Second)}
	h.Folder, _ = os.Getwd()
	text, err := json.Marshal(h)
	if err != nil {
		return
	}
	path := holderFile(folder, name)
	part := fmt.Sprintf("%s.%d", path, h.PID)
	if os.WriteFile(part, append(text, '\n'), 0o666) != nil || os.Rename(part, path) != nil {
		_ = os.Remove(part)
	}
}

// readHolder is the zero holder where nobody has said anything.
func readHolder(folder, name string) (h holder) {
	if text, err := os.ReadFile(holderFile(folder, name)); err == nil && json.Unmarshal(text, &h) != nil {
		return holder{}
	}
	return h
}

func holderFile(folder, name string) string {
	return filepath.Join(folder, fileName(name)+".json")
}
