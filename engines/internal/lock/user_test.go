//go:build unix

package lock

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// try says whether a resource is free, as another user may see it.
func try(name, folder string) int {
	switch one, _, err := take(folder, name, "", false); {
	case err != nil:
		fmt.Println(err)
		return 1
	case one == nil:
		fmt.Println("another's")
	default:
		fmt.Println("free")
	}
	return 0
}

// secondUser returns a function that tries a resource as another user where
// this process may become one. Where it may not, it is this user, who is
// refused as another is where the file cannot be written.
func secondUser(t *testing.T, name, folder string) func() string {
	t.Helper()
	program, credential := os.Args[0], (*syscall.Credential)(nil)
	if os.Geteuid() == 0 {
		dir := t.TempDir()
		letIn(t, dir, 0o755)
		copied, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		program = filepath.Join(dir, "lock.test")
		if err := os.WriteFile(program, copied, 0o755); err != nil {
			t.Fatal(err)
		}
		credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	return func() string {
		t.Helper()
		cmd := exec.Command(program, "try", folder)
		cmd.Dir, cmd.Env = "/", append(os.Environ(), roleName+"="+name)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
		said, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Sprintf("%s%v", said, err)
		}
		return strings.TrimSpace(string(said))
	}
}

// letIn lets all users into a folder of the test's.
func letIn(t *testing.T, dir string, mode os.FileMode) {
	t.Helper()
	for path, mode := range map[string]os.FileMode{filepath.Dir(dir): 0o755, dir: mode} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
}

// Another user waits as this one does, in a folder that they share, and has
// the resource when it is free, with a file left behind or without.
func TestAnotherUserWaits(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	for _, left := range []bool{false, true} {
		t.Run(fmt.Sprintf("a file that cannot be written is left: %t", left), func(t *testing.T) {
			folder := t.TempDir()
			letIn(t, folder, os.ModeSticky|0o777)
			tries := secondUser(t, CPU, folder)
			if left {
				if err := os.WriteFile(lockPath(folder, CPU), nil, 0o444); err != nil {
					t.Fatal(err)
				}
				if got := tries(); got != "free" {
					t.Errorf("left behind: %s, want it free", got)
				}
			}
			one, _, err := take(folder, CPU, "", false)
			if err != nil || one == nil {
				t.Fatal(one, err)
			}
			if left {
				if err := os.Chmod(lockPath(folder, CPU), 0o444); err != nil {
					t.Fatal(err)
				}
			}
			if got := tries(); got != "another's" {
				t.Errorf("held: %s, want it another's", got)
			}
			if err := one.give("", false); err != nil {
				t.Fatal(err)
			}
			if got := tries(); got != "free" {
				t.Errorf("given back: %s, want it free", got)
			}
		})
	}
}

// What a umask takes away is given back: all users may lock the file.
func TestTheUmaskClosesNoLock(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	folder := t.TempDir()
	one, _, err := take(folder, CPU, "", false)
	if err != nil || one == nil {
		t.Fatal(one, err)
	}
	defer one.give("", false)
	info, err := os.Stat(lockPath(folder, CPU))
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o666 {
		t.Errorf("mode %v, want rw for all", got)
	}
}
