"""`--about about.toml`: what only the author of a dataset knows, and the file with comments that asks for it."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from scene_specs.language.errors import Diagnostic, SpecError, spec_error
from scene_specs.language.foreign import read_text

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

TEMPLATE = """\
# What only you know about the dataset. Fill in every value above the line "optional", then run
#   render-export STORE --format huggingface --out DIR --about about.toml

name = ""             # such as "MEWL, 900 test episodes"
description = ""      # one or two sentences: what the data are for, and what they show
version = "1.0.0"     # MAJOR.MINOR.PATCH; change it with every publication
license = ""          # of your dataset, as an SPDX identifier: "CC-BY-4.0", "CC0-1.0", "MIT"
url = ""              # where it will be published, such as "https://huggingface.co/datasets/USER/NAME"
date_published = ""   # "YYYY-MM-DD"
use_cases = ""        # what the dataset is made for, and what it is not valid for
social_impact = ""    # benefits and risks of its use

[[creators]]          # repeat the three lines for each person; for an organization, give only name = "..."
given_names = ""
family_names = ""

# optional
# [[creators]] may have orcid = "https://orcid.org/..." and affiliation = "..."
# The following lines belong above the first [[creators]]:
# language = ["en"]           # of the texts, ISO 639-1; pseudo-words of MEWL count as the language around them
# keywords = ["word learning"]
# limitations = ""            # beyond those that are measured
# citation = \"\"\"@article{...}\"\"\"   # BibTeX of the paper; by default made of the values above
# [asset_licenses]            # licenses of your own meshes, materials and models, by the names in provenance.json
# "mesh:assets/mug.glb" = "CC-BY-4.0"
"""
_MISSING = ("missing", "string_too_short", "too_short")


class _About(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Creator(_About):
    """A person, by given and family names, or an organization, by name."""

    given_names: str = ""
    family_names: str = ""
    name: str = ""
    orcid: str = ""
    affiliation: str = ""

    @property
    def full_name(self) -> str:
        """The name in one piece; "" if nothing is filled in."""
        return self.name or f"{self.given_names} {self.family_names}".strip()


class About(_About):
    """The contents of about.toml; TEMPLATE describes the fields."""

    name: _Text
    description: _Text
    version: str = Field(pattern=r"^\d+\.\d+\.\d+$")
    license: _Text
    url: str = Field(pattern=r"^https?://")
    date_published: date
    use_cases: _Text
    social_impact: _Text
    creators: tuple[Creator, ...] = Field(min_length=1)
    language: tuple[str, ...] = ("en",)
    keywords: tuple[str, ...] = ()
    limitations: str = ""
    citation: str = ""
    asset_licenses: dict[str, str] = {}

    @property
    def bibtex(self) -> str:
        """The citation, or an entry made of the other values."""
        authors = " and ".join(one.full_name for one in self.creators)
        key = "".join(c for c in self.name.casefold() if c.isascii() and c.isalnum())[:20] or "dataset"
        made = {"title": self.name, "author": authors, "year": self.date_published.year, "url": self.url}
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in {**made, "version": self.version}.items())
        return self.citation.strip() or f"@misc{{{key}{self.date_published.year},\n{lines}}}"


def read_about(path: Path) -> About:
    """Read about.toml. Raises SpecError that lists everything missing or wrong."""
    text = read_text(path)
    try:
        data = tomllib.loads(text)
        data["date_published"] = str(data.get("date_published", ""))
        about = About.model_validate(data)
    except tomllib.TOMLDecodeError as error:
        raise spec_error(f"not TOML: {error}", file=str(path)) from None
    except ValidationError as error:
        problems = [
            Diagnostic(
                str(path), 0, "", ".".join(map(str, one["loc"])),
                "fill in this value" if one["type"] in _MISSING or one["input"] == "" else one["msg"],
            )
            for one in error.errors()
        ]  # fmt: skip
        raise SpecError(problems) from None
    if unnamed := [k for k, one in enumerate(about.creators) if not one.full_name]:
        raise spec_error("fill in a name", path=f"creators[{unnamed[0]}]", file=str(path))
    return about
