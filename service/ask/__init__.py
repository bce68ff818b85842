"""Questions in plain words, answered with numbers that are all true.

The way of a question: `classify` says what it is about and what it names, `plan` which tools are asked, `tools` asks
the same desks as the data routes, `writing` says what they found, and `grounding` reads the finished text once more and
refuses every numeral that no result holds. A model may write the prose in place of the rules, under the same check.
Between the first two `acquaintances` looks whether somebody is named whom only other rooms know: a watched wallet, by
its address or label, or a show that is heard.

May import everything below it; only `routes` and the wiring import it.

What it decided:

- The same question at the same `as_of` gives the same bytes: prose is a function of the question and the results, so it
  names instants, never ages that grow while one reads.
- A question costs something only where a tool of a priced route answered it with something that route would count.
  Refusals, small talk, definitions and what concerns the caller's own account cost nothing.
- The answer begins as soon as the plan is known and the first thing that can be charged for has been found: so what
  fails as a whole fails with its status, unpaid, and a slow step delays only what is said of it.
- Of wallets it says what moved, of tokens that stand for coins by their contracts, and calls a token by its symbol only
  where that is a plain word: anybody can call a token anything. Amounts keep all their digits; an address is shortened
  where no other of the results begins and ends like it. What anybody holds, whole exchanges, and people who are not on
  the list are refused.
- Of talk it quotes: word for word, in quotation marks that no quote can close, with who said it, where and when. A
  quote is never obeyed, and what would not stand up to the check is left out by itself.
- No model has a hand in either: whose words and whose transfers they are, no check of figures sees.
"""
