"""What the official clients wrote, word for word: x402 2.25 and 1.0 (Python), @x402/fetch 2.27 and x402-fetch 1.2.

Each was given the row of `signing.row()` (or the same in the words of v1) and key 1, and wrote a header.
"""

from typing import Final

from service.payments.decode import PaymentHeader

RECORDED: Final[dict[str, tuple[PaymentHeader, int, bytes]]] = {
    "python_v2": (
        "payment-signature",
        1_795_238_395,
        (
            b"eyJ4NDAyVmVyc2lvbiI6MiwicGF5bG9hZCI6eyJhdXRob3JpemF0aW9uIjp7ImZyb20iOiIweDdFNUY0NTUyMDkxQTY5MTI1ZDVEZkNi"
            b"N2I4QzI2NTkwMjkzOTVCZGYiLCJ0byI6IjB4MTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMSIsInZhbHVlIjoi"
            b"NTAwMCIsInZhbGlkQWZ0ZXIiOiIwIiwidmFsaWRCZWZvcmUiOiIxNzk1MjM4NDU1Iiwibm9uY2UiOiIweGVmNmZjNTVjMmQzZGE0N2E0"
            b"YTEzNzU2NjFiNzg1ZWU1ZjZlMzU2MjFiNDcxNmFmZmNmNzdmYzA5YjFkM2NhNzEifSwic2lnbmF0dXJlIjoiMHhjY2ZiNDVkZjdmY2U4"
            b"MjZhOWU5ODRkNWNjNDg4NTVlNWI1NGYwMjNkZTIwMzNlNzUwMDdiMmU3YjI5ZGQ5Y2ZmMDQzYjRkOTE1YjNlZTZlNzkxNjI1MmU4Y2E0"
            b"M2NlYmZmYjE3ZGNjMDVmMWJiYmU3ZjVkZjllMDkxZWI4MzgxYzFjIn0sImFjY2VwdGVkIjp7InNjaGVtZSI6ImV4YWN0IiwibmV0d29y"
            b"ayI6ImVpcDE1NTo4NDUzMiIsImFzc2V0IjoiMHgwMzZDYkQ1Mzg0MmM1NDI2NjM0ZTc5Mjk1NDFlQzIzMThmM2RDRjdlIiwiYW1vdW50"
            b"IjoiNTAwMCIsInBheVRvIjoiMHgxMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExIiwibWF4VGltZW91dFNlY29u"
            b"ZHMiOjYwLCJleHRyYSI6eyJuYW1lIjoiVVNEQyIsInZlcnNpb24iOiIyIn19LCJyZXNvdXJjZSI6eyJ1cmwiOiJodHRwczovL2EvYiIs"
            b"ImRlc2NyaXB0aW9uIjoiZCIsIm1pbWVUeXBlIjoiYXBwbGljYXRpb24vanNvbiJ9LCJleHRlbnNpb25zIjp7ImJhemFhciI6eyJpbmZv"
            b"Ijp7ImlucHV0Ijp7InR5cGUiOiJodHRwIiwibWV0aG9kIjoiR0VUIn19LCJzY2hlbWEiOnsidHlwZSI6Im9iamVjdCJ9fX19"
        ),
    ),
    "python_v1": (
        "x-payment",
        1_795_238_397,
        (
            b"eyJ4NDAyVmVyc2lvbiI6IDEsICJzY2hlbWUiOiAiZXhhY3QiLCAibmV0d29yayI6ICJiYXNlLXNlcG9saWEiLCAicGF5bG9hZCI6IHsi"
            b"c2lnbmF0dXJlIjogIjB4ZTBhZjk3YzBjM2Y3ZTc3YTJjMDNmZDI2OWM0M2FjMzgwYzhkNWMyODYxZDY3ZDM2YzlhYzhkNWRmMzkwZjgz"
            b"OTQ0ZGViZmI3MDczMjA5NzY1NWQ0NmU5YjgxNjc0YTdmNDA0YmFkMmI2M2M4MjliM2QzN2FjNWM2NWZhZWUzYmUxYiIsICJhdXRob3Jp"
            b"emF0aW9uIjogeyJmcm9tIjogIjB4N0U1RjQ1NTIwOTFBNjkxMjVkNURmQ2I3YjhDMjY1OTAyOTM5NUJkZiIsICJ0byI6ICIweDExMTEx"
            b"MTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTEiLCAidmFsdWUiOiAiNTAwMCIsICJ2YWxpZEFmdGVyIjogIjE3OTUyMzgz"
            b"MzciLCAidmFsaWRCZWZvcmUiOiAiMTc5NTIzODQ1NyIsICJub25jZSI6ICIweDA3ZWQ2NjNkOTkyMDFiY2RiMzE5ZGQyNWIzMjNjNzNm"
            b"ZmVhZTIyZmIxMjI5ZmU5MDZlNWYxY2YzYjhiMTEwMDIifX19"
        ),
    ),
    "fetch_v2": (
        "payment-signature",
        1_795_238_398,
        (
            b"eyJ4NDAyVmVyc2lvbiI6MiwicGF5bG9hZCI6eyJhdXRob3JpemF0aW9uIjp7ImZyb20iOiIweDdFNUY0NTUyMDkxQTY5MTI1ZDVEZkNi"
            b"N2I4QzI2NTkwMjkzOTVCZGYiLCJ0byI6IjB4MTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMSIsInZhbHVlIjoi"
            b"NTAwMCIsInZhbGlkQWZ0ZXIiOiIwIiwidmFsaWRCZWZvcmUiOiIxNzk1MjM4NDU4Iiwibm9uY2UiOiIweDRkNmFhZmJlMmRjYzg0YjE1"
            b"NzQzM2FhMDBkMDdhY2FhZjQwM2U5YWU4NjhjOWYxMTc1ZTM4MzMzMDkwMjhmZGMifSwic2lnbmF0dXJlIjoiMHg0OTc1ZjRiZTcyMWI1"
            b"ZWZlY2MxMWIwY2Y5ZmJkYzZkZmEyZmMyZjNhYmU3OWEwNzhhNjViMGM2ZmE5MmQ1ZDAyMGJlODY5YTM2YmEyYjNkNzcxMGUzMmI5NTE1"
            b"ZjgzOWE4OTAwMWI2ZGJlMzkyMDg3YjI1OGEwY2RiYzg3M2M4YjFjIn0sImV4dGVuc2lvbnMiOnsiYmF6YWFyIjp7ImluZm8iOnt9LCJz"
            b"Y2hlbWEiOnt9fX0sInJlc291cmNlIjp7InVybCI6Imh0dHBzOi8vYS9iIiwiZGVzY3JpcHRpb24iOiJkIiwibWltZVR5cGUiOiJhcHBs"
            b"aWNhdGlvbi9qc29uIn0sImFjY2VwdGVkIjp7InNjaGVtZSI6ImV4YWN0IiwibmV0d29yayI6ImVpcDE1NTo4NDUzMiIsImFtb3VudCI6"
            b"IjUwMDAiLCJhc3NldCI6IjB4MDM2Q2JENTM4NDJjNTQyNjYzNGU3OTI5NTQxZUMyMzE4ZjNkQ0Y3ZSIsInBheVRvIjoiMHgxMTExMTEx"
            b"MTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExIiwibWF4VGltZW91dFNlY29uZHMiOjYwLCJleHRyYSI6eyJuYW1lIjoiVVNE"
            b"QyIsInZlcnNpb24iOiIyIn19fQ=="
        ),
    ),
    "fetch_v1": (
        "x-payment",
        1_795_238_398,
        (
            b"eyJ4NDAyVmVyc2lvbiI6MSwic2NoZW1lIjoiZXhhY3QiLCJuZXR3b3JrIjoiYmFzZS1zZXBvbGlhIiwicGF5bG9hZCI6eyJzaWduYXR1"
            b"cmUiOiIweDQwMmY5NGE2YTQ2ZGVmMTcyZDc5MWM4M2U4YWI3N2I3ZDIxYWIwODQ5MWNiZjlmOTBmMDAxOWM1M2VjZWViZmYxZTNhYzBj"
            b"MjE3MjFjMDZhZTBlNGM2NmMyNGM3MzE4Yzk3ZWY5YjMyZWRlOGE2YjE3OGIzNGEwZmI0NDQ5Y2RkMWMiLCJhdXRob3JpemF0aW9uIjp7"
            b"ImZyb20iOiIweDdFNUY0NTUyMDkxQTY5MTI1ZDVEZkNiN2I4QzI2NTkwMjkzOTVCZGYiLCJ0byI6IjB4MTExMTExMTExMTExMTExMTEx"
            b"MTExMTExMTExMTExMTExMTExMTExMSIsInZhbHVlIjoiNTAwMCIsInZhbGlkQWZ0ZXIiOiIxNzk1MjM3Nzk4IiwidmFsaWRCZWZvcmUi"
            b"OiIxNzk1MjM4NDU4Iiwibm9uY2UiOiIweDg0NDg1OTdjYTFmOGZjNmU4OTFkOTg4YTdjYTcwMzdhNDUzYTcwZDVhMDVmYTBkZjEzMDVi"
            b"MjU3YTk4YjRjMGIifX19"
        ),
    ),
}
"""Header, the second in which it was written (epoch), and its value."""
