"""Tables of phrases for what is no query: forecasts, requests the service does not take, its account and prices."""
