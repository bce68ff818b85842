// Pays with x402-fetch, the legacy client of x402 v1: PRIVATE_KEY URL TOKEN.
import { createSigner, wrapFetchWithPayment } from "x402-fetch";

const [key, url, token] = process.argv.slice(2);
const pay = wrapFetchWithPayment(fetch, await createSigner("base-sepolia", key));
const response = await pay(url, { headers: { authorization: `Bearer ${token}` } });
console.log(JSON.stringify({
  status: response.status, headers: Object.fromEntries(response.headers), body: await response.text(),
}));
