module github.com/openloop-go/openloop

go 1.26.0

require (
	github.com/caarlos0/env/v11 v11.4.2 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
)
