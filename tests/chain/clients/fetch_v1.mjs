// Pays with x402-fetch, the legacy client of x402 v1: PRIVATE_KEY URL TOKEN [QUESTION]. An empty TOKEN: without a key.
import { createSigner, wrapFetchWithPayment } from "x402-fetch";

const [key, url, token, question] = process.argv.slice(2);
const pay = wrapFetchWithPayment(fetch, await createSigner("base-sepolia", key));
const bearer = token && { authorization: `Bearer ${token}` };
const asked = question && { method: "POST", body: question };
const json = question && { "content-type": "application/json" };
const response = await pay(url, { ...asked, headers: { ...bearer, ...json } });
console.log(JSON.stringify({
  status: response.status, headers: Object.fromEntries(response.headers), body: await response.text(),
}));
