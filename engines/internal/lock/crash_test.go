//go:build unix

package lock

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is also the other process: with this variable set it holds
// what the variable names, in the folder that its argument names.
const roleName = "LOCK_TEST_HOLDS"

func TestMain(m *testing.M) {
	name := os.Getenv(roleName)
	switch {
	case name == "":
		os.Exit(m.Run())
	case os.Args[1] == "contend":
		os.Exit(contend(name, os.Args[2]))
	case os.Args[1] == "try":
		os.Exit(try(name, os.Args[2]))
	case os.Args[1] == "watchdog": // it has inherited the file, and waits for the end of the pipe
		fmt.Println("watching")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		os.Exit(0)
	}
	l, err := Acquire(context.Background(), Request{Resources: []string{name}, Folder: os.Args[1], Owner: "TestOther"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if len(os.Args) > 2 {
		dog := exec.Command(os.Args[0], "watchdog")
		dog.Stdin, dog.Stdout, dog.ExtraFiles = os.Stdin, os.Stdout, l.Files()
		if err := dog.Start(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	} else {
		fmt.Println("holding")
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // for ever
}

// other starts a process that holds a resource, and waits until it does.
func other(t *testing.T, name, folder string, args ...string) (process *exec.Cmd, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{folder}, args...)...)
	cmd.Env = append(os.Environ(), roleName+"="+name)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = in.Close(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasSuffix(line, "ing\n") {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd, func() { _ = in.Close() }
}

// However the holder ends, the next one gets the lock.
func TestACrashFreesTheLock(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGQUIT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			folder := t.TempDir()
			cmd, _ := other(t, "gpu 1", folder)
			if one, _, err := take(folder, "gpu 1", "", false); one != nil || err != nil {
				t.Fatalf("taken from a process that lives: %v", err)
			}
			who := readHolder(folder, "gpu 1")
			if who.PID != cmd.Process.Pid || who.Test != "TestOther" || !strings.HasPrefix(who.Program, "lock.test") {
				t.Errorf("holder %+v", who)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			l, err := Acquire(ctx, Request{Resources: []string{"gpu 1"}, Folder: folder})
			if err != nil {
				t.Fatal(err)
			}
			if got := readHolder(folder, "gpu 1").PID; got != os.Getpid() {
				t.Errorf("the holder is %d, want %d", got, os.Getpid())
			}
			if err := l.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a watchdog has inherited is held until it has done its work.
func TestAWatchdogKeepsTheLock(t *testing.T) {
	folder := t.TempDir()
	cmd, endWatch := other(t, "gpu 1", folder, "with a watchdog")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = cmd.Process.Wait()
	if one, _, err := take(folder, "gpu 1", "", false); one != nil || err != nil {
		t.Fatalf("taken while the watchdog lives: %v", err)
	}
	endWatch()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	l, err := Acquire(ctx, Request{Resources: []string{"gpu 1"}, Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
}

// Release frees the lock at once, whoever else has the file open.
func TestReleaseFreesWhatAWatchdogHasOpen(t *testing.T) {
	folder := t.TempDir()
	l, err := Acquire(t.Context(), Request{Resources: []string{"gpu 1"}, Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	dog := exec.Command(os.Args[0], "watchdog")
	dog.Env = append(os.Environ(), roleName+"=x")
	dog.ExtraFiles = l.Files()
	in, err := dog.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dog.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = dog.Wait() }()
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	elsewhere(t, folder, "gpu 1", "")()
}

// turns is how often each process that contends takes the lock.
const turns = 300

// contend adds to the number in a file, under the lock.
func contend(name, folder string) int {
	file := filepath.Join(folder, "number")
	for range turns {
		var one *resource
		for one == nil {
			var err error
			if one, _, err = take(folder, name, "", false); err != nil {
				fmt.Println(err)
				return 1
			}
		}
		text, _ := os.ReadFile(file)
		n, _ := strconv.Atoi(string(text))
		if err := os.WriteFile(file, []byte(strconv.Itoa(n+1)), 0o600); err != nil {
			fmt.Println(err)
			return 1
		}
		if err := one.give("", false); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	return 0
}

// The lock's file comes and goes, and there is never a second one to hold.
func TestOneAtATime(t *testing.T) {
	folder := t.TempDir()
	const processes = 3
	var all []*exec.Cmd
	for range processes {
		cmd := exec.Command(os.Args[0], "contend", folder)
		cmd.Env = append(os.Environ(), roleName+"=gpu 1")
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "number"))
	if want := strconv.Itoa(processes * turns); err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
