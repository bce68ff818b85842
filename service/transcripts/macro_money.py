"""Words that stand for topics of money, as people say them. Published, for it is the rule; `topics` reads it."""

from collections.abc import Mapping
from typing import Final

from service.transcripts.topics import TopicWords
from service.wire.transcripts import Macro

MONEY: Final[Mapping[Macro, TopicWords]] = {
    "banking": TopicWords(
        said="""
            regional/commercial/community/insolvent/failed/failing bank/banks, megabanks, run/runs on the bank/banks,
            bank failure/failures, bank deposits, bank stocks, bank lending,
            banking partners/relationship/relationships/access/services/rails/lobby/regulators,
            debank/debanked/debanking, de bank/banked/banking, unbanked, underbanked, choke point, chokepoint, SVB,
            silicon valley bank, silvergate, signature bank, first republic, credit suisse, FDIC, deposit insurance,
            deposit flight, discount window, jamie dimon, citibank, wells fargo, bank of america, deutsche bank,
            bank charter/charters, banking charter/charters, BTFP, bail/bailed/bailing out the banks,
            bank bailout/bailouts, uninsured deposits, credit union/unions,
            banking sector/crisis/industry/license/licenses/partner, bank examiners, bank holding, lost their bank,
            master account/accounts, closed my/his/her/our/their account/accounts
        """,
        plain="bank run/runs, fractional reserve, JPMorgan, jpmorgan, JP Morgan, jp morgan",
        alien="""
            scripts memory mint mints ecash cashu epoch ftx celsius luna ust restaking restaked pledged note analyst
            analysts target qt qe liquidity repo exchange exchanges withdrawals swift
        """,
        faint="""
            bank, deposits, depositors, bailout/bailouts, bailed out, lenders, custody, charter/charters,
            bank account/accounts, bankers, banks, banking, banking system
        """,
        company="""
            failed fails failure failures collapse collapsed insured teller branch regional deposits depositors bailed
            closed rescue fdic banking insolvent occ industry denied industries customer customers lends lend solvent
            blows blew vaults lending deposit stablecoin stablecoins svb crisis loans branches lobby choke debanked
            shareholders letters letter licenses
        """,
    ),
    "dollar": TopicWords(
        said="""
            us/u.s/american/king dollar, DXY, dxy, dollar index/strength/weakness/wrecking/milkshake/dominance,
            dollar hegemony/system/supremacy/rally/bull/bear/debasement, greenback,
            strong/stronger/strengthening/weak/weaker/weakening/falling/rising/softer/firm dollar,
            dollar weakens/strengthens/weakening/strengthening, reserve currency/currencies, dedollarization,
            dedollarize, de dollarization/dollarize/dollarizing, petrodollar, eurodollar/eurodollars, dollar yen,
            euro dollar, dollar short/shorts/shortage/funding/squeeze/smile/weaponization,
            weaponize/weaponizing/weaponized the dollar, currency intervention, strength of the dollar,
            value of the dollar, US dollar, dollar is/was up/down/strong/weak/dying/dead/ripping, world reserve,
            dollarize/dollarized/dollarization
        """,
        plain="the dollar",
        alien="peg pegged depeg depegged cents",
        faint="dollar, in/want/wants/get/hold/holds/hoard dollars, dollars under",
        company="""
            euro euros yen yuan renminbi peso lira currencies dxy fx devaluation devalued swiss franc naira bolivar
            rupee rupees pesos reais ruble rubles
        """,
    ),
    "fiscal": TopicWords(
        said="""
            fiscal, fiscally, budget/fiscal/federal/government/us deficit/deficits, deficit spending,
            government/federal/public/state/military/defense/deficit spending,
            government/national/federal/public/sovereign/us debt, debt ceiling/limit/spiral/burden, debt to gdp,
            federal/national budget, budget bill/deal/cuts/fight/battle/talks/resolution,
            spending bill/bills/cut/cuts/package/spree, stimulus, stimmy, stimmies, tax hikes/package/policy,
            tax revenue/revenues/reform/increase/increases/breaks/credits,
            corporate/income/wealth/property/sales/capital-gains tax/taxes, capital gains/gain tax/taxes,
            unrealized gains tax, raise/raises/raising/cut/cuts/cutting/lower/higher taxes, taxpayer/taxpayers,
            treasury/bond/debt/government auction/auctions, treasury/debt/bill/bond/coupon issuance,
            quarterly refunding, refunding announcement, government shutdown, shut down the government,
            shutdown of the government, the government is/was shut, big beautiful bill, the big bill, big bill,
            entitlements, medicare, medicaid, austerity, infrastructure bill/spending,
            government borrows/borrowing/borrow/spends/handouts, interest on the debt, interest expense on,
            helicopter money, mail/mails/mailed/mailing/send/sends/sending/sent checks,
            checks to everybody/everyone/people/households, roll/rolls/rolling/refinance/refinancing the debt,
            debt sustainability, tax bill/hike, US debt/deficit, treasury supply, supply from the treasury, bond supply,
            debt refinancing, debt to roll, cutting/cut government, government cuts/waste/budget,
            treasury department spending, treasury secretary, taxing and spending, tax and spend, spending like drunken,
            unfunded liabilities, borrow/borrows/borrowing trillion/trillions, fund/funds/funding the government,
            continuing resolution, government open/opens/reopens, keep the government, interest on it is,
            unrealized gains/gain, ten/thirty/twenty/two/three/five/seven year auction/auctions,
            the ten/thirty/two/five year auction/auctions, primary dealers, trillion in/of debt, trillions in/of debt,
            weak/failed/bad/ugly auction/auctions
        """,
        plain="the deficit, deficit/deficits, tax cut/cuts, the Treasury, bessent, yellen",
        alien="""
            trade attention sleep protocol dao daos foundation oil brent gasoline yields sanctions sanction tariff
            tariffs china fed tga liquidity repo qt qe coin
        """,
        faint="""
            spending, debt, taxes, tax, taxed, borrowing, borrow, borrows, budget, auction/auctions, shutdown, checks,
            coupons, receipts
        """,
        company="""
            government federal congress washington treasury bessent yellen sovereign fiscal deficit deficits taxpayer
            stimulus parliament chancellor capitol country
        """,
    ),
    "inflation": TopicWords(
        said="""
            cpi, c.p.i, PCE, pce, PPI, ppi, consumer/producer/import price/prices, price stability/pressure/pressures,
            cost of living, price of eggs/groceries/milk/beef/bread/coffee/food/everything,
            grocery price/prices/bill/bills, food/rent/shelter/rental price/prices/inflation,
            core/headline/sticky/hot/hotter/runaway/wage/services inflation,
            goods/asset/global/US/high/higher/persistent/tariff/structural inflation,
            inflation print/prints/data/report/number/numbers/expectations/target/hedge/fears,
            inflation problem/fight/reading/surprise/adjusted/comes/came/coming/cooling/cools,
            hedge/hedges against inflation, fight/fighting/beat/beating/outpace/outrun inflation, disinflation,
            disinflationary, reflation, stagflation, hyperinflation, currency/monetary/fiat debasement,
            debasement trade/hedge, debasing/debase/debased the currency/money/dollar, purchasing power,
            everything costs more, price/prices at the supermarket/store, rent costs, rent is/are/went up,
            rents went up, higher rent/rents, inflated away, inflating away, inflate away, prices are under control,
            price level, services/goods/food/grocery/core/used-car/gasoline/house/housing prices, twice as expensive,
            shrinkflation, more expensive every/each, prices won't/never come down, prices keep going up,
            cost of everything/food/rent/groceries/housing/gas, price tags
        """,
        plain="inflation, deflation, debasement, buying power",
        alien="""
            emission emissions emit emits emitted issuance stakers staking staked validators validator unlock unlocks
            vesting tokenomics schedule burn burned burns halving halvings subsidy rewards reward mint mints dilution
            diluted dilutive protocol whitelist simd proposal ultrasound eip network token tokens airdrop stake node
            nodes security coin
        """,
        faint="""
            prices, inflationary, deflationary, transitory, sticky, rents, groceries, eggs, beef, egg,
            sandwich/sandwiches, burger/burgers, burrito/burritos, bread, diapers, daycare, childcare
        """,
        company="""
            eggs egg rent rents groceries grocery costs milk beef expensive cpi inflation wages checks supermarket food
            inflationary shelter paycheck salaries dollars bucks cost afford daycare burger sandwich
        """,
    ),
    "liquidity": TopicWords(
        said="""
            global/dollar/fed/net/macro/system/bank/central-bank/systemic/monetary/excess/US liquidity,
            central bank liquidity,
            liquidity cycle/cycles/injection/injections/impulse/conditions/tide/drain/tap/taps/spigot/wave/flood,
            inject/injects/injecting/injected liquidity into the system/market/markets/economy,
            liquidity in/into/from the system/fed/treasury/banks, injecting/inject/injects liquidity, M2, m2, M3,
            broad money, base money, monetary base, monetary expansion, quantitative easing/tightening, QE, qe, QT,
            fed balance sheet, balance sheet of the fed/ecb/boj, balance sheet runoff/reduction/expansion,
            federal reserve balance sheet, central bank balance sheet/sheets, balance sheets of central banks,
            the fed balance sheet, bank reserves, reserves in the system, ample reserves, reverse repo/repos,
            repo market/markets/facility/rates, standing repo, RRP, TGA, tga, treasury general account, money printer,
            money printing, print/prints/printing/printed/printed-more money, money is printed, printing press/presses,
            printer goes/go brrr, brrr, financial conditions, loose money, PBOC, pboc, yield curve control, YCC,
            operation twist, stealth qe, liquidity driven, triple R, RRR, rrr, reserve requirement/requirements,
            bond buying, buy/buys/buying bonds/treasuries/trillions, asset purchases, money into the system,
            cash in the system, swap line/lines, spigot/spigots, pumping money,
            flood/flooding/flooded the market/system with, money creation, central bank reserves,
            end/ends/ending/ended QT/qt, reserves are scarce,
            printed/printing/print two/three/four/five/six/eight/ten/more trillion/trillions,
            printed/printing/print trillions, the balance sheet still/is/went/shrinks/shrinking/down/grew/grows/was/at,
            balance sheet from
        """,
        faint="""
            liquidity, balance sheet/sheets, printing, print, prints, printed, reserves, runoff, swap lines, qt,
            inject/injects/injecting/injected, injection/injections, bazooka
        """,
        company="""
            fed macro central m2 treasury tga qt qe repo boj pboc ecb tightening easing powell stimulus sofr bessent
            yellen yuan beijing
        """,
        plain="money supply, money in the system",
        alien="mint ecash cashu halving satoshi",
    ),
    "rates": TopicWords(
        said="""
            rate cut/cuts/cutting/hike/hikes/hiking/decision/decisions/increase/increases,
            rate path/expectations/pause/policy/environment/regime/differential/differentials/setting,
            real/policy/overnight/treasury/bond/mortgage/prime/discount/neutral/terminal rate/rates, fed/federal funds,
            fed rate/rates, cut/cuts/cutting/hike/hikes/hiking/hiked/raise/raises rates,
            raised/raising/hold/holding/holds/held/slash/slashing/slashed rates,
            cut/cuts/cutting/raise/raising interest rates, rates unchanged/steady/on-hold, rates at/to/near/from zero,
            zero/negative/zero-interest rates, ZIRP, zirp, higher for longer,
            hiking/cutting/easing/tightening/rate cycle,
            fed chair/chairman/meeting/cut/cuts/hike/hikes/pivot/minutes/speak/official,
            fed officials/governor/governors/decision/day/put/statement/policy/independence/presidents/watchers, FOMC,
            fomc, dot plot, jackson hole, lagarde, bank of japan/england/canada/korea/mexico, reserve bank of,
            monetary easing/tightening/stimulus,
            central bank/banks cut/cuts/hike/hikes/policy/meeting/decision/decisions, hawkish, dovish,
            basis point cut/cuts/hike/hikes/move, bps cut/hike, treasury/bond/government-bond yield/yields,
            treasury market, bond market/markets/vigilante/vigilantes/trader/traders/guys/auction/rout/selloff,
            long bond/bonds, ten/10/two/2/thirty/30/five/5/twenty/20 year yield/yields/treasury/treasuries/bond/note,
            yield curve, curve inversion, inverted/steeper/steepening/flattening curve,
            curve steepening/steepener/inverts/inverted, SOFR, term premium, yields on treasuries/bonds,
            long end of the curve, cost of money, the carry trade, yen carry, data dependent,
            emergency/jumbo/surprise cut/cuts, two/three/four/one/five cuts, cut/cuts this year, cuts next year,
            cuts priced, pricing in cuts, priced in cuts, pricing cuts, price in cuts, number of cuts, JGB/JGBs,
            jgb/jgbs, gilt/gilts, bund/bunds, volcker, waller, warsh, hassett, kashkari, goolsbee, ueda, bernanke,
            greenspan, the long bond, neutral real rate, negative real rates, bond yields,
            fed blinks/cuts/hikes/pauses/pivots/pauses, fed is/will/would/has to cut/hike/ease/pause/move/hold,
            fed going to cut/hike/go, powell cuts/cut/pivots/pivot/says/said, dissent/dissents/dissented for,
            rate at zero, rates were zero, from zero to five, want/wants/wanted/dying/going/ready/room to ease
        """,
        plain="""
            interest rate/rates, higher/lower/high/low rates, rates higher/lower,
            rates are/were/go/going/come/coming/stay/staying/fall/falling/rise/rising/fell/rose/down/up,
            yields rise/rising/fall/falling/spike/spiking/are, borrowing costs, real yields, basis points, bps,
            the ten/two/thirty/five year, Fed, the fed, federal reserve, powell, ECB, ecb, BOJ, boj
        """,
        alien="""
            aave compound lending lend borrow borrowers borrowing utilization vault vaults morpho pool pools funding
            perp perps staking stakers validators farming lp tokenized tokenised dao daos companies company corporate
            saylor borrowed protocol pendle ethena halving satoshi gmx fees fee spread slippage apr old olds anniversary
            plan horizon sentence deal contract lease lockup roadmap chart qt qe m2 balance sheet reserves repo printing
            print printer liquidity tga window svb master tether circle stablecoin stablecoins usdc usdt issuer issuers
            backed expense grayscale rwa rwas ondo buidl
        """,
        faint="""
            rates, yields, yield, bond/bonds, easing, tightening, pivot, cut, cuts, cutting, hike/hikes, hiking, hiked,
            pause, the long end, long end, dots, hawks, doves, treasuries, mortgage/mortgages,
            ten/10/two/2/thirty/30 year, central bank/banks/banker/bankers, the short end, front end, ease, eases,
            eased, dissent/dissents/dissented, presser, press conference, jay, monetary policy, t bills,
            treasury bond/bonds/bill/bills, government/sovereign bond/bonds
        """,
        company="""
            powell jay fomc committee ecb boj bond bonds mortgage mortgages cpi pce ppi payrolls claims hawkish dovish
            easing hawks doves lagarde unemployment inflation tightening disinflation treasuries
        """,
    ),
}
