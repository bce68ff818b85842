"""Phrases of what this service does not do."""

from collections.abc import Sequence
from typing import Final

from service.ask.parser.phrases.row import Row

ELSEWHERE: Final[Sequence[Row]] = (
    Row(
        "out-of-scope",
        100,
        """
        ignore|disregard|forget|override|bypass|drop .. rules|rule|instruction|instructions|prompt|prompts|guidelines
        ignore|disregard|bypass|override .. restrictions|constraints|safety|filters
        ignore|disregard|bypass|override .. limits|everything|above|previous|prior
        system|hidden|initial|secret|developer prompt|prompts|instructions|message
        print|reveal|show|leak|dump|give|display|output|tell|send|expose|repeat .. secret|secrets|password|passwords
        print|reveal|show|leak|dump|give|display|output|tell|send|expose|share .. credentials|env|environment|pepper
        print|reveal|leak|dump|expose|send|share|your .. key|keys
        your|my private|secret|api|signing key|keys
        repeat .. above|everything
        repeat|print|output .. prompt|instructions|verbatim
        private key|keys
        seed phrase|words
        environment variables
        your instructions|source|prompt
        new instructions|rules|task
        admin|root access
        other users|customers
        obey
        jailbreak|jailbroken
        developer|god|dan|admin|debug|root mode
        you are|re now
        act|behave|respond as a|an|if|though
        pretend|roleplay|impersonate
        drop|delete|truncate table|database|tables
        rm rf
        script alert
        sudo|passwd|phpmyadmin
        """,
    ),
    Row(
        "out-of-scope",
        98,
        """
        buy|sell|short|long|trade|order|swap|transfer|send|withdraw|deposit|stake|place|open|close|execute .. for me
        for me buy|sell|trade
        on my behalf
        my|our account|wallet|portfolio|behalf buy|sell
        with|from|using my account|wallet|funds|money|balance|card
        place|execute|submit|put|enter|cancel|set .. order|orders|trade|trades|stop|bid
        market|limit|stop order|orders
        ^ please? go? ahead? and? buy|sell|swap|transfer AMOUNT|me|my|all|everything
        ^ please? go? ahead? and? withdraw|send|stake|bridge|liquidate AMOUNT|me|my|all|everything
        ^ please? buy|sell COIN|AMOUNT now|immediately|asap|please|today
        can|could|will you please? buy|sell|swap|transfer|withdraw|send|stake|bridge|trade|short|long
        i want you to|please buy|sell|swap|transfer|withdraw|send|stake|trade
        ^ please? open|close|enter a|an|my|the|all .. long|short|position|positions|trade
        open|close|enter|take a # x? .. long|short|position
        open|close .. long|short|position .. account|me|leverage
        send|transfer|withdraw|bridge AMOUNT .. to|from
        send|transfer|withdraw .. to my|this|the|an|address|wallet
        autotrade|autobuy|copytrade
        where|how can|could|do|to i|we|one|you? buy|purchase|sell|trade|short|long <thing>|crypto|it|some
        where|how can|could|do|to i|we|one|you? buy|purchase|sell|trade|short|long a|an|coins|tokens
        place|put|submit in? a|an|my? buy|sell|bid|ask|long|short|trade
        market buy|sell my|some|all|AMOUNT|COIN
        execute|place|make|do a|an|the swap|trade|order|purchase
        longing|shorting|buying|selling .. .. for me
        set my leverage|stop|margin|position
        set|create|make|add .. alert|alerts|notification|reminder
        alert|notify|ping|text|email|call|warn me when|if
        sign|approve|broadcast .. transaction|tx
        liquidate|close|rebalance my|all
        set|create|make up|a|an .. buy|sell|order|orders|bot|dca
        """,
    ),
    Row(
        "out-of-scope",
        96,
        """
        weather|rain|raining|snow|sunny|celsius|fahrenheit|umbrella
        recipe|recipes|cook|cooking|bake|baking|lasagna|pasta|pizza|dinner|lunch|breakfast|restaurant|restaurants
        poem|poems|haiku|sonnet|limerick|lyrics|joke|jokes|riddle|novel|fanfic
        write|compose|draft .. a|an|me|my .. story|song|essay|email|letter|tweet
        write|compose|draft .. a|an|me|my .. blog|article|speech|post|thread|cv|resume
        write|debug|fix|refactor|review|generate|code|compile .. code|script|function|program|class|regex|query|sql|html
        write|debug|fix|refactor|build|code|make .. python|javascript|rust|java|bot|website|app|solidity
        python|javascript|typescript|solidity|java|html|css|sql code|script|function|program|snippet
        sort a|an|the list|array
        declare .. staking|income|gains|crypto|earnings
        who created|invented|founded
        tell me a .. story|tale
        tax|taxes|taxable|taxed|irs|hmrc|accountant|deduct|deductible
        legal|illegal|lawyer|lawyers|lawsuit|sue|attorney|court|visa|passport|inheritance
        translate|translation|grammar|synonym|spell
        who won|invented|wrote|painted|discovered|directed|founded|killed
        calories|calorie|nutrition|protein
        who|whos is? the? president|king|queen|pope|prime|mayor|founder|richest|ceo
        capital of
        champions|premier|world|super|europa league|cup|bowl
        football|soccer|nba|nfl|basketball|tennis|cricket|baseball|olympics|formula
        movie|movies|film|films|song|songs|music|album|concert|celebrity|celebrities|anime|series
        tv|netflix show|shows|series
        horoscope|zodiac|astrology|tarot|religion
        doctor|medicine|medical|symptom|symptoms|headache|diet|pregnant|vaccine|therapy|workout|exercise|vitamins
        girlfriend|boyfriend|wife|husband|dating|wedding|birthday|valentine
        flight|flights|hotel|hotels|airline|vacation|travel|itinerary|tourist
        homework|exam|maths|math|algebra|geometry|calculus|equation|integral|derivative|physics|chemistry|biology
        square|cube root
        # times|plus|minus|divided|x|multiplied #|by
        meaning of life
        what|whats is? the? time|date|day is|today|now|it
        what time|day
        president|prime minister|election|elections|war|politics|congress|parliament
        start|run|open a|my business|company|shop
        # .. miles|km|kg|kilos|pounds|feet|meters|celsius|percent of
        plane|train ticket|tickets
        no rules|restrictions|filters|limits
        my oil|phone|computer|laptop|house|dog|cat|boss|kids
        how do|can|should|to i|we|you? .. mine|recover|store|stake|withdraw|deposit|cook
        how do|can|should|to i|we|you? .. bridge|unstake|claim|mint|farm|swap
        how do|can|should|to i|we? .. transfer|send|wrap|restore|import|export
        how do|can|should|to i|we? .. migrate|register|verify|install|download|log
        bridge|bridging .. from|to COIN|base|mainnet
        how do|can|to i? fix|repair|clean|remove|build|lose|learn|apply|become|install|change my|a|an|the|#|weight|off
        car|cars engine|repair|insurance|tyre|tire
        job|jobs|interview|salary|career|mortgage|loan|loans|rent|landlord|insurance|pension|savings account|advice|tips
        mortgage|homework|kitchen|garden|dog food|cat food|puppy|kitten
        book me|a|us
        order me|us|a pizza|food|taxi|uber
        set|create .. reminder|alarm|timer
        remind|wake me
        hack|hacking|exploit|phish|phishing|launder|laundering|malware|ransomware|ddos
        chatgpt|openai|claude|gemini ai|model
        history of rome|france|england|america|europe|art|music|china
        population|tallest|mountain|ocean|planet|planets|dinosaur|dinosaurs
        airdrop eligibility|eligible
        set up|create|make .. wallet
        keep|store|leave|hold my coins|crypto|tokens|funds|money|savings on|in|at|with
        CATEGORY listing|listings|collection|collections|floor|mint|marketplace
        floor price|prices
        which|best|recommend|safest exchange|hardware|broker|wallet
        """,
    ),
)
