"""Background jobs that fetch quotes, candles and funding, check them, and store them."""
