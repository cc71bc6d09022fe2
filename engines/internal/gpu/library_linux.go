//go:build cgo

package gpu

// NVML is called through pointers that dlsym gives, not through a binding that
// is linked: the usual one, NVIDIA/go-nvml, leaves its functions unresolved
// until the library is loaded, and a program that is linked to bind at once
// (-z now, which many distributions have their linkers do) then does not even
// start. A library cannot keep its users from that. NVML's functions stay as they
// are from one driver to the next, and what a driver has not is unknown.

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>

typedef struct { unsigned long long total, free, used; } memory;

static int of_nothing(void *f) { return ((int (*)(void))f)(); }
static int number(void *f, unsigned *to) { return ((int (*)(unsigned *))f)(to); }
static int text(void *f, char *to, unsigned n) { return ((int (*)(char *, unsigned))f)(to, n); }
static int by_index(void *f, unsigned i, void **to) { return ((int (*)(unsigned, void **))f)(i, to); }
static int by_name(void *f, const char *name, void **to) { return ((int (*)(const char *, void **))f)(name, to); }
static int device_text(void *f, void *d, char *to, unsigned n) { return ((int (*)(void *, char *, unsigned))f)(d, to, n); }
static int device_number(void *f, void *d, unsigned *to) { return ((int (*)(void *, unsigned *))f)(d, to); }
static int device_number_of(void *f, void *d, int which, unsigned *to) { return ((int (*)(void *, int, unsigned *))f)(d, which, to); }
static int device_two_numbers(void *f, void *d, unsigned *to, unsigned *also) { return ((int (*)(void *, unsigned *, unsigned *))f)(d, to, also); }
static int device_mask(void *f, void *d, unsigned long long *to) { return ((int (*)(void *, unsigned long long *))f)(d, to); }
static int device_memory(void *f, void *d, memory *to) { return ((int (*)(void *, memory *))f)(d, to); }
static int device_device(void *f, void *d, void **to) { return ((int (*)(void *, void **))f)(d, to); }
static const char *words(void *f, int code) { return ((const char *(*)(int))f)(code); }
*/
import "C"

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"
)

// library is NVML, loaded once and kept; nil where it is not installed or has
// no driver to speak to.
var library = sync.OnceValue(func() Reader {
	if r := load("libnvidia-ml.so.1"); r != nil {
		return r
	}
	return nil
})

// nvml is the loaded library.
type nvml struct {
	// functions are its functions by their names; nil is one that it has not.
	functions map[string]unsafe.Pointer
}

// handle is a device, as the library names it.
type handle unsafe.Pointer

// The functions without which there is nothing to read, and the others.
var (
	needed = []string{
		"nvmlInit_v2", "nvmlErrorString", "nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByUUID",
		"nvmlDeviceGetUUID", "nvmlDeviceGetName",
	}
	optional = []string{
		"nvmlSystemGetDriverVersion", "nvmlSystemGetCudaDriverVersion", "nvmlDeviceGetEnforcedPowerLimit",
		"nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetPersistenceMode", "nvmlDeviceGetMigMode",
		"nvmlDeviceGetClockInfo", "nvmlDeviceGetTemperature", "nvmlDeviceGetPowerUsage",
		"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons", "nvmlDeviceGetMemoryInfo",
		"nvmlDeviceIsMigDeviceHandle", "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",
	}
)

// load loads and initialises the library; nil where that cannot be done. It is
// never shut down: between two starts of a server a driver that nobody holds
// unloads.
func load(path string) *nvml {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	lib := C.dlopen(name, C.RTLD_LAZY)
	if lib == nil {
		return nil
	}
	r := &nvml{functions: map[string]unsafe.Pointer{}}
	for _, f := range append(needed, optional...) {
		name := C.CString(f)
		r.functions[f] = C.dlsym(lib, name)
		C.free(unsafe.Pointer(name))
	}
	for _, f := range needed {
		if r.functions[f] == nil {
			return nil
		}
	}
	if C.of_nothing(r.functions["nvmlInit_v2"]) != 0 {
		return nil
	}
	return r
}

// failure is an error of the library as a sentence.
func (r *nvml) failure(what string, code C.int) error {
	return fmt.Errorf("nvml: %s: %s", what, strings.ToLower(C.GoString(C.words(r.functions["nvmlErrorString"], code))))
}

// textSize is more than any name of NVML's takes.
const textSize = 256

// system is a text about the host; empty is unknown.
func (r *nvml) system(function string) string {
	f := r.functions[function]
	var to [textSize]C.char
	if f == nil || C.text(f, &to[0], textSize) != 0 {
		return ""
	}
	return C.GoString(&to[0])
}

// total is a number about the host.
func (r *nvml) total(function string) (n uint32, ok bool) {
	f := r.functions[function]
	var to C.uint
	if f == nil || C.number(f, &to) != 0 {
		return 0, false
	}
	return uint32(to), true
}

func (r *nvml) byIndex(i int) (handle, error) {
	var d unsafe.Pointer
	if code := C.by_index(r.functions["nvmlDeviceGetHandleByIndex_v2"], C.uint(i), &d); code != 0 {
		return nil, r.failure(fmt.Sprintf("open device %d", i), code)
	}
	return handle(d), nil
}

func (r *nvml) byUUID(uuid string) (handle, error) {
	name := C.CString(uuid)
	defer C.free(unsafe.Pointer(name))
	var d unsafe.Pointer
	if code := C.by_name(r.functions["nvmlDeviceGetHandleByUUID"], name, &d); code != 0 {
		return nil, r.failure("open device "+uuid, code)
	}
	return handle(d), nil
}

// text is a text about a device; empty is unknown.
func (r *nvml) text(d handle, function string) string {
	f := r.functions[function]
	var to [textSize]C.char
	if f == nil || C.device_text(f, unsafe.Pointer(d), &to[0], textSize) != 0 {
		return ""
	}
	return C.GoString(&to[0])
}

// number is a number about a device.
func (r *nvml) number(d handle, function string) (n uint32, ok bool) {
	f := r.functions[function]
	var to C.uint
	if f == nil || C.device_number(f, unsafe.Pointer(d), &to) != 0 {
		return 0, false
	}
	return uint32(to), true
}

// numberOf is a number about a part of a device, such as a clock.
func (r *nvml) numberOf(d handle, function string, which int) (n uint32, ok bool) {
	f := r.functions[function]
	var to C.uint
	if f == nil || C.device_number_of(f, unsafe.Pointer(d), C.int(which), &to) != 0 {
		return 0, false
	}
	return uint32(to), true
}

// current is the first of two numbers, the present one of a setting.
func (r *nvml) current(d handle, function string) (n uint32, ok bool) {
	f := r.functions[function]
	var to, pending C.uint
	if f == nil || C.device_two_numbers(f, unsafe.Pointer(d), &to, &pending) != 0 {
		return 0, false
	}
	return uint32(to), true
}

// mask is a bit mask about a device.
func (r *nvml) mask(d handle, function string) (n uint64, ok bool) {
	f := r.functions[function]
	var to C.ulonglong
	if f == nil || C.device_mask(f, unsafe.Pointer(d), &to) != 0 {
		return 0, false
	}
	return uint64(to), true
}

// memory is a device's memory in bytes; total is zero where it is unknown.
func (r *nvml) memory(d handle) (used, total uint64) {
	f := r.functions["nvmlDeviceGetMemoryInfo"]
	var to C.memory
	if f == nil || C.device_memory(f, unsafe.Pointer(d), &to) != 0 {
		return 0, 0
	}
	return uint64(to.used), uint64(to.total)
}

// whole is the GPU that a device is a part of; itself where it is none.
func (r *nvml) whole(d handle) handle {
	part, ok := r.number(d, "nvmlDeviceIsMigDeviceHandle")
	f := r.functions["nvmlDeviceGetDeviceHandleFromMigDeviceHandle"]
	var to unsafe.Pointer
	if !ok || part == 0 || f == nil || C.device_device(f, unsafe.Pointer(d), &to) != 0 {
		return d
	}
	return handle(to)
}
