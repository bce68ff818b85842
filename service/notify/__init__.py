"""Alert rules of users: parsed, evaluated every five seconds, and delivered at least once from a durable outbox.

May import ranks 0 to 5. Reasons and limits: decision 21 in `docs/decisions`.
"""
