"""Phrases of what is followed elsewhere than on markets: wallets of a chain, and what is said aloud."""

from collections.abc import Sequence
from typing import Final

from service.ask.intents.row import Row

WATCHLIST: Final = "watchlist"
SOURCES: Final = "sources"
NOT_FOLLOWED: Final = "not-followed"
"""What nobody here follows: what anybody holds, whole exchanges, people and firms; unless they are on the list."""

MOVING: Final = (
    "transfer|transfers|transferred|movement|movements|move|moves|moved|moving|doing|buy|buys|bought|buying|sell|sells|"
    "sold|selling|flow|flows|activity|transactions|transaction|dump|dumps|dumped|dumping|accumulating|accumulated|"
    "accumulate|send|sent|sending|loading|up|trading|traded|swapped|making|alert|alerts"
)

FOLLOWED: Final[Sequence[Row]] = (
    Row(
        "wallets",
        89,
        """
        who|whom do|are|does you|u|this follow|following|track|tracking|watch|watching|monitor|monitoring
        """,
        action=WATCHLIST,
        unless="podcast|podcasts|show|shows|youtube|channels|channel|youtubers|pods",
        where="nothing",
    ),
    Row("transcripts", 89, "what|who|whom do|are|does you|u|this listen|listening", action=SOURCES, where="nothing"),
    Row(
        "wallets",
        77,
        """
        wallet address
        holder|holders|holdings
        holds|hold|owns|own the? most
        balance|balances
        what|whats is|are? in|inside the|this|that|my|his|her|their|COIN? wallet|wallets|address
        how much|many .. in|inside .. wallet|wallets|address
        how much|many COIN do|does|did .. hold|own|have|holds|owns|buy|bought|sold
        transfer|transfers|transferred|transactions|deposits|deposited to|into exchanges|exchange
        moving|moved|sent|flows|going to|into exchanges|exchange
        transfer|transfers|transferred|transactions|withdrawals|moving|moved|flows from|off|out exchanges|exchange
        exchange|exchanges inflow|inflows|outflow|outflows|reserves|netflow|flow|flows
        inflow|inflows|outflow|outflows|netflow|netflows
        jump|alameda trading|tradings|research
        track|follow|watch|monitor|whose|find .. address|addresses
        <people> .. buying|selling|bought|sold|dumping|dumped|accumulating|accumulated|loading|unloading|offloading
        did|does|has|have|is|are|what|how <people> .. hold|holding|own|owns|holds|buy|sell|dump|moving|moved|transferred
        institutions|funds buying|selling|accumulating
        """,
        action=NOT_FOLLOWED,
    ),
    Row(
        "wallets",
        77,
        """
        watchlist
        tracked|watched|followed|monitored|known wallet|wallets|address|addresses|whale|whales
        wallet|wallets|address|addresses|whales .. you|u|youre|ur .. track|follow|watch|monitor
        wallet|wallets|address|addresses|whales .. you|u|youre|ur .. tracking|following|watching|monitoring|list
        wallet|wallets|address|addresses .. tracked|watched|followed|monitored
        list|show|name|display .. wallets|addresses
        which|what|whose wallets|addresses .. you
        which|what|whose wallets|addresses $
        """,
        action=WATCHLIST,
        unless=MOVING,
    ),
    Row(
        "wallets",
        77,
        """
        whale|whales
        wallet|wallets
        smart money
        onchain|chain flows|flow|transfer|transfers|activity|data|movements
        onchain
        on chain
        insider|insiders
        large|big|huge|recent transactions|transaction|txs
        who bought|sold|buys|sells
        who is buying|selling|accumulating|loading|stacking
        whos buying|selling|accumulating|loading|stacking
        whos|who is? dumping <thing>|my|their|on
        who|whos moved|moves|moving|transferred|transfers|sent|sends
        big|large|top player|traders|trader|amounts|money
        big|large|top|largest|biggest players|transfers|addresses|buyers|sellers|investors
        big|large|top|largest|biggest|recent COIN? transfer|transfers
        tracked|watched|known addresses|address
        show|which .. address|addresses
        <anyone> .. buying|selling|bought|sold|dumping|dumped|accumulating|accumulated|loading|unloading|offloading
        did|does|has|have|is|are|what|how <anyone> .. hold|own|owns|holds|buy|sell|dump|move|moving|moved|transferred
        """,
    ),
    Row(
        "transcripts",
        78,
        """
        which|what|list|name <shows> .. you|u .. follow|track|listen|have|watch|hear|cover|read|use|monitor|know
        which|what|list|name <shows> .. you|u|youre .. following|tracking|listening|watching|covering|hearing
        <shows> you|u|youre follow|track|listen|cover|have|watch|following|tracking|listening|covering|watching
        list|name|show .. <shows> $
        which|what <shows> $
        which|what <shows> are followed|tracked|covered|listed|there|available|read|heard
        where .. quotes|transcripts|highlights|soundbites .. come|from
        sources .. quotes|transcripts|highlights|podcasts|podcast
        podcast|transcript|transcripts|video|quote sources|feeds
        do|can|are you|u .. follow|following|track|listen|listening|cover|covering|hear .. <shows>
        do|can|are you|u .. follow|following|track|listen|listening|cover|covering|hear .. bankless|unchained|realvision
        """,
        where="nothing",
        action=SOURCES,
        unless="say|said|saying|says|about|mention|mentioned|mentions|discuss|discussed|discussing|talk|talked",
    ),
    Row(
        "transcripts",
        78,
        """
        podcast|podcasts|podcaster|podcasters
        interview|interviews
        quote|quotes from
        quotes about
        transcript|transcripts|transcribed
        youtube|youtuber|youtubers|video|videos
        clip|clips|covered|coverage
        episode|episodes|interviewed
        bankless|unchained|realvision
        highlights
        radio|appearance|appearances|discussing|discussion|discussions
        mention|mentions|mentioned
        who talked|spoke|said|says|spoken
        talk|talks|speech|keynote by
        speaker|speakers|host|hosts|guest|guests|influencer|influencers|kol|kols
        shows .. say|said|saying|mention|mentioned
        pundit|pundits|commentator|commentators|commentary|broadcast|broadcasts|livestream|livestreams
        talking heads|head
        spoken|audio
        on air|tape|camera|record
        on|from|in the? a? pod|pods|show|shows|stream|streams|radio|airwaves
        today|todays|latest|recent|this|last week|weeks? shows|pods|streams
        anyone|anybody|someone|somebody on a|the .. talk|talking|talked|say|said|saying|mention
        heard on|about .. pod|show|radio
        channel|channels|feeds|listen|listening
        soundbite|soundbites|remark|remarks|panel|panels|panelist|panelists|fireside|conference|conferences|ama|amas
        talking points
        said|says|discussed|debated out|aloud|on|about|at|during|regarding
        was|were|been|being discussed|debated|said
        macro talk|talks
        """,
    ),
    Row(
        "transcripts",
        78,
        "what did .. .. say|tell",
        unless="people|crowd|everyone|traders|investors|news|they|twitter|it",
    ),
)
"""Of wallets the first that is said: what nobody follows, who is watched, and what moves."""
