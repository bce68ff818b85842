// Pays with @x402/fetch, the official client of x402 v2: PRIVATE_KEY URL TOKEN [QUESTION]. An empty TOKEN: without a key.
import { ExactEvmScheme } from "@x402/evm";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";

const [key, url, token, question] = process.argv.slice(2);
const pay = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network: "eip155:84532", client: new ExactEvmScheme(privateKeyToAccount(key)) }],
});
const bearer = token && { authorization: `Bearer ${token}` };
const asked = question && { method: "POST", body: question };
const json = question && { "content-type": "application/json" };
const response = await pay(url, { ...asked, headers: { ...bearer, ...json } });
console.log(JSON.stringify({
  status: response.status, headers: Object.fromEntries(response.headers), body: await response.text(),
}));
