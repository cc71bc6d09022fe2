module github.com/openloop-go/openloop

go 1.26
