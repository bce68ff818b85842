"""The words that stand for topics of the economy, as people say them in podcasts. Published: this table is the rule.

A topic is told where one of its phrases is said. The longest phrase at a place counts, and one that means something
else (`OTHERS`) counts for nothing: "funding rates" are not interest rates. A faint phrase (`FAINT`) needs a companion
anywhere in the passage: "yields" are those of bonds only where bonds, the Fed or the like are spoken of.

Phrases are parted by commas; `cut/cuts` stands for either word, and `_` for a word that may lack. One that is written
with a capital needs it ("SEC" is no second), the others are found in any case.
"""

from collections.abc import Mapping
from typing import Final

from service.wire.transcripts import Macro

SAID: Final[Mapping[Macro, str]] = {
    "banking": """
        bank/banks, banking, bank run/runs, bankers, big banks, regional bank/banks, commercial bank/banks, megabanks,
        neobank/neobanks, community banks, bank account/accounts, debanked, debanking, de banking, de banked, unbanked,
        choke point, chokepoint, SVB, silicon valley bank, silvergate, signature bank, first republic, credit suisse,
        FDIC, deposit insurance, bank deposits, bank failure/failures, discount window, JPMorgan, JP Morgan,
        jamie dimon, citigroup, citibank, wells fargo, bank of america, deutsche bank, HSBC, bank charter/charters,
        bailout/bailouts, bailed out, fractional reserve, BTFP, SLR, basel
    """,
    "dollar": """
        the dollar, us dollar, u.s dollar, american dollar, king dollar, DXY, dxy, dollar index, greenback,
        dollar strength, dollar weakness, strong dollar, stronger dollar, strengthening dollar, weak dollar,
        weaker dollar, weakening dollar, dollar weakens, dollar strengthens, falling dollar, rising dollar,
        dollar wrecking ball, dollar milkshake, dollar dominance, dollar hegemony, dollar system, dollar supremacy,
        dollar rally/rallies, reserve currency, reserve currencies, dedollarization, de dollarization, dedollarize,
        petrodollar, eurodollar, against the dollar, dollar yen, euro dollar, debasing the dollar, dollar debasement
    """,
    "elections": """
        election/elections, electoral, elected, electorate, ballot/ballots, voters, at the polls, polling numbers,
        midterm/midterms, presidential race, presidential candidate/candidates, presidential campaign, campaign trail,
        campaign promise/promises, on the campaign, swing state/states, primaries, inauguration, super PAC, super PACs,
        fairshake, second term, runoff, landslide, run for office, runs for office, running for president,
        exit poll/polls, red wave, blue wave, vote him out, pro crypto candidate/candidates
    """,
    "energy": """
        oil, crude, brent, WTI, wti, barrel/barrels, OPEC, opec, natural gas, gasoline, diesel, gas prices at the pump,
        at the pump, energy price/prices, energy cost/costs, energy market/markets, energy crisis, energy supply,
        energy grid, energy consumption, energy usage, energy use, cheap energy, energy sector, energy companies,
        energy producer/producers, energy demand, renewable energy, nuclear energy, clean energy, stranded energy,
        wasted energy, electricity, electric bill, electrical grid, power grid, the grid, power price/prices,
        power cost/costs, power plant/plants, power bill, power contract/contracts, power purchase, power demand,
        nuclear power, cheap power, solar power, hydro, hydropower, kilowatt/kilowatts, megawatt/megawatts,
        gigawatt/gigawatts, kilowatt hour, terawatt hours, LNG, uranium, coal, refinery/refineries, flared gas,
        heating bills, utility bill/bills
    """,
    "etf": """
        etf, etfs, etp, etps, exchange traded fund/funds, exchange traded product/products, exchange traded, IBIT, ibit,
        FBTC, GBTC, gbtc, ETHA, ETHE, spot product/products, spot fund/funds, in kind redemption/redemptions,
        in kind creation/creations
    """,
    "fiscal": """
        fiscal, fiscally, deficit/deficits, deficit spending, government spending, federal spending, public spending,
        government debt, national debt, federal debt, public debt, sovereign debt, us debt, the debt ceiling,
        debt ceiling, debt limit, debt to gdp, federal budget, the budget, budget bill, budget deal, budget cuts,
        spending bill, spending cuts, spending package, stimulus, stimmy, stimmies, stimulus check/checks, tax cut/cuts,
        tax bill, tax hike/hikes, tax package, tax policy, corporate tax, income tax, capital gains tax, wealth tax,
        tax revenue/revenues, raise taxes, cut taxes, cutting taxes, lower taxes, higher taxes,
        treasury auction/auctions, bond auction/auctions, debt auction/auctions, treasury issuance, debt issuance,
        bill issuance, bond issuance, quarterly refunding, refunding announcement, government shutdown,
        shutdown of the government, big beautiful bill, entitlements, social security, medicare, austerity,
        infrastructure bill, government borrows, government borrowing, government is borrowing, infrastructure spending,
        defense spending, interest on the debt, trillion in debt, trillion dollars in debt
    """,
    "geopolitics": """
        geopolitics, geopolitical, geopolitically, war/wars, wartime, ceasefire, cease fire, missile/missiles,
        airstrike/airstrikes, air strike/strikes, drone strike/strikes, invasion, invaded, invades, invade, sanctions,
        sanctioned, sanction, middle east, ukraine, ukrainian, russia, russian, russians, putin, kremlin, iran, iranian,
        israel, israeli, gaza, hamas, hezbollah, taiwan, strait of hormuz, hormuz, red sea, north korea, north korean,
        lazarus, houthi, houthis, NATO, nato, military, troops, nuclear weapons, peace deal, peace talks, escalation,
        superpower/superpowers, south china sea, export controls, cold war, venezuela, war zone
    """,
    "growth": """
        gdp, recession/recessions, recessionary, soft landing, hard landing, no landing, economic growth,
        economic slowdown, slowdown, economic activity, economic data, the economy, us economy, global economy,
        world economy, real economy, economy is, consumer spending, consumer confidence, consumer sentiment,
        retail sales, PMI, PMIs, pmi, ISM, ism, business cycle, business survey/surveys, manufacturing data,
        manufacturing index, manufacturing survey, services survey, stagflation, depression, economic expansion,
        economic contraction, industrial production, housing starts, k shaped, leading indicators, atlanta fed,
        growth scare, growth numbers, economic boom, productivity growth, durable goods
    """,
    "inflation": """
        inflation, inflationary pressure/pressures, disinflation, disinflationary, deflation, hyperinflation, reflation,
        stagflation, cpi, PCE, pce, PPI, ppi, consumer price/prices, producer price/prices, price stability,
        price pressure/pressures, cost of living, purchasing power, buying power of, price of eggs, price of groceries,
        grocery price/prices, grocery bill/bills, groceries, rents are, core services, sticky prices, shelter component,
        transitory, debasement, everything costs, everything is more expensive, prices at the supermarket
    """,
    "jobs": """
        payroll/payrolls, non farm, nonfarm, NFP, nfp, unemployment, unemployed, jobless, jobless claims,
        initial claims, continuing claims, labor market, labour market, labor force, labour force, job market,
        jobs market, jobs report, jobs data, jobs number/numbers, jobs print, jobs friday, job growth, job openings,
        job losses, job cuts, jobs are, jobs were, job numbers, jobs day, jolts, employment report, employment data,
        employment number/numbers, employment mandate, maximum employment, full employment, layoffs, lay offs,
        wage/wages, wage growth, hourly earnings, average hourly, participation rate, hiring freeze/freezes,
        hiring slowdown, job creation, labor data, labour data, adp, sahm rule
    """,
    "liquidity": """
        global liquidity, dollar liquidity, fed liquidity, net liquidity, macro liquidity, system liquidity,
        central bank liquidity, liquidity cycle/cycles, liquidity injection/injections, injecting liquidity,
        inject liquidity, excess liquidity, liquidity in the system, liquidity conditions, liquidity tide,
        liquidity drain, liquidity from the central bank/banks, wave of liquidity, money supply, M2, m2, broad money,
        global M2, quantitative easing, quantitative tightening, QE, QT, qe, qt, balance sheet runoff,
        fed balance sheet, balance sheet of the fed, fed's balance sheet, federal reserve balance sheet,
        central bank balance sheet/sheets, balance sheets of central banks, balance sheet of the central bank,
        bank reserves, reverse repo, reverse repos, RRP, repo market/markets, repo facility, standing repo, TGA, tga,
        treasury general account, money printer, printing money, print money, money printing, printed money,
        prints money, money is printed, printing press, printing presses, financial conditions, easy money, tight money,
        PBOC, liquidity driven, stealth qe, not qe, yield curve control, YCC, brrr
    """,
    "rates": """
        rate cut/cuts, rate cutting, rate hike/hikes, rate decision/decisions, rate increase/increases, rate path,
        rate expectations, rate pause, rate policy, rate environment, rate regime, rate sensitive,
        rate differential/differentials, interest rate/rates, real rates, real yields, policy rate/rates, fed funds,
        federal funds, mortgage rate/rates, fed rate/rates, cut rates, cuts rates, cutting rates, cutting interest,
        lower rates, lowers rates, lowering rates, hike rates, hikes rates, hiking rates, hiked rates, hiking cycle,
        cutting cycle, easing cycle, tightening cycle, raise rates, raises rates, raised rates, raising rates,
        hold rates, holding rates, held rates, higher rates, high rates, low rates, zero rates, rates higher,
        rates lower, rates are, rates come down, rates coming down, rates go up, rates go down, rates going, rates stay,
        rates staying, rates unchanged, rates steady, rates at zero, rates to zero, rates to, rates have been,
        rates on hold, rates were, rates fall, rates rise, zero interest, ZIRP, higher for longer, Fed, the fed, fed's,
        fed chair, fed meeting, fed cut/cuts, fed hike/hikes, fed pivot, fed minutes, fed speak, fed officials,
        fed governor/governors, fed decision, fed day, fed put, federal reserve, FOMC, fomc, powell, jerome powell,
        jay powell, dot plot, dots, jackson hole, ECB, ecb, lagarde, bank of japan, BOJ, boj, bank of england,
        central bank/banks, central banker/bankers, monetary policy, monetary easing, monetary tightening, hawkish,
        dovish, hawks, doves, terminal rate, neutral rate, basis point cut/hike, bps cut, treasury yield/yields,
        bond yield/yields, treasury bond/bonds, bond market/markets, treasuries, t bills, government bond/bonds,
        bond vigilantes, long bond/bonds, bond traders, ten year, 10 year, ten year yield, 10 year yield,
        two year yield, 2 year yield, thirty year yield, 30 year yield, long end, yield curve, curve inversion,
        inverted curve, steepener, curve steepening, SOFR, term premium, duration risk
    """,
    "regulation": """
        regulation/regulations, regulator/regulators, regulatory, regulated, regulate, regulates, regulating,
        deregulation, unregulated, SEC, s.e.c, the sec, CFTC, cftc, DOJ, doj, department of justice, justice department,
        FINMA, FCA, ESMA, MiCA, MICA, mica, FinCEN, fincen, OFAC, OCC, gensler, gary gensler, paul atkins,
        hester peirce, wells notice, no action letter, genius act, clarity act, FIT21, stablecoin bill,
        stablecoin legislation, market structure bill, market structure legislation, crypto bill/bills, legislation,
        lawmaker/lawmakers, legislator/legislators, congress, congressional, senate, senator/senators,
        house of representatives, signed into law, the law, new law/laws, securities law/laws, unregistered securities,
        unregistered security, security or a commodity, howey, howey test, lawsuit/lawsuits, sued, sues, suing,
        subpoena/subpoenas, indictment, indicted, enforcement action/actions, by enforcement, enforcement, KYC, kyc,
        AML, aml, anti money laundering, travel rule, licensing, license/licenses, licence/licences, licensed,
        compliance, outlawed, ban on, banning, banned, crackdown, crack down, safe harbor, rulemaking, policymakers,
        policy makers, attorney general, prosecutors, bitlicense, consent decree, guidance from, crypto czar,
        legal clarity, developer liability
    """,
    "trade": """
        tariff/tariffs, trade war/wars, trade deal/deals, trade policy, trade deficit, trade deficits, trade surplus,
        trade balance, trade talks, trade negotiation/negotiations, trade tension/tensions, trade agreement/agreements,
        trade partner/partners, trading partner/partners, trade representative, trade barrier/barriers, trade dispute,
        trade flows, trade route/routes, free trade, global trade, world trade, international trade, import/imports,
        imported, importer/importers, export/exports, exporter/exporters, exported, customs duty/duties,
        import duty/duties, protectionism, protectionist, supply chain/chains, liberation day, reciprocal,
        container ships, shipping costs, retaliatory, embargo
    """,
}  # fmt: skip
"""Topic → what always tells it."""

FAINT: Final[Mapping[Macro, tuple[str, str]]] = {
    "rates": (
        "rates, rate, yields, yield, basis points, bps, bonds, easing, tightening, pivot, cut, cuts, hike, hikes",
        """
        fed, powell, fomc, federal, ecb, boj, central, treasury, treasuries, bond, bonds, mortgage, mortgages, economy,
        inflation, cpi, unemployment, payrolls, recession, percent, macro, september, december, march, june
    """,
    ),
    "dollar": ("dollar", "currencies, currency, euro, yen, yuan, fiat, emerging, fed, foreign, gold, reserve"),
    "liquidity": ("liquidity, balance sheet, printing", "fed, macro, treasury, central, global, banks, boj, economy"),
    "jobs": ("jobs, hiring, labor, labour, employment", "fed, economy, cpi, inflation, recession, report, print, data, macro, powell"),
    "elections": ("vote, votes, polls, poll, campaign, candidate, candidates, president, trump, biden, harris", "november, democrats, democrat, republican, republicans, win, wins, won, presidency"),
    "energy": ("power, energy, gas", "miners, mining, miner, data, electricity, prices, winter, europe, pump, grid, hash, opec, barrel"),
    "growth": ("economy, growth, consumer, consumers, spending", "economy, fed, macro, recession, inflation, jobs, quarter, consumer, unemployment, tariffs"),
    "fiscal": ("spending, debt, taxes, treasury, borrowing, budget", "government, federal, congress, washington, trillion, treasury, national, bessent, yellen, country, state"),
    "regulation": ("bill, bills, law, laws, court, courts, judge, license", "congress, senate, washington, stablecoin, regulators, crypto, federal, state, exchange, exchanges, eu, judge"),
    "banking": ("deposits, custody", "bank, banks, insured, lenders"),
    "etf": ("inflows, outflows, flows, filing, filings, approval, funds", "blackrock, fidelity, grayscale, ark, vaneck, bitwise, spot, wall, issuers"),
    "geopolitics": ("conflict, tensions, china, attack, attacks, strikes, peace", "war, oil, military, us, beijing, taiwan, troops, missiles, borders, east, border"),
    "trade": ("duties, goods", "china, canada, mexico, trump, europe, imports"),
}  # fmt: skip
"""Topic → phrases that tell it in company, and single words that are such company."""

OTHERS: Final = """
        funding rate/rates, hash rate/rates, hashrate, win rate, growth rate, burn rate, exchange rate/rates,
        success rate, conversion rate/rates, staking rate/rates, borrow rate/rates, borrowing rate/rates,
        lending rate/rates, supply rate/rates, at this rate, at any rate, at that rate, staking yield/yields,
        lending yield/yields, farming yield/yields, basis points on aave, tax rate/rates, fed up, fed into, fed by,
        fed from, fed to, fed with, token inflation, supply inflation, inflation schedule, inflation of the supply,
        inflation of the token, inflation rate of the token, annual inflation of the token, inflation to validators,
        network inflation, inflationary token, staking inflation, emissions inflation, a dollar, per dollar,
        every dollar, one dollar, dollar cost, dollar cost averaging, half a dollar, the dollar amount,
        the dollar value, the dollar sign, the dollar peg, pegged to the dollar, dollar peg,
        dollar stablecoin/stablecoins, one to one to the dollar, to the dollar, memory bank, data bank, power bank,
        food bank, bank on, banking on, bank it, to the bank, crude joke, a crude, oil and water, snake oil,
        gas fee/fees, gas price/prices, gas cost/costs, gas limit, gas token, burn gas, in gas, gas war/wars, the gas,
        off the grid, grid trading, grid bot/bots, elected to, bidding war/wars, war chest, star wars, flame war/wars,
        war story, war stories, priority gas auction, console wars, culture war/wars, price war/wars, fork wars,
        block size war/wars, blocksize war/wars, fee war, layer two wars, curve wars, the budget for, our budget,
        my budget, tax loss, growth of the protocol, the economy of the, token economy, creator economy, game economy,
        in game economy, gig economy, ai economy, machine economy, agent economy, attention economy, pool liquidity,
        liquidity pool/pools, liquidity provider/providers, liquidity mining, on chain liquidity, exit liquidity,
        order book liquidity, protocol owned liquidity, liquidity fragmentation, fragmented liquidity, printing a,
        printing new highs, printing green, printing red, balance sheet company, balance sheet companies,
        corporate balance sheet/sheets, their balance sheet, its balance sheet, depression and, anxiety and depression,
        the law of, moore's law, law of large numbers, murphy's law, metcalfe's law, goodhart's law, in law,
        brother in law, mother in law, father in law, law firm, import the, import your, import a, import it, import my,
        imported it, export your, export the, export my, export it, exported it, open source license, mit license,
        driver's license, software license, license plate, driving license, supply chain attack/attacks, trade the,
        jobs to be done, steve jobs, day job, night job, job well done, good job, great job, side job, your jobs,
        cron job/jobs, rates of, at rates, in ten year, in ten years, ten year old, ten years, within ten year,
        long endeavor, connecting the dots, connect the dots, dots connect, polka dots, proof of reserve/reserves,
        quality of life, minimum wage war, slowdown in blocks, network slowdown, tiktok ban, banned me,
        banned from the discord, shadow banned, i was elected, leader election, leader elections,
        validator election/elections, consensus election, the grid bot, power users, power user, power law,
        purchasing power parity, hawk tuah, hawks nest, the military industrial, invade my, privacy invasion,
        invasion of privacy, self regulating, self regulate, thermal regulation, voters of the dao
    """
"""What sounds like a topic and is none."""
