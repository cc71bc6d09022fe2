// A stand-in for libnvidia-ml.so.1 with two GPUs, of which the second does not
// tell its power or its reasons. OLD is a driver of before 2023: it has other
// names for the reasons and no MIG.
#include <stdio.h>
#include <string.h>

typedef int ret;
enum { SUCCESS = 0, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6 };
typedef struct { int n; } *device;
static struct { int n; } devices[2] = {{0}, {1}};
static const char *uuids[2] = {"GPU-aaaa", "GPU-bbbb"};

ret nvmlInit_v2(void) { return SUCCESS; }
ret nvmlShutdown(void) { return SUCCESS; }
const char *nvmlErrorString(ret r) { return r == NOT_FOUND ? "Not Found" : "Some Error"; }
ret nvmlSystemGetDriverVersion(char *to, unsigned n) { snprintf(to, n, "580.65.06"); return SUCCESS; }
ret nvmlSystemGetCudaDriverVersion(int *to) { *to = 13010; return SUCCESS; }
ret nvmlDeviceGetCount_v2(unsigned *to) { *to = 2; return SUCCESS; }
ret nvmlDeviceGetHandleByIndex_v2(unsigned i, device *to) {
	if (i > 1) return INVALID;
	*to = (device)&devices[i];
	return SUCCESS;
}
ret nvmlDeviceGetHandleByUUID(const char *uuid, device *to) {
	for (int i = 0; i < 2; i++)
		if (strcmp(uuid, uuids[i]) == 0) return nvmlDeviceGetHandleByIndex_v2(i, to);
	return NOT_FOUND;
}
ret nvmlDeviceGetUUID(device d, char *to, unsigned n) { snprintf(to, n, "%s", uuids[d->n]); return SUCCESS; }
ret nvmlDeviceGetName(device d, char *to, unsigned n) { snprintf(to, n, "NVIDIA H200"); return SUCCESS; }
ret nvmlDeviceGetEnforcedPowerLimit(device d, unsigned *to) {
	*to = 700000;
	return d->n ? NOT_SUPPORTED : SUCCESS;
}
ret nvmlDeviceGetMaxClockInfo(device d, int clock, unsigned *to) {
	*to = clock == 1 ? 1980 : 1; // 1 is NVML_CLOCK_SM
	return SUCCESS;
}
ret nvmlDeviceGetClockInfo(device d, int clock, unsigned *to) {
	*to = clock == 1 ? 1755 + d->n : clock == 2 ? 3201 : 1; // 2 is NVML_CLOCK_MEM
	return SUCCESS;
}
ret nvmlDeviceGetPersistenceMode(device d, int *to) { *to = 1; return SUCCESS; }
ret nvmlDeviceGetTemperature(device d, int sensor, unsigned *to) { *to = 64; return SUCCESS; }
ret nvmlDeviceGetPowerUsage(device d, unsigned *to) {
	*to = 431600;
	return d->n ? NOT_SUPPORTED : SUCCESS;
}
struct memory { unsigned long long total, free, used; };
ret nvmlDeviceGetMemoryInfo(device d, struct memory *to) {
	*to = (struct memory){.total = 150754820096ull, .free = 150754820096ull - 61000000000ull, .used = 61000000000ull};
	return SUCCESS;
}
#ifdef OLD
ret nvmlDeviceGetCurrentClocksThrottleReasons(device d, unsigned long long *to) {
	*to = 0x48;
	return d->n ? NOT_SUPPORTED : SUCCESS;
}
#else
ret nvmlDeviceGetMigMode(device d, unsigned *now, unsigned *pending) { *now = *pending = 0; return SUCCESS; }
ret nvmlDeviceIsMigDeviceHandle(device d, unsigned *to) { *to = 0; return SUCCESS; }
ret nvmlDeviceGetCurrentClocksEventReasons(device d, unsigned long long *to) {
	*to = 0x24;
	return d->n ? NOT_SUPPORTED : SUCCESS;
}
#endif
