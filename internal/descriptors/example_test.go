package descriptors_test

import (
	"fmt"

	"github.com/openloop-go/openloop/internal/descriptors"
)

func ExampleNeed_Beyond() {
	need := descriptors.Need{What: "40 connections", More: 40, Open: 12}
	fmt.Println(need.Beyond(64))
	fmt.Printf("%q\n", need.Beyond(1024))
	// Output:
	// 40 connections need 84 descriptors, with 12 that are open and 32 for all else, and the limit (RLIMIT_NOFILE) is 64: raise it with ulimit -n, as LimitNOFILE or --ulimit nofile
	// ""
}

func ExampleLimited() {
	fmt.Println("each stream is a descriptor, and", descriptors.Limited(64))
	// Output: each stream is a descriptor, and the limit (RLIMIT_NOFILE) is 64: raise it with ulimit -n, as LimitNOFILE or --ulimit nofile
}

func ExampleOwn() {
	if limit, open := descriptors.Own(); open <= limit {
		fmt.Println("there is room, or nobody knows")
	}
	// Output: there is room, or nobody knows
}
