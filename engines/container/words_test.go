package container

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
)

// No Docker, no daemon and no right to use it are three things to do.
func TestNoDaemonIsExplained(t *testing.T) {
	refused := errors.New("dial unix /var/run/docker.sock: connect:\nconnection refused")
	for _, test := range []struct {
		name string
		here signs
		err  error
		want string
	}{
		{"nothing", signs{}, errors.New("socket not found"),
			"there is no Docker here, neither the program docker nor a socket of a daemon (socket not found): install Docker (https://docs.docker.com/get-started/get-docker/), set DOCKER_HOST to a daemon elsewhere, or leave out Config.Launcher to start a process"},
		{"a program without a daemon", signs{program: "/usr/bin/docker"}, errors.New("socket not found"),
			"the Docker daemon is down: there is /usr/bin/docker and no socket of a daemon (socket not found): start it (systemctl start docker, or Docker Desktop), or set DOCKER_HOST"},
		{"a socket that a daemon left", signs{program: "/usr/bin/docker", socket: defaultSocket}, refused,
			"the Docker daemon is down: /var/run/docker.sock exists and nothing answers there (dial unix /var/run/docker.sock: connect: connection refused): start it (systemctl start docker, or Docker Desktop)"},
		{"a daemon elsewhere", signs{host: "tcp://gpu-box:2375", socket: defaultSocket}, errors.New("i/o timeout"),
			"the Docker daemon is down: DOCKER_HOST is tcp://gpu-box:2375 and nothing answers there (i/o timeout): start it, or correct DOCKER_HOST"},
		{"a socket of root's", signs{program: "/usr/bin/docker", socket: defaultSocket}, &fs.PathError{Op: "dial", Path: defaultSocket, Err: fs.ErrPermission},
			"the Docker daemon may not be used by this user (dial /var/run/docker.sock: permission denied): join the group docker (usermod -aG docker, then log in anew), or set DOCKER_HOST to a daemon that may be"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.here.explain(test.err).Error(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestHowAContainerEnded(t *testing.T) {
	for _, test := range []struct {
		state container.State
		want  string
	}{
		{container.State{ExitCode: 1}, "container exited with code 1"},
		{container.State{ExitCode: 137, OOMKilled: true}, "container exited with code 137 (out of memory)"},
		{container.State{ExitCode: 137}, "container exited with code 137 (killed by signal 9, often the kernel, out of memory)"},
		{container.State{ExitCode: 128, Error: "no space left"}, "container exited with code 128: no space left"},
	} {
		if got := ended(&test.state); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// Lines of two streams do not mix.
func TestWholeLines(t *testing.T) {
	var log strings.Builder
	out, errs := &lines{w: &log}, &lines{w: &log}
	_, _ = out.Write([]byte("one\ntw"))
	_, _ = errs.Write([]byte("a warning\n"))
	_, _ = out.Write([]byte("o\nthe end"))
	out.flush()
	errs.flush()
	if want := "one\na warning\ntwo\nthe end\n"; log.String() != want {
		t.Errorf("got %q, want %q", log.String(), want)
	}
}

// A line that never ends, as of a progress bar, is cut where the log cuts it.
func TestLinesWithoutAnEnd(t *testing.T) {
	var log strings.Builder
	out := &lines{w: &log}
	for range 3 * longestLine / 16 {
		_, _ = out.Write([]byte("\r 47% of weights"))
	}
	if cap(out.partial) > 2*longestLine {
		t.Errorf("%d bytes are kept", cap(out.partial))
	}
	_, _ = out.Write([]byte(strings.Repeat("x", 3*longestLine) + "\ny"))
	out.flush()
	const bar = longestLine / 16
	piece := strings.Repeat("\r 47% of weights", bar) + "\n"
	if want := strings.Repeat(piece, 3) + strings.Repeat("x", 3*longestLine) + "\ny\n"; log.String() != want {
		t.Errorf("got %d bytes in lines of %d, want %d", log.Len(), strings.IndexByte(log.String(), '\n'), len(want))
	}
}

// Images of CI have no machine-id, and share a daemon with other hosts.
func TestFateOnAHostWithoutAName(t *testing.T) {
	for _, name := range []string{"", "uninitialized"} {
		me := describe(os.Getpid())
		me.machine = name
		elsewhere, dead, bootless := me, me, me
		elsewhere.boot = "another"
		dead.started = "1"
		bootless.boot = ""
		for _, test := range []struct {
			name string
			me   owner
			o    owner
			want fate
		}{
			{"this process", me, me, lives},
			{"one of this boot that has ended", me, dead, died},
			{"one of another boot, perhaps another host's", me, elsewhere, unknown},
			{"without a boot either", bootless, bootless, unknown},
		} {
			if got := test.me.fateOf(test.o); got != test.want {
				t.Errorf("machine-id %q: %s: %d, want %d", name, test.name, got, test.want)
			}
		}
	}
}

func TestOwnersFate(t *testing.T) {
	child := exec.Command(os.Args[0]) // a watchdog, which waits
	child.Env = append(os.Environ(), watchdogVariable+"=nobody")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	me, other := self(), describe(child.Process.Pid)
	if got := fateOf(me); got != lives {
		t.Errorf("of this process: %d", got)
	}
	if again, ok := parseOwner(me.String()); !ok || again != me {
		t.Errorf("%v read back as %v", me, again)
	}
	if got := fateOf(other); got != lives {
		t.Errorf("of another one: %d", got)
	}
	if _, err := io.WriteString(in, farewell+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := fateOf(other); got != died {
		t.Errorf("of one that has ended: %d", got)
	}
	for _, label := range []string{"", "a/b/c/4", "a/b/c/x/5", "a/b/c/-4/5", "a/b/c/4/", "a/b/c/4/5/6"} {
		if o, ok := parseOwner(label); ok {
			t.Errorf("parseOwner(%q) = %v", label, o)
		}
	}
	if got := fateOf(owner{}); got != unknown {
		t.Errorf("of nobody: %d", got)
	}
}

func TestWatchdogThatIsDismissed(t *testing.T) {
	watchdog(strings.NewReader(farewell), "nobody") // returns at once, without a daemon
}
