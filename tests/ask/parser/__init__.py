"""The grammar of questions: what each way of asking is read as."""
