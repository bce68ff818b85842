# pragma version 0.4.3
# pragma evm-version cancun
"""
@title A dollar token with EIP-3009, as USDC 2.2 behaves: the same functions, events, messages and EIP-712 domain.
@notice For tests only: whoever asks is minted to. Vyper knows no overloads, so the `bytes` one stands in `__default__`.
@license MIT
"""

event Transfer:
    sender: indexed(address)
    receiver: indexed(address)
    value: uint256

event AuthorizationUsed:
    authorizer: indexed(address)
    nonce: indexed(bytes32)

event AuthorizationCanceled:
    authorizer: indexed(address)
    nonce: indexed(bytes32)

interface ERC1271:
    def isValidSignature(digest: bytes32, signature: Bytes[4096]) -> bytes4: view

name: public(constant(String[4])) = "USDC"
version: public(constant(String[1])) = "2"
symbol: public(constant(String[4])) = "USDC"
decimals: public(constant(uint8)) = 6

DOMAIN: constant(bytes32) = keccak256(
    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
)
TRANSFER: constant(bytes32) = keccak256(
    "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
)
CANCEL: constant(bytes32) = keccak256("CancelAuthorization(address authorizer,bytes32 nonce)")
OVERLOAD: constant(bytes4) = method_id(
    "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)", output_type=bytes4
)
HALF_ORDER: constant(uint256) = 57896044618658097711785492504343953926418782139537452191302581570759080747168
HEAD: constant(uint256) = 4 + 7 * 32

balanceOf: public(HashMap[address, uint256])
authorizationState: public(HashMap[address, HashMap[bytes32, bool]])


@external
def mint(receiver: address, amount: uint256):
    self.balanceOf[receiver] += amount
    log Transfer(sender=empty(address), receiver=receiver, value=amount)


@external
def transfer(receiver: address, amount: uint256) -> bool:
    self._transfer(msg.sender, receiver, amount)
    return True


@external
@view
def DOMAIN_SEPARATOR() -> bytes32:
    return self._domain()


@external
def transferWithAuthorization(
    authorizer: address,
    receiver: address,
    amount: uint256,
    valid_after: uint256,
    valid_before: uint256,
    nonce: bytes32,
    v: uint8,
    r: bytes32,
    s: bytes32,
):
    signature: Bytes[4096] = concat(r, s, slice(convert(v, bytes32), 31, 1))
    self._move(authorizer, receiver, amount, valid_after, valid_before, nonce, signature)


@external
def cancelAuthorization(authorizer: address, nonce: bytes32, v: uint8, r: bytes32, s: bytes32):
    assert not self.authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled"
    signature: Bytes[4096] = concat(r, s, slice(convert(v, bytes32), 31, 1))
    self._check(authorizer, keccak256(abi_encode(CANCEL, authorizer, nonce)), signature)
    self.authorizationState[authorizer][nonce] = True
    log AuthorizationCanceled(authorizer=authorizer, nonce=nonce)


@external
def __default__():
    assert convert(slice(msg.data, 0, 4), bytes4) == OVERLOAD
    authorizer: address = empty(address)
    receiver: address = empty(address)
    amount: uint256 = 0
    valid_after: uint256 = 0
    valid_before: uint256 = 0
    nonce: bytes32 = empty(bytes32)
    authorizer, receiver, amount, valid_after, valid_before, nonce = abi_decode(
        slice(msg.data, 4, 192), (address, address, uint256, uint256, uint256, bytes32)
    )
    assert convert(slice(msg.data, 196, 32), uint256) == HEAD - 4
    size: uint256 = convert(slice(msg.data, HEAD, 32), uint256)
    signature: Bytes[4096] = b""
    for word: uint256 in range((size + 31) // 32, bound=128):
        signature = convert(concat(signature, slice(msg.data, HEAD + 32 * (word + 1), 32)), Bytes[4096])
    self._move(authorizer, receiver, amount, valid_after, valid_before, nonce, slice(signature, 0, size))


@internal
def _move(
    authorizer: address,
    receiver: address,
    amount: uint256,
    valid_after: uint256,
    valid_before: uint256,
    nonce: bytes32,
    signature: Bytes[4096],
):
    assert block.timestamp > valid_after, "FiatTokenV2: authorization is not yet valid"
    assert block.timestamp < valid_before, "FiatTokenV2: authorization is expired"
    assert not self.authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled"
    self._check(
        authorizer,
        keccak256(abi_encode(TRANSFER, authorizer, receiver, amount, valid_after, valid_before, nonce)),
        signature,
    )
    self.authorizationState[authorizer][nonce] = True
    log AuthorizationUsed(authorizer=authorizer, nonce=nonce)
    self._transfer(authorizer, receiver, amount)


@internal
@view
def _check(authorizer: address, content: bytes32, signature: Bytes[4096]):
    digest: bytes32 = keccak256(concat(b"\x19\x01", self._domain(), content))
    if authorizer.is_contract:
        answer: bytes4 = staticcall ERC1271(authorizer).isValidSignature(digest, signature)
        assert answer == 0x1626ba7e, "FiatTokenV2: invalid signature"
        return
    assert len(signature) == 65, "ECRecover: invalid signature length"
    r: uint256 = convert(slice(signature, 0, 32), uint256)
    s: uint256 = convert(slice(signature, 32, 32), uint256)
    v: uint256 = convert(slice(signature, 64, 1), uint256)
    assert s <= HALF_ORDER, "ECRecover: invalid signature 's' value"
    assert v == 27 or v == 28, "ECRecover: invalid signature 'v' value"
    signer: address = ecrecover(digest, v, r, s)
    assert signer != empty(address), "ECRecover: invalid signature"
    assert signer == authorizer, "FiatTokenV2: invalid signature"


@internal
@view
def _domain() -> bytes32:
    return keccak256(abi_encode(DOMAIN, keccak256(name), keccak256(version), chain.id, self))


@internal
def _transfer(sender: address, receiver: address, amount: uint256):
    assert receiver != empty(address), "ERC20: transfer to the zero address"
    assert self.balanceOf[sender] >= amount, "ERC20: transfer amount exceeds balance"
    self.balanceOf[sender] -= amount
    self.balanceOf[receiver] += amount
    log Transfer(sender=sender, receiver=receiver, value=amount)
