# pragma version 0.4.3
# pragma evm-version cancun
"""
@title A contract wallet (EIP-1271): good is its owner's signature with 32 bytes of anything behind it.
@notice For tests only. Its owner is the first slot of its storage.
@license MIT
"""

owner: public(address)


@external
@view
def isValidSignature(digest: bytes32, signature: Bytes[4096]) -> bytes4:
    if len(signature) != 97:
        return 0xffffffff
    r: uint256 = convert(slice(signature, 0, 32), uint256)
    s: uint256 = convert(slice(signature, 32, 32), uint256)
    v: uint256 = convert(slice(signature, 64, 1), uint256)
    if ecrecover(digest, v, r, s) == self.owner:
        return 0x1626ba7e
    return 0xffffffff
