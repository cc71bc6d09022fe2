package openai

// The numbers that tests are about.
const (
	syscallEADDRNOTAVAIL = wsaEADDRNOTAVAIL
	syscallECONNREFUSED  = wsaECONNREFUSED
	syscallEHOSTUNREACH  = wsaEHOSTUNREACH
)
