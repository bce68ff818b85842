"""Words that stand for topics of the wider economy, as people say them. The rule; `topics` reads it."""

from collections.abc import Mapping
from typing import Final

from service.transcripts.topics import TopicWords
from service.wire.transcripts import Macro

WORLD: Final[Mapping[Macro, TopicWords]] = {
    "elections": TopicWords(
        said="""
            midterm/midterms, presidential race/candidate/candidates/campaign/election/elections/debate,
            general/primary/snap/federal/national election/elections,
            election day/night/year/cycle/season/results/odds/outcome/win/campaign,
            campaign trail/promise/promises/donation/donations/finance, swing state/states, battleground state/states,
            super PAC/PACs, super pac/pacs, fairshake,
            run/runs/running/ran for office/president/congress/senate/governor/mayor/reelection, exit poll/polls,
            in/at/ahead-in the polls, ballot box, electoral, electorate, reelection, reelected, re election, re elected,
            second term, republican/democratic/democrat primary/nominee/convention, crypto vote/voter/voters,
            single issue voter/voters, pro crypto candidate/candidates, polling numbers/average/averages,
            white house race, take/takes/took/win/wins/won/flip/flips the house/senate/white-house/presidency/majority,
            flipped/lose/loses/lost the house/senate/white-house/presidency/majority,
            hold/holds/keep/keeps/retake the house/senate/white-house/presidency/majority, pollster/pollsters,
            mayoral/gubernatorial/governor/mayor race, the mayor race, governor race, prime minister race,
            candidate for president/governor/mayor/congress/senate/office, presidential hopeful, electoral map,
            vote/votes/voted/voting for him/her/trump/biden/harris/president, voted in/out of office, voter turnout,
            exit polling, polling station/stations, PAC/PACs, polls were wrong/right, the polls had, betting odds,
            trump/biden/harris/kamala/vance wins/won/winning/lost/loses/losing/elected,
            won/win/wins/lost the presidency/election
        """,
        plain="election/elections, elected, ballot/ballots, voters, runoff",
        alien="""
            dao daos delegate delegates governance holder holders tokenholders validator validators council quorum
            snapshot proposal proposals token leader foundation board captain multisig coin
        """,
        faint="""
            vote/voted/voting/votes for, polls, polling, campaign/campaigns, campaigning, candidate/candidates, nominee,
            primaries, landslide, took office, takes office, democrats, republicans, the ticket, the primary, voted
        """,
        company="""
            president presidential trump biden harris kamala vance newsom november democrat democrats democratic
            republican republicans parties governor congressman congresswoman parliament election elections mayor
            minister seats majority ballot ballots pollsters turnout incumbent votes candidates polls voted
        """,
    ),
    "energy": TopicWords(
        said="""
            OPEC, opec, natural gas, gasoline, diesel, at the pump, gas at the pump, price of oil,
            oil price/prices/shock/embargo/supply/market/markets/spike/stocks/futures/producers, crude oil, a barrel,
            barrels a day, WTI, brent,
            energy price/prices/cost/costs/market/markets/crisis/supply/grid/consumption/usage/use/bill/bills,
            energy sector/companies/company/producer/producers/demand/policy,
            energy stocks/shock/intensive/independence/security/buyer/hog,
            renewable/renewables/nuclear/clean/cheap/stranded/green/solar/wind/wasted/excess energy, electricity,
            electric bill/bills, nuclear power/plant/plants/reactor/reactors,
            power grid/price/prices/cost/costs/plant/plants/bill/bills,
            power contract/contracts/demand/supply/company/companies/purchase/bottleneck/hungry/shortage,
            cheap/cheaper/cheapest/solar/hydro/wind/excess/stranded power, solar panel/panels/farm/farms,
            wind farm/farms, hydro, hydropower, hydroelectric, kilowatt/kilowatts, megawatt/megawatts,
            gigawatt/gigawatts, terawatt, kilowatt/terawatt/megawatt hour/hours, LNG, uranium, refinery, refineries,
            flared/flare gas, gas flaring, ERCOT, ercot, cents a/per kilowatt, oil and gas,
            flare/flares/flaring the gas, curtailed power, demand response, baseload, brownout/brownouts,
            blackout/blackouts, substation/substations, fracking, drill baby drill, oil field/fields, gas field/fields,
            oil well/wells, heating oil, jet fuel, the grid operator/operators, kilowatt, stranded gas
        """,
        plain="oil, barrels, coal, crude",
        alien="snake olive cooking bot bots trading joke jokes estimate approximation measure method tool",
        faint="""
            power, energy, grid, utilities, heat, drill, drilling, flare, flared, flaring, transformers, the grid, gas
        """,
        company="""
            electricity hashrate rigs asics texas nuclear solar wind winter opec pipeline plant plants turbines watts
            megawatts kilowatts gigawatts refineries brent permian oil drill drilling barrel utility megawatt gigawatt
            kilowatt flare lng diesel wells
        """,
    ),
    "etf": TopicWords(
        said="""
            etf/etfs, e.t.f, etp/etps, etn/etns,
            exchange traded fund/funds/product/products/note/notes/vehicle/vehicles, IBIT, ibit, FBTC, fbtc, GBTC, gbtc,
            ETHA, etha, ETHE, BITO, spot product/products, spot bitcoin fund/funds,
            in kind redemption/redemptions/creation/creations
        """,
        faint="inflows, outflows, flows, filing, filings, S 1, approval, issuers",
        company="blackrock fidelity grayscale ibit vaneck bitwise issuer issuers",
    ),
    "geopolitics": TopicWords(
        said="""
            geopolitics, geopolitical, geopolitically, act of war,
            war in ukraine/gaza/iran/the-middle-east/europe/asia/israel, war with iran/russia/china/israel/ukraine,
            trade and war, war between russia/israel/iran/china/the-us, war breaks/broke out, ceasefire, cease fire,
            missile/missiles, airstrike/airstrikes, air/drone strike/strikes, strait of hormuz, hormuz, red sea, hamas,
            hezbollah, houthi/houthis, NATO, nato, peace deal/talks/treaty/agreement/plan, south china sea,
            cold/proxy/nuclear war, nuclear weapon/weapons, gaza, kremlin, safe haven bid, invasion of, iron dome,
            rogue state/states, superpower rivalry, in the middle east,
            middle east conflict/war/tension/tensions/peace/crisis, frozen russian assets,
            froze/freeze/freezing/frozen russia/russian reserves/assets, weapons to, arms deal/deals,
            shooting at each other, boots on the ground, war premium, war broke out, since the war, wars in,
            two/three/four wars, both wars, war machine, on the brink of war
        """,
        plain="sanction/sanctions, sanctioned, sanctioning, ukraine, ukrainian, putin, bombs, bombed, bombing",
        alien="tornado ofac mixer mixers contract contracts frontend privacy difficulty",
        faint="""
            war, wars, conflict/conflicts, tension/tensions, escalation, escalate/escalates/escalated, attack/attacks,
            attacked, strikes, bomb/bombs, bombed, bombing, iran, iranian, israel, israeli, russia, russian, russians,
            taiwan, china, beijing, north korea, military, army, peace, blockade, venezuela, at war, wartime, world war,
            troops, go/goes/going/went to war, the war, greenland, yemen, syria, pentagon, drones, drone,
            tanker/tankers, nuclear, regime, hostages, retaliate/retaliates/retaliated/retaliation, annex, invaded,
            invades, invade, invasion, tanks, soldiers, rockets, kyiv, moscow, tehran
        """,
        company="""
            ukraine russia russian putin iran iranian tehran israel israeli gaza taiwan war wars troops missiles missile
            military invasion nuclear nato bomb bombs bombing bombed airstrikes ceasefire sanctions tension tensions
            border strait beijing pentagon hezbollah escalation navy freeze froze frozen freezing seized soldiers
            shooting tanks weapons rocket rockets hostage kyiv moscow warships drones
        """,
    ),
    "growth": TopicWords(
        said="""
            gdp, recession/recessions, recessionary, recession proof, soft/hard/no landing,
            economic growth/slowdown/data/contraction/expansion/boom,
            economic downturn/cycle/recovery/outlook/weakness/strength/collapse,
            global/us/u.s/american/chinese/german/european/world/japanese/main-street economy,
            consumer spending/confidence/sentiment/demand/credit/weakness, retail sales, PMI/PMIs, pmi/pmis, ISM,
            ism manufacturing/services, business cycle/survey/surveys/confidence, stagflation, industrial production,
            housing starts, k shaped, growth scare/scares, durable goods, great depression,
            economy slows/slowing/grows/growing/grew/shrinks/shrinking/shrank/contracts/contracting,
            economy contracted/weakens/weakening/overheating/rolls/rolling/cracks/cracking/stalls/stalling,
            economic surprise, leading indicators, atlanta fed, gdp now, credit card delinquencies,
            consumer delinquencies, economic numbers, negative quarters, output gap, US economy, soft patch,
            main street, two negative quarters, consumer rolls over, consumer is weak/strong/tapped, growth is slowing,
            growth slows, slowing growth, growth slowing, factory orders, beige book,
            consumer fine/rolling/rolled/roll/spends/stretched/resilient
        """,
        plain="the economy, economy, slowdown, consumers are, economic activity, slow down of the economy",
        alien="""
            token game games creator gig machine agents agent attention circular protocol tokenomics app apps product
            products ux onboarding anxiety wallet side chain chains ethereum solana network onchain coin
        """,
        faint="growth, consumer/consumers, spending, contraction, expansion, demand, households, manufacturing",
        company="""
            gdp economy economies economists economist recession macro unemployment households payrolls pmi ism quarters
        """,
    ),
    "jobs": TopicWords(
        said="""
            payroll/payrolls number/numbers/print/report/data/revision/revisions, payrolls, non farm, nonfarm, NFP, nfp,
            unemployment, jobless, initial/continuing/weekly/unemployment claims, claims number/numbers/data/print,
            labor/labour market/markets/force/data/shortage/participation,
            job/jobs market/report/data/number/numbers/print/growth/openings,
            job/jobs losses/creation/friday/day/gains/picture/revision/revisions, job cuts, jolts, JOLTS,
            employment report/data/number/numbers/mandate/situation/cost, maximum/full employment,
            wage growth/pressure/inflation/gains, hourly earnings, average hourly, participation rate,
            hiring freeze/freezes/slowdown/rate, nobody hiring, nobody is hiring, no one hiring, not hiring anymore,
            sahm rule, lost/lose/losing/loses their/his/her job/jobs, white collar jobs, out of work, quits rate,
            entry level jobs, people are getting laid off, prime age, mass/tech layoffs, wave of layoffs,
            layoffs across, lay/lays/laying/laid people/workers/folks off, laying off people/workers, quit rate,
            jobs revised, job seekers, help wanted, unemployment line, part time jobs, white collar recession,
            labor costs, minimum wage, pay raises, wage earners, find/finding work, find/finding a job, find jobs,
            cannot find work, out of a job, dual mandate,
            take/takes/taking/replace/replaces/replacing their/our/the/people jobs, ai takes/taking jobs, taking jobs,
            second job, two jobs, three jobs, two/both mandates
        """,
        plain="wages, unemployed, layoffs",
        alien="""
            team our we company startup exchange studio foundation labs engineers coin usdc stablecoin stablecoins
        """,
        faint="jobs, job, hiring, claims, employment, labor, labour, layoffs, laid off, workers",
        company="""
            fed economy cpi recession payrolls unemployment powell wages economists revisions revised unemployed jobless
            quits factories trucking mandate mandates
        """,
    ),
    "regulation": TopicWords(
        said="""
            regulation/regulations, regulator/regulators, regulatory, deregulation, SEC, s.e.c, the sec, CFTC, cftc,
            DOJ, doj, department of justice, justice department, FINMA, FCA, ESMA, BaFin, MAS, MiCA, MICA, mica, FinCEN,
            fincen, OFAC, ofac, the OCC, gensler, hester peirce, paul atkins, wells notice/notices, no action letter,
            genius/clarity/lummis/stablecoin act, FIT21,
            stablecoin/crypto/market-structure/privacy bill/bills/law/laws/legislation/rules,
            market structure bill/legislation, legislation, legislator/legislators, lawmaker/lawmakers, signed into law,
            securities law/laws/fraud/violations/regulator, unregistered securities/security/offering, howey,
            enforcement action/actions, by enforcement, money transmission/transmitter/transmitters/transmitting,
            money laundering, anti money laundering, travel rule, bitlicense, attorney general, safe harbor,
            licensing regime/regimes, crypto czar,
            regulated entity/entities/exchange/exchanges/market/markets/product/products, unhosted wallet rule,
            broker rule, choke point, chokepoint, security or a commodity, securities or commodities,
            digital asset bill, regulatory clarity, legal clarity, sued by/the-sec,
            banned/bans/ban/banning crypto/bitcoin/mining/stablecoins/trading, developer liability, class action,
            criminal charges, money services business, consumer protection, is/isn't/as/not/are/aren't a security,
            federal court/judge, judge ruled, court ruled/ruling, court of appeals, securities lawyer/lawyers,
            sanctioned by ofac, tornado case/trial/developers, fdic guidance,
            licence/licences/license/licenses in every/each state, money transmitter license/licenses, state licenses,
            presidential pardon, pardoned, plea deal, pleaded/pled/found guilty, extradited, extradition,
            comment period, exemptive relief, innovation exemption, genius bill,
            china/india/korea/turkey/russia bans/banned, convicted, united states law/laws
        """,
        plain="""
            regulate/regulates/regulated/regulating, unregulated, lawsuit/lawsuits, indictment/indictments, indicted,
            subpoena/subpoenas/subpoenaed, prosecutors, prosecutor, prosecuted, policymakers, crackdown, outlawed,
            licensing, the judge, the courts, the court, the law, supreme court, appeals court, appellate court,
            convicted, sentenced, acquitted, plaintiff/plaintiffs
        """,
        alien="""
            temperature thermostat software source mit gpl plate code driver drivers tennis basketball food large murphy
            metcalfe tariff tariffs duties firm
        """,
        faint="""
            congress, congressional, senate, senator/senators, law/laws, bill/bills, court/courts, judge, jury, illegal,
            license/licenses, licence/licences, licensed, ban, bans, banned, banning, sue/sued/sues/suing, fined,
            the fine, fines, compliance, compliant, enforcement, KYC, kyc, AML, aml, trial, prison, jail, charges,
            charged, guidance, legal, appeal, appealed, settled, settlement, penalty, the act, securities, approval
        """,
        company="""
            sec regulators regulator stablecoin stablecoins court courts judge jury eu brussels lawmakers agency
            agencies prosecutors prosecutor commissioner illegal lawyers lawyer tornado securities doj parliament cftc
            gensler mica sanctions convicted convict sued lawsuit regulated regulation jurisdiction jurisdictions
            license licenses licensed ruling ruled attorney statute felony hong kong singapore dubai draft markup
        """,
    ),
    "trade": TopicWords(
        said="""
            tariff/tariffs, tariffed, trade war/wars/deal/deals/policy/deficit,
            trade deficits/surplus/balance/talks/negotiation/negotiations/tension,
            trade tensions/agreement/agreements/representative/barrier/barriers,
            trade dispute/disputes/route/routes/pact/truce/uncertainty, trade partner/partners,
            trading partner/partners, free/global/world/international/cross-border trade, customs duty/duties,
            import duty/duties/tax/taxes/levy/levies, tax on imports, protectionism, protectionist, liberation day,
            reciprocal tariffs, container ships/shipping/rates, shipping costs/lanes,
            deal with china/europe/japan/canada/mexico/india/the-eu, imported goods, import/export prices,
            exporting countries/country, reshoring, onshoring, nearshoring, rare earths,
            percent on copper/steel/aluminum/everything/imports/goods/cars/chips,
            percent on china/europe/canada/mexico/brazil/india/japan/switzerland, section 232/301/122, IEEPA,
            round of duties, anti dumping, de minimis, taxes/tax on imports, chip export/exports, trade representative,
            imports from, exports to, export ban/bans, import ban/bans, export control/controls, chip ban/bans,
            chip restrictions, chips to china, entity list
        """,
        plain="imports, exports, importer/importers, exporter/exporters, duties, imported",
        alien="""
            code library keys key wallet seed csv file files python javascript npm attack attacks compromised software
            hardware
        """,
        faint="""
            goods, factories, factory, manufacturing, retaliation, retaliate/retaliates/retaliated,
            everything that comes in, comes in from, made in china, ports, levies, levy, shipping, embargo,
            supply chain/chains, duty, quota/quotas, percent on, soybeans, soy
        """,
        company="""
            china chinese canada mexico tariffs europe european imports vietnam beijing customs reciprocal import
            brussels section copper steel aluminum chips tariff
        """,
    ),
}
