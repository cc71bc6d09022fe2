//go:build linux

package nullserver_test

import (
	"context"
	"fmt"
	"net"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/nullserver"
	"github.com/openloop-go/openloop/engines/openai"
)

func Example() {
	s, err := nullserver.New(nullserver.Options{Events: 3, Rate: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	go s.Serve(l)
	e, err := openai.New(openai.Config{URL: "http://" + l.Addr().String()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	reply, err := e.Generate(context.Background(), &engines.Request{Text: "hello", MaxTokens: 3}, func(c engines.Chunk) {
		fmt.Println(c.Token, c.Tokens.N)
	})
	fmt.Println(reply.OutputTokens.N, reply.Finish, err)
	// Output:
	// true 1
	// true 1
	// true 1
	// false 0
	// 3 length <nil>
}
