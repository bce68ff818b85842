"""The feeds that are read, as the operator lists them."""

from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from service.settings import Settings, SettingsError, variable
from service.transcripts.cleaning import plain
from service.validation_errors import explain_invalid
from service.wire.transcripts import SourceId, SourceKind

FIXTURE: Final = "podcasts/feeds.toml"
"""Where a fixture set has its list."""

_SETTING: Final = variable("transcript_feeds")


class FeedSource(Struct, frozen=True, forbid_unknown_fields=True):
    """A feed: RSS 2.0 with `podcast:transcript`, or the Atom feed of a YouTube channel. `language` as in BCP 47."""

    id: SourceId
    name: Annotated[str, Meta(min_length=1, max_length=100)]
    kind: SourceKind
    url: Annotated[
        str, Meta(pattern=r"^https?://[^\s<>\"@]+\Z", max_length=500, description="An http or https URL without spaces")
    ]
    language: (
        Annotated[
            str,
            Meta(
                pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*\Z", max_length=35, description="A language tag such as en"
            ),
        ]
        | None
    ) = None


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    feed: tuple[FeedSource, ...] = ()


def sources_of(settings: Settings) -> tuple[FeedSource, ...]:
    """The feeds of a service: those of the operator's file, else of the fixture set, else none.

    Raises:
        SettingsError: If the file cannot be read, or is no list of feeds.
    """
    if settings.transcript_feeds is not None:
        return read_sources(settings.transcript_feeds)
    bundled = settings.fixtures_dir / FIXTURE
    return read_sources(bundled) if settings.source == "fixtures" and bundled.exists() else ()


def read_sources(path: Path) -> tuple[FeedSource, ...]:
    """Read a list of feeds: TOML, `[[feed]]` with `id`, `name`, `kind`, `url` and perhaps `language`.

    Raises:
        SettingsError: If it cannot be read, is something else, or lists an id or a URL twice.
    """
    try:
        listed = msgspec.toml.decode(path.read_bytes(), type=_File).feed
    except OSError as error:
        raise SettingsError(f"{_SETTING}: {path} cannot be read ({error.strerror}).") from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise SettingsError(f"{_SETTING}: {path} is not a list of feeds: {_reason(error)}.") from error
    for what in ("id", "url"):
        values = [getattr(source, what) for source in listed]
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            raise SettingsError(f"{_SETTING}: {path} lists the {what} {twice!r} twice.")
    return tuple(msgspec.structs.replace(source, name=plain(source.name)) for source in listed)


def _reason(error: Exception) -> str:
    return explain_invalid(error, _File).sentence("it") if isinstance(error, msgspec.ValidationError) else str(error)
