"""Phrases of what nobody knows: where prices will be, when, and how far they could go."""

from collections.abc import Sequence
from typing import Final

from service.ask.parser.phrases.row import Row

FORECASTS: Final[Sequence[Row]] = (
    Row(
        "forecast",
        91,
        """
        <will> .. .. hit|reach|be|go|rise|fall|pump|dump|crash|moon|recover|double|triple|drop|outperform|bounce|break
        <will> .. .. flip|cost|trade|happen|keep|continue|stay|do
        <will> .. .. perform|look|end|close|rally|climb|explode|survive|make
        <will> .. .. surpass|exceed|overtake|cross|get|come|return|turn|become|sink|tank|rebound|gain|lose|ever
        gonna .. rise|fall|worth|<become>
        going to be? .. rise|fall|worth|<become>
        <thing> to|hitting|reaching AMOUNT
        gonna|going to AMOUNT|#|moon|zero|COIN
        gonna|going to? go|be .. up|down|higher|lower|tomorrow|next|worth|soon
        where will|ll
        where|what do|does you|u|anyone see|expect|think .. in|by|next|end|going|be|heading
        where is|are <thing>|it|they|this|that|market heading|headed|going
        where|what .. going|headed|heading next|tomorrow|soon|from
        wheres|where <thing>|it|the|this market? headed|heading|going
        how far|high|low can|could <thing>|it run|pump|fly|dump|sink
        YEAR price|target|value
        in|by|for YEAR
        price? target|targets
        predict|predicts|predicting|prediction|predictions
        forecast|forecasts|forecasting|projection|projections|projected
        prophecy|prophesy|extrapolate|crystal ball
        how high|low|far|big|much can|could|will|would|might <thing>|it|they|this|price go|get|reach|be
        how high|low|far|big|much can|could|will|would|might <thing>|it|they|this|price rise|fall|drop|climb
        can|could|might <thing>|it|they|we .. hit|reach|reaches|double|triple|moon|recover|surpass
        can|could|might <thing>|it|they|price go|drop|fall|get to|up|down|higher|lower|back|below|above
        by next year|month|week|summer|winter|christmas
        by end|eoy|eom|christmas|december|year
        by the? end of
        eoy
        is|was .. the bottom|top for|in
        PERIOD outlook
        outlook for PERIOD
        when does|do|is .. end|ending|start|starting|begin|over
        going to .. make|get|have|take|become|see|come|keep
        happens|happen to|with <thing> after|if|when|once|following
        <thing> reach|hit AMOUNT|#
        next monday|tuesday|wednesday|thursday|friday|saturday|sunday|stop|leg|move|target|top|bottom
        when AMOUNT
        ^ <thing> in PERIOD $
        project|extrapolate|guess .. price|COIN|value
        how high|low|far|deep before|until|till
        about to COIN|crash|pump|moon|dump|explode|rally|break|go|rise|fall|drop|rip
        crash|pump|rally|altseason|correction coming
        next weeks|months|years|big
        tomorrows|upcoming
        how likely|probable
        chance|chances|probability|odds|likelihood that|of|for
        outlook for #|YEAR|next|the
        ends|end|finish|finishes the year|month|week
        by january|february|march|april|june|july|august|september|october|november|december
        worth in a|an|one|two|five|ten
        in a|one|two|five|ten year|years|decade
        going to happen
        bull|bear run|market when
        should|can i|we expect
        rest of the? year|month|week
        end of year|month|quarter
        next year|month|week|quarter|decade|halving|cycle
        in the future
        in # years|months|weeks|days|yrs
        # years|months|weeks|days from now
        when|wen will|moon|lambo|ath
        next bull|bear run|market|cycle
        tomorrow
        # x potential|soon|possible
        expect|expected .. next|tomorrow|price|return|returns
        price <thing>? 2026|2027|2028|2029|2030|2035|2040|2050
        <will> <thing>|it|they|we|there
        ^ will the|this|that|these|my|any|anyone
        when|wen <will>|moon|lambo|ath|pump|dump
        <thing> .. to|at|past|above|below|under AMOUNT|#|<crowned> when|wen|soon|possible|realistic|doable|likely
        when|wen AMOUNT|#|<thing> AMOUNT|#|moon|$
        when|wen <thing> to? AMOUNT|#|<become>
        when do|does|can|could|should|might|would <thing>|it|they|this .. <become>|back|go|get|come|turn
        when do|does|can|could|should|might|would that|the|we|alts .. <become>|back|go|get|come|turn
        how long|soon|much|fast until|till|before|longer
        how long .. <will>|can|could|does|do .. last
        how high|low|far|big|deep|bad can|could|will|would|might
        higher|lower|further|farther can|could|will|would|might <thing>|it|they|this|we
        should|could|might|may|<will> we .. see|be|get|hit|head|heading|headed
        <become> soon|eventually|shortly|anytime|someday|tomorrow|tonight
        <thing> .. soon|eventually|anytime|someday $
        due|set|ready|poised|bound|primed|likely|destined|slated|positioned|expected|supposed to|for .. <become>
        due|set|ready|poised|bound|primed|likely|destined|slated|positioned|headed|heading|overdue to|for .. <turn>
        due|set|ready|poised|bound|primed|likely|destined|headed|heading to|for .. AMOUNT|#|zero|<crowned>
        think|thinks|reckon|believe|bet|guess|hope|suppose <thing>|it|they|we|this|that .. <become>|can|could|goes|gets
        where|what|how .. do|does|would you|u|they|analysts|experts|people|everyone see|put|place <thing>|it
        where do|does|would|could|might <thing>|it|they|this|things trade|go|end|land|settle if|when|by
        where do|does|would|could|might <thing>|it|they|this|things move|head|top|bottom if|when|by
        if .. .. .. .. where|how does|do|would|could|might .. trade|go|react|respond|move|do|perform
        what|how would|could|might .. happen|react|respond
        what .. happens|happen to|with <thing>
        your|the|ur .. top|bottom|peak|price|cycle call|guess|estimate|target
        call|guess|time the top|bottom|peak|ath
        top|bottom been|is in $
        ceiling|ceilings|roof|peak|potential for|of|on <thing>|it|this
        <thing> ceiling|roof|peak|potential|target
        realistic|expected|conservative|optimistic|potential|likely price|value|target|upside|gain|gains|return|top|high
        coin|coins|token|tokens|CATEGORY|crypto|cryptos .. would|could|might <become>|do|go|run|rise|fall
        next coin|coins|token|tokens|gem|gems|alt|alts|altcoin|meme|memecoin|crypto|winner|winners|pump
        <superlative>|which|what|a coin|token|crypto|alt|coins|tokens .. <will>
        <superlative>|which|what|a cryptos|alts|CATEGORY|stock|stocks .. <will>
        weeks|months|years|days|week|month|year|decade from now|today|here
        weeks|months|years|days|week|month|year time
        by|until|till tomorrow|tonight|noon|midnight|morning|spring|fall|autumn|xmas|easter|halloween|thanksgiving
        by|until|till the? summer|winter|weekend|halving|<month>|monday|tuesday|wednesday|thursday|friday|sunday
        by the time
        be at|worth .. when|by|after|once|if
        end of the? decade|cycle|summer|day|week|bullrun
        make|makes|made me|us .. rich|millionaire|wealthy
        if <thing>|it <become>|goes|gets
        ^ <thing> YEAR $
        would|do you expect|anticipate|foresee
        altseason|season|supercycle coming|starting|near|close|next|over|ending
        does|do <thing>|it|they .. go|move|rise|fall up|down|higher|lower? after|before|when|if|once
        still|yet to come
        new years|year
        AMOUNT|#|it|that realistic|possible|doable|feasible|plausible|likely|achievable|reachable
        room|legs|fuel|upside|space left? to run|go|grow|fall|climb|drop
        pump|dump|pop|pops|run|runs|blow|blows|take|takes off|up? next
        what|how would|could|might the? <thing>|it|prices|price|market .. do|look|go|trade|act|behave|perform|react
        PERIOD view|outlook|target|thesis
        how many days|weeks|months|years until|till|before
        do|does you|u|anyone|analysts|experts see <thing>|it
        see <thing>|it .. above|below|over|under|past|hitting|reaching|at AMOUNT|#
        """,
    ),
    Row(
        "forecast",
        91,
        "TIMES",
        unless="leverage|leveraged|margin|long|longs|short|shorts|position|did|done|made|has|have|already|PERIOD",
    ),
)
