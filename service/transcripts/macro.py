"""The words that stand for topics of the economy, as people say them. Published: these tables are the rule.

`topics` says how they are read; what is among `homonyms` stands for nothing.
"""

from collections.abc import Mapping
from typing import Final

from service.transcripts.topics import Topic
from service.wire.transcripts import Macro

TOPICS: Final[Mapping[Macro, Topic]] = {
    "banking": Topic(
        said="""
            regional/commercial/community/big/small/traditional/wall-street/investment/custodian bank/banks, megabanks,
            bankers, bank run/runs, run/runs on the bank/banks, bank failure/failures, bank account/accounts,
            bank deposits, bank stocks, bank lending, banking system/sector/crisis/industry/license/licenses/partner,
            banking partners/relationship/relationships/access/services/rails/lobby/regulators,
            debank/debanked/debanking, de bank/banked/banking, unbanked, underbanked, choke point, chokepoint, SVB,
            silicon valley bank, silvergate, signature bank, first republic, credit suisse, FDIC, deposit insurance,
            deposit flight, discount window, JPMorgan, jpmorgan, JP Morgan, jp morgan, jamie dimon, citibank,
            wells fargo, bank of america, deutsche bank, bank charter/charters, banking charter/charters,
            fractional reserve, BTFP, bail/bailed/bailing out the banks, bank bailout/bailouts, uninsured deposits,
            the banks
        """,
        plain="banks, banking",
        alien="scripts memory",
        faint="bank, deposits, depositors, bailout/bailouts, bailed out, lenders, custody, charter/charters",
        company="""
            failed fails failure failures collapse collapsed run runs insured account accounts teller branch regional
            deposits depositors bailed license loans closed rescue fdic bank banks banking wire wires insolvent occ
        """,
    ),
    "dollar": Topic(
        said="""
            us/u.s/american/king dollar, DXY, dxy, dollar index/strength/weakness/wrecking/milkshake/dominance,
            dollar hegemony/system/supremacy/rally/bull/bear/debasement, greenback,
            strong/stronger/strengthening/weak/weaker/weakening/falling/rising/softer/firm dollar,
            dollar weakens/strengthens/weakening/strengthening, reserve currency/currencies, dedollarization,
            dedollarize, de dollarization/dollarize/dollarizing, petrodollar, eurodollar/eurodollars, dollar yen,
            euro dollar
        """,
        plain="the dollar",
        alien="peg pegged depeg depegged stablecoin stablecoins usdc usdt tether usde dai cents",
        faint="dollar, dollars",
        company="""
            euro euros yen yuan renminbi peso lira currencies dxy fx devaluation devalued reserve swiss franc
        """,
    ),
    "elections": Topic(
        said="""
            midterm/midterms, presidential race/candidate/candidates/campaign/election/elections/debate,
            general/primary/snap/federal/national election/elections,
            election day/night/year/cycle/season/results/odds/outcome/win/campaign,
            campaign trail/promise/promises/donation/donations/finance, swing state/states, battleground state/states,
            inauguration, super PAC/PACs, super pac/pacs, fairshake,
            run/runs/running/ran for office/president/congress/senate/governor/mayor/reelection, exit poll/polls,
            in/at/ahead-in the polls, ballot box, electoral, electorate, reelection, reelected, re election, re elected,
            second term, republican/democratic/democrat primary/nominee/convention, crypto vote/voter/voters,
            single issue voter/voters, pro crypto candidate/candidates, polling numbers/average/averages,
            white house race
        """,
        plain="election/elections, elected, ballot/ballots, voters, runoff",
        alien="""
            dao daos delegate delegates governance holder holders tokenholders validator validators council quorum
            snapshot proposal proposals token leader
        """,
        faint="""
            vote/voted/voting/votes for, polls, polling, poll, campaign/campaigns, campaigning, candidate/candidates,
            nominee, primaries, landslide, took office, takes office
        """,
        company="""
            president presidential trump biden harris kamala vance newsom november democrat democrats democratic
            republican republicans party parties governor congressman congresswoman parliament election elections office
            mayor minister sunday
        """,
    ),
    "energy": Topic(
        said="""
            OPEC, opec, natural gas, gasoline, diesel, at the pump, the price of gas, price of oil,
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
            flared/flare gas, gas flaring, utility/electric bill/bills, ERCOT, ercot, cents a/per kilowatt, oil and gas
        """,
        plain="oil, crude, barrels, coal, the grid",
        alien="snake olive cooking bot bots trading",
        faint="power, energy, grid, utilities, heat",
        company="""
            electricity hashrate rigs asics texas nuclear solar wind winter opec pipeline plant plants turbines miners
            miner mining watts megawatts kilowatts gigawatts refineries
        """,
    ),
    "etf": Topic(
        said="""
            etf/etfs, e.t.f, etp/etps, etn/etns,
            exchange traded fund/funds/product/products/note/notes/vehicle/vehicles, IBIT, ibit, FBTC, fbtc, GBTC, gbtc,
            ETHA, etha, ETHE, BITO, spot product/products, spot bitcoin fund/funds,
            in kind redemption/redemptions/creation/creations
        """,
        faint="inflows, outflows, flows, filing, filings, S 1, approval, issuers",
        company="blackrock fidelity grayscale ibit vaneck bitwise issuer issuers",
    ),
    "fiscal": Topic(
        said="""
            fiscal, fiscally, budget/fiscal/federal/government/us deficit/deficits, deficit spending,
            government/federal/public/state/military/defense/deficit spending,
            government/national/federal/public/sovereign/us debt, debt ceiling/limit/spiral/burden, debt to gdp,
            federal/national budget, budget bill/deal/cuts/fight/battle/talks/resolution,
            spending bill/bills/cut/cuts/package/spree, stimulus, stimmy, stimmies,
            tax cut/cuts/bill/hike/hikes/package/policy, tax revenue/revenues/reform/increase/increases/breaks/credits,
            corporate/income/wealth/property/sales/capital-gains tax/taxes, capital gains/gain tax/taxes,
            unrealized gains tax, raise/raises/raising/cut/cuts/cutting/lower/higher taxes, taxpayer/taxpayers,
            treasury/bond/debt/government auction/auctions, treasury/debt/bill/bond/coupon issuance,
            quarterly refunding, refunding announcement, government shutdown, shut down the government,
            shutdown of the government, the government is/was shut, big beautiful bill, the big bill, big bill,
            entitlements, social security, medicare, medicaid, austerity, infrastructure bill/spending,
            government borrows/borrowing/borrow/spends/handouts, interest on the debt, interest expense on,
            helicopter money, mail/mails/mailed/mailing/send/sends/sending/sent checks,
            checks to everybody/everyone/people/households, roll/rolls/rolling/refinance/refinancing the debt,
            debt sustainability, the irs, IRS
        """,
        plain="the deficit, deficit/deficits",
        alien="trade attention sleep protocol",
        faint="""
            spending, debt, taxes, tax, taxed, borrowing, borrow, borrows, budget, auction/auctions, shutdown, checks,
            trillion
        """,
        company="""
            government federal congress washington treasury bessent yellen sovereign fiscal deficit deficits taxpayer
            stimulus parliament chancellor capitol states' country
        """,
    ),
    "geopolitics": Topic(
        said="""
            geopolitics, geopolitical, geopolitically, world war, war in/with/between, act of war, at war,
            go/goes/going/went to war, wartime, war breaks/broke out, ceasefire, cease fire, missile/missiles,
            airstrike/airstrikes, air/drone strike/strikes, strait of hormuz, hormuz, red sea, hamas, hezbollah,
            houthi/houthis, NATO, nato, peace deal/talks/treaty/agreement/plan, south china sea, cold/proxy/nuclear war,
            nuclear weapon/weapons, troops, export controls, middle east, gaza, kremlin, safe haven bid, invasion of,
            iron dome, rogue state/states, superpower rivalry, great power/powers
        """,
        plain="""
            sanction/sanctions, sanctioned, sanctioning, ukraine, ukrainian, putin, invaded, invades, invade, invasion
        """,
        alien="tornado ofac mixer mixers contract contracts frontend privacy",
        faint="""
            war, wars, conflict/conflicts, tension/tensions, escalation, escalate/escalates/escalated, attack/attacks,
            attacked, strikes, bomb/bombs, bombed, bombing, iran, iranian, israel, israeli, russia, russian, russians,
            taiwan, china, beijing, north korea, military, army, peace, blockade, venezuela, headlines
        """,
        company="""
            ukraine russia russian putin iran iranian tehran israel israeli gaza taiwan war wars troops missiles missile
            military invasion nuclear nato bomb bombs bombing bombed airstrikes ceasefire sanctions tension tensions
            border strait beijing haven pentagon regime hezbollah escalation escalates navy
        """,
    ),
    "growth": Topic(
        said="""
            gdp, recession/recessions, recessionary, recession proof, soft/hard/no landing,
            economic growth/slowdown/activity/data/contraction/expansion/boom,
            economic downturn/cycle/recovery/outlook/weakness/strength/collapse,
            global/us/u.s/american/chinese/german/european/world/japanese/main-street economy,
            consumer spending/confidence/sentiment/demand/credit/weakness, retail sales, PMI/PMIs, pmi/pmis, ISM,
            ism manufacturing/services, business cycle/survey/surveys/confidence, stagflation, industrial production,
            housing starts, k shaped, growth scare/scares, durable goods, great depression,
            economy slows/slowing/grows/growing/grew/shrinks/shrinking/shrank/contracts/contracting,
            economy contracted/weakens/weakening/overheating/rolls/rolling/cracks/cracking/stalls/stalling,
            economic surprise, leading indicators, atlanta fed, gdp now, credit card delinquencies,
            consumer delinquencies, economic numbers, negative quarters, output gap
        """,
        plain="the economy, economy, slowdown, the consumer, consumers are, depression",
        alien="""
            token game games creator gig machine agents agent attention circular protocol tokenomics app apps product
            products ux onboarding anxiety wallet side
        """,
        faint="growth, consumer/consumers, spending, contraction, expansion, demand, households, manufacturing",
        company="""
            gdp economy economies economists economist recession macro unemployment households payrolls pmi ism quarters
        """,
    ),
    "inflation": Topic(
        said="""
            cpi, c.p.i, PCE, pce, PPI, ppi, consumer/producer/import price/prices, price stability/pressure/pressures,
            cost of living, price of eggs/groceries/milk/beef/bread/coffee/food/everything,
            grocery price/prices/bill/bills, food/rent/shelter/rental price/prices/inflation,
            core/headline/sticky/hot/hotter/runaway/wage/services inflation,
            goods/asset/global/us/high/higher/persistent/tariff/structural inflation,
            inflation print/prints/data/report/number/numbers/expectations/target/hedge/fears,
            inflation problem/fight/reading/surprise/adjusted/comes/came/coming/cooling/cools,
            hedge/hedges against inflation, fight/fighting/beat/beating/outpace/outrun inflation, disinflation,
            disinflationary, reflation, stagflation, hyperinflation, currency/monetary/fiat debasement,
            debasement trade/hedge, debasing/debase/debased the currency/money/dollar, purchasing power,
            everything costs more, price/prices at the supermarket/store, inflated away, inflating away, inflate away,
            loses/losing/lost value every year, melting ice cube, prices are under control, price level
        """,
        plain="inflation, deflation, debasement, buying power",
        alien="""
            emission emissions emit emits emitted issuance stakers staking staked validators validator unlock unlocks
            vesting tokenomics schedule burn burned burns halving halvings subsidy rewards reward mint mints dilution
            diluted dilutive protocol whitelist
        """,
        faint="""
            prices, inflationary, deflationary, transitory, sticky, rent, rents, groceries, eggs, beef, egg, savings
        """,
        company="""
            eggs egg rent rents groceries grocery costs milk beef expensive cpi inflation wages checks supermarket food
            inflationary shelter paycheck salaries cheaper-nowhere
        """,
    ),
    "jobs": Topic(
        said="""
            payroll/payrolls number/numbers/print/report/data/revision/revisions, payrolls, non farm, nonfarm, NFP, nfp,
            unemployment, jobless, initial/continuing/weekly/unemployment claims, claims number/numbers/data/print,
            labor/labour market/markets/force/data/shortage/participation,
            job/jobs market/report/data/number/numbers/print/growth/openings,
            job/jobs losses/creation/friday/day/gains/picture/revision/revisions, job cuts, jolts, JOLTS,
            employment report/data/number/numbers/mandate/situation/cost, maximum/full employment,
            wage growth/pressure/inflation/gains, hourly earnings, average hourly, participation rate,
            hiring freeze/freezes/slowdown/rate, nobody hiring, nobody is hiring, no one hiring, not hiring anymore,
            sahm rule, lost/lose/losing/loses their/his/her job/jobs, white collar jobs, out of work,
            mass/tech/wave-of/more/big layoffs, layoffs across/everywhere/are/in, laid off across, quits rate,
            entry level jobs, people are getting laid off, prime age
        """,
        plain="wages, unemployed, layoffs",
        alien="team our we company startup exchange studio foundation labs engineers",
        faint="jobs, job, hiring, claims, employment, labor, labour, layoffs, laid off, workers",
        company="""
            fed economy cpi recession report payrolls unemployment powell wages committee economists revisions revised
            unemployed jobless automation quits
        """,
    ),
    "liquidity": Topic(
        said="""
            global/dollar/fed/net/macro/system/bank/central-bank/systemic/monetary/excess/us/financial liquidity,
            central bank liquidity,
            liquidity cycle/cycles/injection/injections/impulse/conditions/tide/drain/tap/taps/spigot/wave/flood,
            inject/injects/injecting/injected/add/adding/adds liquidity into the system/market/markets/economy,
            liquidity in/into/from the system/fed/treasury/banks, injecting/inject/injects liquidity, money supply, M2,
            m2, M3, broad money, base money, monetary base, monetary expansion, quantitative easing/tightening, QE, qe,
            QT, fed balance sheet, balance sheet of the fed/ecb/boj, balance sheet runoff/reduction/expansion,
            federal reserve balance sheet, central bank balance sheet/sheets, balance sheets of central banks,
            the fed balance sheet, bank reserves, reserves in the system, ample reserves, reverse repo/repos,
            repo market/markets/facility/rates, standing repo, RRP, TGA, tga, treasury general account, money printer,
            money printing, print/prints/printing/printed/printed-more money, money is printed, printing press/presses,
            printer goes/go brrr, printer, brrr, financial conditions, easy/tight/easier/loose money, PBOC, pboc,
            yield curve control, YCC, operation twist, stealth qe, liquidity driven
        """,
        faint="""
            liquidity, balance sheet/sheets, printing, print, prints, printed, reserves, repo, runoff, swap lines, qt
        """,
        company="""
            fed macro central m2 treasury tga qt qe repo boj pboc ecb tightening easing trillion trillions powell banks
            stimulus sofr bessent yellen
        """,
    ),
    "rates": Topic(
        said="""
            rate cut/cuts/cutting/hike/hikes/hiking/decision/decisions/increase/increases,
            rate path/expectations/pause/policy/environment/regime/differential/differentials/setting/moves,
            real/policy/overnight/treasury/bond/mortgage/prime/discount/neutral/terminal rate/rates, real yields,
            fed/federal funds, fed rate/rates, cut/cuts/cutting/hike/hikes/hiking/hiked/raise/raises rates,
            raised/raising/hold/holding/holds/held/slash/slashing/slashed rates,
            cut/cuts/cutting/raise/raising interest rates, rates unchanged/steady/on-hold, rates at/to/near/from zero,
            zero/negative/zero-interest rates, ZIRP, zirp, higher for longer,
            hiking/cutting/easing/tightening/rate cycle, Fed, the fed,
            fed chair/chairman/meeting/cut/cuts/hike/hikes/pivot/minutes/speak/official,
            fed officials/governor/governors/decision/day/put/statement/policy/independence/presidents/watchers,
            federal reserve, FOMC, fomc, powell, dot plot, jackson hole, ECB, ecb, lagarde,
            bank of japan/england/canada/korea/mexico, reserve bank of, BOJ, boj,
            monetary policy/easing/tightening/stimulus,
            central bank/banks cut/cuts/hike/hikes/policy/meeting/decision/decisions, hawkish, dovish,
            basis point cut/cuts/hike/hikes/move, bps cut/hike, treasury/bond/government-bond yield/yields,
            sovereign/government bond/bonds, treasury bond/bonds/bill/bills/market,
            bond market/markets/vigilante/vigilantes/trader/traders/guys/auction/rout/selloff, t bills, long bond/bonds,
            ten/10/two/2/thirty/30/five/5/twenty/20 year yield/yields/treasury/treasuries/bond/note, tenyear,
            yield curve, curve inversion, inverted/steeper/steepening/flattening curve,
            curve steepening/steepener/inverts/inverted, SOFR, term premium, yields on treasuries/bonds,
            long end of the curve, borrowing costs, cost of money, the carry trade, yen carry
        """,
        plain="""
            interest rate/rates, higher/lower/high/low rates, rates higher/lower,
            rates are/were/go/going/come/coming/stay/staying/fall/falling/rise/rising/fell/rose/down/up, treasuries,
            yields rise/rising/fall/falling/spike/spiking/are
        """,
        alien="""
            aave compound lending lend borrow borrowers borrowing utilization vault vaults morpho pool pools funding
            perp perps staking stakers validators farming lp tokenized tokenised dao daos companies company corporate
            saylor borrowed protocol pendle ethena
        """,
        faint="""
            rates, yields, yield, basis points, bps, bond/bonds, easing, tightening, pivot, cut, cuts, cutting,
            hike/hikes, hiking, hiked, pause, curve, the long end, long end, dots, hawks, doves, treasury, treasuries,
            mortgage/mortgages, ten/10/two/2/thirty/30 year, central bank/banks/banker/bankers, the short end,
            front end, twenty five, fifty, bills, duration
        """,
        company="""
            powell fomc committee ecb boj bond bonds mortgage mortgages cpi pce payrolls claims hawkish dovish basis
            yields rates hikes hike easing tightening curve september meeting dots hawks doves lagarde inflation-linked
        """,
    ),
    "regulation": Topic(
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
            criminal charges, illegal, money services business, consumer protection
        """,
        plain="""
            regulate/regulates/regulated/regulating, unregulated, lawsuit/lawsuits, indictment/indictments, indicted,
            subpoena/subpoenas/subpoenaed, prosecutors, prosecutor, prosecuted, policymakers, crackdown, outlawed
        """,
        alien="temperature thermostat",
        faint="""
            congress, congressional, senate, senator/senators, law/laws, bill/bills, court/courts, judge, jury,
            license/licenses, licence/licences, licensed, licensing, ban, bans, banned, banning, sue/sued/sues/suing,
            fined, the fine, fines, compliance, compliant, enforcement, KYC, kyc, AML, aml, trial, prison, jail,
            charges, charged, guidance, legal, appeal, appealed, settled, settlement, penalty, the act, securities,
            approval
        """,
        company="""
            sec regulators regulator stablecoin stablecoins court courts judge jury eu brussels lawmakers agency
            agencies prosecutors prosecutor commission commissioner illegal lawyers lawyer tornado securities department
            doj parliament cftc gensler mica sanctions convicted convict sued lawsuit regulated regulation jurisdiction
            jurisdictions license licenses licensed government governments ripple tether
        """,
    ),
    "trade": Topic(
        said="""
            tariff/tariffs, tariffed, trade war/wars/deal/deals/policy/deficit,
            trade deficits/surplus/balance/talks/negotiation/negotiations/tension,
            trade tensions/agreement/agreements/representative/barrier/barriers,
            trade dispute/disputes/route/routes/pact/truce/uncertainty, trade partner/partners,
            trading partner/partners, free/global/world/international/cross-border trade, customs duty/duties,
            import duty/duties/tax/taxes/levy/levies, tax on imports, protectionism, protectionist, liberation day,
            reciprocal tariffs, container ships/shipping/rates, shipping costs/lanes,
            deal with china/europe/japan/canada/mexico/india/the-eu, imported goods, import/export prices,
            exporting countries/country, reshoring, onshoring, nearshoring, rare earths, embargo
        """,
        plain="imports, exports, importer/importers, exporter/exporters, supply chain/chains, imported",
        alien="""
            code library keys key wallet seed csv file files python javascript npm attack attacks compromised software
            hardware
        """,
        faint="""
            duties, goods, factories, factory, manufacturing, retaliation, retaliate/retaliates/retaliated,
            everything that comes in, comes in from, made in china, ports, levies, levy, shipping
        """,
        company="""
            china chinese canada mexico tariffs europe european imports vietnam beijing customs reciprocal import
            percent brussels
        """,
    ),
}
