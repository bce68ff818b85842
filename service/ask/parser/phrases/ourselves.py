"""Phrases about the service itself: account, prices, what it can do, its words, and mere courtesy."""

from collections.abc import Sequence
from typing import Final

from service.ask.parser.phrases.row import Row

OURSELVES: Final[Sequence[Row]] = (
    Row(
        "account",
        94,
        """
        question|questions|query|queries|calls|credits|requests|quota|asks left|remaining|remain|used|available|have
        how many|much .. questions|queries|calls|credits|requests|quota|allowance .. left|remaining|have|remain|used|get
        how many|much .. i|we .. used|ask|left
        free questions|queries|calls|credits left|remaining|have
        my|our .. tier|plan|quota|subscription|account|usage|allowance|credits|balance|entitlement|limits|limit
        tier|plan|subscription|quota|account|level|package .. am|do|are|have i|we|my
        am i .. pro|free|access|premium|subscribed|subscriber|paid|logged|authenticated|limited
        i .. on .. pro|free|access plan|tier
        do i .. have|need .. plan|tier|quota|subscription|pro|access
        quota|allowance|limit .. reset|resets|refill|refills|renew|renews|left
        when .. quota|allowance|limit|questions|credits .. reset|refill|renew|back|again|more
        when .. get|have .. more|another|next .. question|questions|query
        used .. up
        calls|questions|queries did i|we
        remaining quota|questions|queries|calls|credits|allowance
        run out .. questions|queries|calls|credits|free
        have i used|asked|spent
        i have|got .. left
        ran|run|running out of? questions|queries|calls|credits
        out of questions|queries|calls|credits
        do|have|got i|we .. credits|quota|queries|allowance|asks
        can i still|ask .. question|questions|more|another|ask
        who am i
        account status|tier|info|details|plan
        show|check|see usage|quota|account
        my remaining
        subscription|entitlement
        ^ quota|tier|usage|limits|plan $
        quota status|info|remaining|left|usage|check
        rate limit|limits
        """,
    ),
    Row(
        "pricing",
        95,
        """
        cost|costs|price|prices|priced|charge .. .. question|questions|query|call|calls
        charged|fee|fees|pay|expensive|cheap|charges .. .. question|questions|query|call|calls
        cost|costs|price|prices|priced .. .. endpoint|endpoints|route|routes|api|request|requests
        charge|fee|fees|pay|expensive .. .. endpoint|endpoints|route|routes|api|request|requests
        cost|costs|price|prices .. .. subscription|plan|plans|tier|tiers|service|membership
        priced|fee|fees|pay|expensive .. .. subscription|plan|plans|tier|tiers|service|membership
        cost|price|expensive|much .. to ask|use you|this|something|question|it|the
        question|query|call|endpoint|route|api .. cost|costs|price|priced|charged
        request|subscription|tier|calls|queries|requests .. cost|costs|price|priced|charged
        how much|expensive .. a|an|one|the|each|per|single .. question|query|call|endpoint
        how much|expensive .. a|an|one|the|each|per|single .. route|request|subscription|plan
        much .. do|does|would|will|are you|it|this|verdict .. charge|cost to|for ask|use
        you charge|cost|charging
        expensive are you
        questions|queries|routes|endpoints|verdicts .. cost|costs|price|prices|expensive|free
        charge|charges|rates|fee|fees for|per
        is .. manifest|question|call|route free
        pricing|pricelist
        price list|table|sheet
        your prices|fees|rates|fee|price|costs
        per question|query|call|request
        is it|this|that|asking|everything free
        are you free
        free of charge
        is|are the|your|this? api|service|bot|app|tool|site|data|answers|calls free
        there|offer|have .. free tier|plan|trial|version
        for free
        x402|usdc .. pay|payment|cost|how|accept|price
        how .. pay|payment .. for? you|this|questions|service|x402|usdc|calls
        what .. do i .. pay .. for|you
        how do|can|should|to i|we? pay $
        payment methods|options|method
        upgrade .. pro|plan|cost
        how much .. pro|premium
        after .. free .. used|gone|spent|questions
        what|how|much .. walkforward|signal|signals|regime|crossing|crossings|alerts|historical call? cost|costs $
        price|cost of|for a|an|the|one? walkforward|signal|regime|crossing call|route|endpoint
        price|cost of|for a|an|the|one? alerts|historical|risk|health call|route|endpoint
        """,
    ),
    Row(
        "pricing",
        60,
        """
        what|how much? does|do it|this cost
        do|should|must i|we .. pay
        whats|what is|are? the fee|fees|charge|charges
        """,
        where="nothing",
        unless="long|short|longs|shorts|hold|holding|funding|carry|carrying",
    ),
    Row(
        "help",
        88,
        """
        ^ help $
        ^ please? help me? out? please? $
        i need help $
        what can|could|do you do|answer|tell|help|offer|cover|know|support|provide|show|give $|me|about|with|us|and
        what can|could|should|may i|we ask|do|query|use|say
        what else can|do
        what .. questions can|should|could|do|are
        what kind|kinds|sort|sorts|type|types of things|questions|data|info|information|stuff
        which|what data|information|features|feature|commands|topics|capabilities|tools|functions do|can|are|have|exist
        your capabilities|features|commands|abilities|skills|functions|functionality
        list .. features|commands|capabilities|abilities|tools|functions|everything
        how do|does|can|should i|this|you|it|one use|work|start|begin|operate
        how to use|ask|begin
        how does this|the thing|bot|service|tool|app|site|api work
        how can|could|do|would you help|assist
        what can|does this|the thing|bot|service|tool|app|site|api do|offer
        what you offer|provide|support
        what do|can|could you offer|provide|support $
        can|could|will you please? help
        where do|should|can i start|begin
        getting|get|got started
        im|am new
        example|examples|sample question|questions|queries
        give|show .. examples|example
        who are you
        what are you
        what is this
        whats this
        introduce yourself
        tell me about yourself|you
        instructions|manual|tutorial|guide|documentation|docs
        ^ commands|menu|features|capabilities|faq|options $
        what commands
        what do you know
        explain yourself
        what you can|could|do
        """,
        where="nothing",
    ),
    Row(
        "smalltalk",
        87,
        """
        ^ hi|hello|hey|yo|hiya|howdy|greetings|sup|gm|gn|ga|heya|hola|morning|evening|afternoon .. $
        good morning|afternoon|evening|night|day .. $
        ^ .. thanks|thank|thx|ty|cheers|tysm|tks|appreciated|appreciate .. $
        thank you .. $
        ^ how are you .. $
        ^ .. how are you doing? today? $
        ^ .. how is it going $
        ^ .. hows it going $
        ^ .. whats up $
        ^ bye|goodbye|cya|later|ciao|farewell|goodnight .. $
        see you|ya .. $
        ^ ok|okay|k|kk|cool|nice|great|awesome|lol|lmao|haha .. $
        ^ perfect|sweet|wow|yes|no|yep|nope|sure|alright|fine|good|neat .. $
        ^ got|gotcha|understood|makes|noted it?|sense $
        ^ understood|gotcha|noted|brilliant|excellent|amazing|wonderful|impressive $
        that|this helps|helped .. $
        ^ thats? is? really|so|very? great|nice|good|cool|awesome|helpful|useful|perfect|amazing|fine|all $
        ^ got it $
        very|so|super|really|most helpful|useful .. $
        good|great|nice|well job|work|bot|one|done|stuff .. $
        you rock|rule|legend
        youre the? great|awesome|best|smart|funny|amazing|helpful|nice|cool|sweet|good
        who made|built|created|wrote|runs you
        you are|re the? great|awesome|best|smart|funny|amazing|helpful|nice|cool|sweet|good
        are you .. bot|human|real|ai|robot|person|machine|alive|there|sentient
        nice to meet
        have a .. day|one|night|evening|weekend
        i love|like you
        talk later|soon
        no worries|problem|questions
        """,
        where="nothing",
    ),
    Row(
        "definition",
        84,
        """
        define|definition|definitions|glossary|terminology|jargon
        meaning of
        what do|did you|u|we|they mean|meant
        what does|do|is|are|did|s .. mean|means|meant|stand
        whats .. mean|meaning|stand
        wat|wht does .. mean
        mean|means|meant $
        eli5
        explain like|to|simply|in
        how is|are|do|does|did you|u|the|a|an|your|it? .. calculated|computed|made|determined|measured
        how is|are|do|does|did you|u|the|a|an|your|it? .. defined|derived|triggered|fired|detected|assigned
        how is|are|do|does .. calculate|compute|determine|measure|define|derive|decide|score|work
        how do|does you .. calculate|compute|determine|measure|define|derive|decide|classify|score|come
        how|when is|are .. paid|decided|scored|formed|built|generated|produced|classified|graded|constructed
        difference between
        concept of
        pros|cons|advantages|disadvantages|benefits|drawbacks|downsides|dangers|point|purpose and? pros|cons? of
        the? term|word|expression|concept
        what counts as
        wtf|wth|wat|wut is|are
        what exactly is|are
        how is|are|do|does .. worked out
        """,
        where="term",
    ),
    Row(
        "definition",
        80,
        """
        ^ .. what is|are|s a|an .. $
        ^ .. what|wat|wht|whats|wats|wut is|are|s? a|an .. .. $
        ^ .. what|wat|wht|wut is|are|s .. rate|rates|ratio|apr|coefficient|score|interest|alert|alerts $
        ^ what is|are .. .. $
        ^ whats|wats .. .. $
        ^ .. explain .. .. $
        ^ explain
        ^ .. describe
        teach me
        i dont|do not|never? understand|get
        confused about|by
        tell me what .. is|are|means $
        what|wat is|are COIN? .. exactly|anyway|actually $
        """,
        where="term",
        unless="its|their|it|the|your|my|our|this|current|currently|now|today|on|most|best|top|highest|lowest|UNKNOWN|CATEGORY|latest",
    ),
)
