"""What a browser is shown: the market at a glance, a coin, the documents, and the page that signs in.

The rooms below are asked through the same bound routes as the API; what is shown here is what it answers.
"""
