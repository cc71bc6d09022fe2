// Package openloop is the front page of the module; it holds no code. Tests
// that measure import the packages below it:
//
//   - benchtest runs the protocol and records the runs;
//   - benchtest/arrival, benchtest/metric and benchtest/steady are its
//     arithmetic: schedules, metrics, stability;
//   - assert and assert/require judge the runs inside a test;
//   - regressions and regressions/stat hold the gate and its baselines;
//   - fixtures makes workloads;
//   - engines is the contract that servers meet, and the packages below it
//     start, attach to or embed one;
//   - ci reads the configuration, ci/openloop is the command.
//
// README.md shows a whole test and the failure it prints.
package openloop
