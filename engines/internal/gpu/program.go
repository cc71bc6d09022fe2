package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// program reads through nvidia-smi.
type program struct{ path string }

func findProgram() (Reader, error) {
	path, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return nil, ErrNone
	}
	return program{path}, nil
}

// answerLimit bounds one run of nvidia-smi, which takes seconds where the
// driver does not stay loaded (persistence mode off).
const answerLimit = 20 * time.Second

// deviceFields and readingFields are in every driver since about 2017; an
// unknown one would fail the whole question.
var (
	deviceFields  = []string{"index", "uuid", "name", "driver_version", "power.limit", "clocks.max.sm", "persistence_mode", "mig.mode.current"}
	readingFields = []string{"uuid", "clocks.sm", "clocks.mem", "temperature.gpu", "power.draw", "memory.used", "memory.total"}
	// throttleFields are names of the same, old and new.
	throttleFields = []string{"clocks_throttle_reasons.active", "clocks_event_reasons.active"}
)

func (p program) List(ctx context.Context) ([]Device, error) {
	rows, err := p.query(ctx, nil, deviceFields)
	if err != nil { // drivers that know no MIG
		rows, err = p.query(ctx, nil, deviceFields[:len(deviceFields)-1])
	}
	if err != nil {
		return nil, err
	}
	var devices []Device
	for _, row := range rows {
		devices = append(devices, Device{
			Index: row["index"], UUID: row["uuid"], Model: row["name"], Driver: row["driver_version"],
			PowerLimitWatts: whole(row["power.limit"]), MaxClockMHz: whole(row["clocks.max.sm"]),
			Persistence: onOff(row["persistence_mode"]), MIG: onOff(row["mig.mode.current"]),
		})
	}
	return devices, nil
}

func (p program) Read(ctx context.Context, uuids []string) ([]Reading, error) {
	if len(uuids) == 0 {
		return nil, nil
	}
	var rows []map[string]string
	var err error
	throttle := ""
	for _, throttle = range append(throttleFields, "") {
		fields := readingFields
		if throttle != "" {
			fields = append(fields[:len(fields):len(fields)], throttle)
		}
		if rows, err = p.query(ctx, uuids, fields); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	byUUID := map[string]map[string]string{} // they come in nvidia-smi's order
	for _, row := range rows {
		byUUID[row["uuid"]] = row
	}
	var readings []Reading
	for _, uuid := range uuids {
		row := byUUID[uuid]
		if row == nil {
			return nil, fmt.Errorf("nvidia-smi says nothing of %s", uuid)
		}
		r := Reading{Device: engines.Device{
			ID: uuid, ClockMHz: whole(row["clocks.sm"]), MemoryClockMHz: whole(row["clocks.mem"]),
			Celsius: whole(row["temperature.gpu"]), Watts: whole(row["power.draw"]),
		}}
		if mask, err := strconv.ParseUint(strings.TrimPrefix(row[throttle], "0x"), 16, 64); err == nil {
			r.Throttles = throttles(mask)
		}
		if used, total := whole(row["memory.used"]), whole(row["memory.total"]); used.Known && total.Known {
			r.Used, r.Total = uint64(used.N)<<20, uint64(total.N)<<20
		}
		readings = append(readings, r)
	}
	return readings, nil
}

// query asks for fields of the given GPUs, or of all, and returns a row for
// each. What a GPU does not tell is an empty string.
func (p program) query(ctx context.Context, uuids, fields []string) ([]map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	args := []string{"--query-gpu=" + strings.Join(fields, ","), "--format=csv,noheader,nounits"}
	if len(uuids) > 0 {
		args = append(args, "--id="+strings.Join(uuids, ","))
	}
	out, err := exec.CommandContext(ctx, p.path, args...).Output()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("nvidia-smi did not answer within %v: %w", answerLimit, context.Cause(ctx))
	}
	if err != nil {
		said := strings.TrimSpace(string(out)) // it complains on stdout
		if exit := (*exec.ExitError)(nil); said == "" && errors.As(err, &exit) {
			said = strings.TrimSpace(string(exit.Stderr))
		}
		first, _, _ := strings.Cut(said, "\n")
		return nil, fmt.Errorf("nvidia-smi: %w: %s", err, first)
	}
	return parseRows(string(out), fields)
}

func parseRows(csv string, fields []string) ([]map[string]string, error) {
	var rows []map[string]string
	for line := range strings.Lines(csv) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		values := strings.Split(line, ", ")
		if len(values) != len(fields) {
			return nil, fmt.Errorf("nvidia-smi answered %q to a question for %d fields", line, len(fields))
		}
		row := map[string]string{}
		for i, field := range fields {
			if value := strings.TrimSpace(values[i]); !strings.HasPrefix(value, "[") && value != "N/A" {
				row[field] = value // brackets are "[N/A]", "[Not Supported]", …
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// whole is a number, rounded; unknown when it is none.
func whole(s string) engines.Count {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
		return engines.Count{}
	}
	return engines.Known(int(math.Round(f)))
}

func onOff(s string) string {
	switch s {
	case "Enabled":
		return "on"
	case "Disabled":
		return "off"
	}
	return ""
}
