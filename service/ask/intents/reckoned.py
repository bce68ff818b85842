"""Phrases that ask for something to be worked out or held against something else: carry, worth, correlation."""

from collections.abc import Sequence
from typing import Final

from service.ask.intents.row import Row

RECKONED: Final[Sequence[Row]] = (
    Row(
        "carry",
        93,
        """
        hold|holding|holds|held|carry|carrying|keep|keeping|shorting|longing|long|short|position .. .. AMOUNT
        AMOUNT .. long|short|position|shorts|longs
        AMOUNT .. hold|holding|carry
        funding .. AMOUNT
        AMOUNT .. funding
        """,
        where="amount",
    ),
    Row(
        "carry",
        75,
        """
        hold|holding|carry|carrying|keep|keeping|shorting|longing .. cost|costs|pay|paid
        hold|holding|carry|carrying|keep|keeping|shorting|longing .. earn|receive|collect|funding|fee
        cost|costs|pay|paid|earn|receive|collect|expense|make|charge .. hold|holding|carry|carrying|keep|keeping
        cost|costs|pay|earn|receive|collect .. shorting|longing|position|overnight
        cost of a|an? being? long|short|longing|shorting
        cost|costs to be? long|short|hold|carry|stay
        long|short on|of|in? COIN position? cost|costs
        expensive .. holding|hold|carry|carrying
        carry|carrying cost|costs|trade
        carry on|of|for
        what .. carry .. COIN
        COIN .. carry
        holding cost|costs
        overnight|daily cost|costs|fee|fees|funding
        earn|collect|receive|get .. long|short|longing|shorting .. PERIOD
        """,
        where="something",
    ),
    Row(
        "convert",
        74,
        """
        AMOUNT COIN? in|to|into|as|is|are|equals|worth|usd|dollars
        AMOUNT .. worth
        AMOUNT COIN? how many|much
        price|cost|quote of|for AMOUNT
        AMOUNT .. in|to|into usd|dollars|dollar|bucks|COIN|eur|cash
        worth of AMOUNT|COIN
        value of AMOUNT
        how much is|are|s|do|does|would AMOUNT
        how much|many .. AMOUNT .. buy|get|be|worth
        how many|much COIN .. for|with|is|are|can|do|does|AMOUNT .. AMOUNT
        how many|much COIN .. AMOUNT
        how many|much .. dollars|bucks|usd|coins .. AMOUNT
        what .. AMOUNT .. buy|get|worth|be|fetch|make
        what is|are|s AMOUNT
        whats AMOUNT
        buy|get .. AMOUNT
        for AMOUNT
        COIN for AMOUNT
        AMOUNT of COIN
        AMOUNT .. buy|buys|get|gets
        ^ AMOUNT COIN $
        ^ AMOUNT $
        if i|we .. AMOUNT
        i|we have|hold|own|got .. AMOUNT
        """,
        where="amount",
    ),
    Row(
        "convert",
        94,
        """
        i|we hold|own|have|got|bought AMOUNT
        my AMOUNT COIN? worth
        """,
        where="amount",
        unless="funding|long|short|carry|pay|earn|PERIOD",
    ),
    Row("convert", 73, "convert|conversion|exchange|equivalent\n        worth in|of", where="amount"),
    Row(
        "price",
        75,
        """
        how much|many .. AMOUNT COIN? cost|costs $
        cost|costs|price|pay of|for|is? AMOUNT
        whats|what|hows is? AMOUNT COIN? cost|costs|worth|at|going|trading
        how much .. AMOUNT COIN? now|currently|today|rn|$
        """,
        where="one-unit",
    ),
    Row("convert", 58, "^ convert|conversion|exchange"),
    Row(
        "ranking",
        82,
        """
        which|what|any|list|show|<superlative>|<coins> .. correlated|uncorrelated|decoupled
        which|list|show|<coins> .. correlation
        closest to COIN
        <superlative> .. correlated|correlation|uncorrelated|decoupled
        <coins>|<superlative> .. move|moves|follow|follows|track|tracks|tied|linked|coupled|independent .. COIN
        """,
        where="no-one",
    ),
    Row(
        "correlation",
        73,
        """
        correlate|correlates|correlated|correlation|correlations|corr|uncorrelated
        beta to|of|against|with|vs
        depend|depends|dependent|dependence|proxy
        decoupled|decouple|decoupling|independent|independently
        <thing> .. move|moves|moving|trade|trades|trading .. with|together|alongside|like|lockstep|tandem|sync .. COIN
        <thing> .. move|moves|moving|trade|trades together|tandem|lockstep|sync|independently|apart
        <thing> .. follow|follows|following|track|tracks|tracking|mirror|mirrors|shadow|shadows|copy|copies .. COIN
        <thing> .. linked|tied|coupled .. COIN
        """,
    ),
    Row(
        "carry",
        92,
        """
        pay|earn|cost|receive|collect .. long|short .. .. PERIOD
        """,
        where="something",
    ),
    Row(
        "comparison",
        70,
        """
        vs|versus
        v <thing>
        next to|beside
        between <thing>
        compare|compared|compares|comparing|comparison
        <thing> or <thing>
        <thing> <thing> or <thing>
        <thing> against|than <thing>
        better|stronger|weaker|healthier|safer|riskier|cheaper|higher|lower|worse|faster|hotter|favour|favor
        which .. better|stronger|weaker|healthier|safer|riskier|worse|best|preferable|prefer|strongest|weakest
        which one|of
        difference|differ|differences|spread|gap
        outperform|outperforms|outperforming|outperformed|underperforming|beat|beats|beating|beaten|ahead|behind|lagging
        rather|prefer|pick|choose
        side by
        stack up
        relative to
        """,
        where="pair",
    ),
    Row(
        "comparison",
        60,
        """
        compare|comparison|versus|vs
        stack up
        side by side
        """,
    ),
    Row(
        "verdict",
        92,
        """
        would .. flip|change|turn|invalidate|reverse .. verdict|signal|call|it|mind|that|this|to|you
        would .. make|take .. bull|bear|bullish|bearish|flip|change
        what .. flip|flips|invalidate|invalidates
        what would .. change|need|take
        flips at
        """,
        action="flip",
    ),
)
