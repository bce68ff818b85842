"""What is written about coins and how the crowd leans: news scored offline, attributed, and set against prices."""
