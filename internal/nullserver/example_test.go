package nullserver_test

import (
	"context"
	"fmt"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
	"github.com/openloop-go/openloop/internal/nullserver"
)

func Example() {
	s, err := nullserver.New(nullserver.Options{Rate: 1000, Journal: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := nullserver.Listen("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	go s.Serve(l)
	url := "http://" + l.Addr().String()
	e, err := openai.New(openai.Config{URL: url})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	ctx := context.Background()
	reply, err := e.Generate(ctx, &engines.Request{ID: "a", Text: "hello", MaxTokens: 3}, func(c engines.Chunk) {
		fmt.Println(c.Token, c.Tokens.N)
	})
	fmt.Println(reply.OutputTokens.N, reply.Finish, err)
	journal, err := nullserver.Read(ctx, url)
	fmt.Println(len(journal), journal[0].ID, len(journal[0].Sent), err)
	// Output:
	// true 1
	// true 1
	// true 1
	// false 0
	// 3 length <nil>
	// 1 a 3 <nil>
}
