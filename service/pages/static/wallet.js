// The wallets of this browser (EIP-1193, EIP-6963), and signing in with one of them (EIP-4361). Needs `keccak256`.
"use strict";

const wallets = (() => {
  const NONCE_MS = 5 * 60 * 1000;
  const LONGEST_NAME = 40;
  const MOST = 20;
  const announced = new Map();
  let told = () => {};

  window.addEventListener("eip6963:announceProvider", ({ detail }) => {
    const { info, provider } = detail ?? {};
    if (typeof info?.uuid !== "string" || typeof provider?.request !== "function" || announced.has(info.uuid)) return;
    if (announced.size === MOST) return; // more than anybody has: something fills the page with them
    // What turns the direction of writing, or is not seen, would have a button say what it does not do.
    const called = typeof info.name === "string" ? info.name : "";
    const name = called.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "").trim().slice(0, LONGEST_NAME);
    announced.set(info.uuid, { name: name || "a wallet without a name", provider });
    told();
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));

  // The one in `window.ethereum` counts where none announces itself: else it is one of those that do.
  const all = () => {
    if (announced.size) return [...announced.values()];
    const alone = window.ethereum;
    return typeof alone?.request === "function" ? [{ name: "your wallet", provider: alone }] : [];
  };

  // Some are there only after the page.
  const watch = (heard) => {
    told = heard;
    window.addEventListener("ethereum#initialized", heard, { once: true });
    heard();
  };

  const post = async (path, body) => {
    const response = await fetch(path, {
      method: "POST",
      cache: "no-store",
      headers: { Accept: "application/json", ...(body && { "Content-Type": "application/json" }) },
      body: body && JSON.stringify(body),
    });
    return read(response);
  };

  const read = async (response) => {
    const said = await response.json().catch(() => null);
    if (!response.ok) throw new Error(said?.error?.message ?? `The service answered ${response.status}.`);
    return said;
  };

  // As EIP-55 writes an address: a digit is a capital where the hash of the small ones is 8 or more.
  const checksummed = (address) => {
    const digits = address.slice(2).toLowerCase();
    const guide = keccak256(digits);
    return `0x${[...digits].map((digit, place) => (parseInt(guide[place], 16) >= 8 ? digit.toUpperCase() : digit)).join("")}`;
  };

  const inHex = (text) =>
    `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;

  // The same text as the command line writes (`client/sign_in.py`). Issued five minutes before the nonce ends,
  // which is the service's own now, so that a clock that is wrong here keeps nobody out.
  const write = (address, chain, { nonce, expiresAt }) =>
    [
      `${location.host} wants you to sign in with your Ethereum account:`,
      address,
      "",
      "Sign in to Verdict.",
      "",
      `URI: ${location.origin}`,
      "Version: 1",
      `Chain ID: ${chain}`,
      `Nonce: ${nonce}`,
      `Issued At: ${new Date(Date.parse(expiresAt) - NONCE_MS).toISOString()}`,
      `Expiration Time: ${expiresAt}`,
    ].join("\n");

  const account = async (provider) => {
    const [first] = await provider.request({ method: "eth_requestAccounts" });
    if (!/^0x[0-9a-fA-F]{40}$/.test(first)) throw new Error("The wallet named no account.");
    return checksummed(first);
  };

  const sign = async (provider, message, address) => {
    const signature = await provider.request({ method: "personal_sign", params: [inHex(message), address] });
    if (/^0x([0-9a-fA-F]{2})*$/.test(signature)) return signature;
    throw new Error("The wallet returned no signature.");
  };

  // Ask a wallet to sign in; `say` is given what the person has to do. Gives { token, walletAddress, expiresAt }.
  const signIn = async (provider, say) => {
    say("Choose an account in your wallet.");
    const address = await account(provider);
    const manifest = await read(await fetch("/api/cli/manifest", { headers: { Accept: "application/json" } }));
    const chain = manifest.data.networks[0].replace("eip155:", "");
    const message = write(address, chain, await post("/api/auth/nonce"));
    say("Sign the message in your wallet. It costs nothing and moves nothing.");
    const signature = await sign(provider, message, address);
    say("Signing in.");
    return post("/api/auth/login", { message, signature });
  };

  // Why it did not come to it, for a person.
  const reason = (error) => {
    if (error?.code === 4001) return "You said no in your wallet. Nothing was signed.";
    if (error?.code === -32002) return "Your wallet is waiting for you already: open it, and answer it there.";
    return `That did not work: ${error?.message ?? error}.`.replace(/\.\.$/, ".");
  };

  return { all, watch, signIn, reason };
})();
