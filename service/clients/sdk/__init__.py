"""The client library: one connection, one request at a time, answers with their envelope, refusals with their code."""
