"""`--about about.toml`: what only the author of a dataset knows, and the file with comments that asks for it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from diorama.scene_specs.errors import Diagnostic, SpecError, spec_error
from diorama.scene_specs.files.foreign import read_text
from diorama.scene_specs.language.diagnostics import did_you_mean

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

TEMPLATE = (files("diorama.render.uses.export") / "about.toml").read_text("utf-8")
# SPDX identifier -> name on the Hugging Face hub, for those that it knows.
_SAME = ("Apache-2.0", "MIT", "CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0")
COMMON_LICENSES = {**{name: name.casefold() for name in _SAME}, "ODbL-1.0": "odbl"}
# Optional values that answer questions of Datasheets for Datasets (Gebru et al., 2021); `--strict` asks for them.
ANSWERS = ("limitations", "contact", "funding", "hosting", "maintenance")
_NO_ANSWER = re.compile(
    r"\b(TODO|TBD|FIXME|XXX|lorem ipsum)\b|^\W*(none|n/?a|nothing|unknown|no)( (is |are )?(known|expected|yet))?\W*$",
    re.IGNORECASE,
)
_MISSING = ("missing", "string_too_short", "too_short")


class _About(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Creator(_About):
    """A person with given and family names, or an organization with a name."""

    given_names: str = ""
    family_names: str = ""
    name: str = ""
    orcid: str = Field("", pattern=r"^(https://orcid\.org/(\d{4}-){3}\d{3}[\dX])?$")
    affiliation: str = ""

    @model_validator(mode="after")
    def _check_named(self) -> Creator:
        if not self.full_name:
            raise PydanticCustomError("unnamed", "fill in a name")
        return self

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
    contact: str = ""
    funding: str = ""
    hosting: str = ""
    maintenance: str = ""
    citation: str = ""
    asset_licenses: dict[str, str] = {}

    @field_validator("license")
    @classmethod
    def _check_spdx(cls, text: str) -> str:
        if re.fullmatch(r"https?://\S+", text):
            return text
        try:
            # No expressions, such as "MIT OR Apache-2.0", and no LicenseRef: they have no address.
            if not re.fullmatch(r"(?!(?i:LicenseRef))[A-Za-z0-9.+-]+", text):
                raise InvalidLicenseExpression
            return canonicalize_license_expression(text)
        except InvalidLicenseExpression:
            near = did_you_mean(text, COMMON_LICENSES) or f"such as {', '.join(COMMON_LICENSES)}"
            problem = f"found {text!r}; expected an identifier of https://spdx.org/licenses or an address; {near}"
            raise PydanticCustomError("license", "{problem}", {"problem": problem}) from None

    @property
    def bibtex(self) -> str:
        """The citation, or an entry made of the other values."""
        authors = " and ".join(creator.full_name for creator in self.creators)
        key = "".join(c for c in self.name.casefold() if c.isascii() and c.isalnum())[:20] or "dataset"
        entry = {"title": self.name, "author": authors, "year": self.date_published.year, "url": self.url}
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in {**entry, "version": self.version}.items())
        return self.citation.strip() or f"@misc{{{key}{self.date_published.year},\n{lines}}}"


def read_about(path: Path, strict: bool = False) -> About:
    """Read about.toml.

    Args:
        strict: whether the optional answers to a datasheet's questions are asked for, and answers that say nothing
            refused.

    Raises:
        SpecError: lists everything missing or wrong.
    """
    text = read_text(path)
    try:
        data = tomllib.loads(text)
        data["date_published"] = str(data.get("date_published", ""))
        about = About.model_validate(data)
        if strict and (problems := [*_unanswered_questions(about, str(path))]):
            raise SpecError(problems)
        return about
    except tomllib.TOMLDecodeError as error:
        raise spec_error(f"not TOML: {error}", file=str(path)) from None
    except ValidationError as error:
        problems = [
            Diagnostic(
                str(path), 0, "", re.sub(r"\.(\d+)", r"[\1]", ".".join(map(str, problem["loc"]))),
                "fill in this value" if problem["type"] in _MISSING or problem["input"] == "" else problem["msg"],
            )
            # A creator that is wrong does not count: pydantic reports an empty list, too.
            for problem in error.errors()
            if problem["type"] != "too_short" or not problem["input"]
        ]  # fmt: skip
        raise SpecError(problems) from None


def _unanswered_questions(about: About, file: str) -> Iterator[Diagnostic]:
    """Answers that a reviewer would send back."""
    for name, value in about:
        match value:
            case str() if name in ANSWERS and not value.strip():
                yield Diagnostic(file, 0, "", name, "fill in this value; --strict asks for it")
            case str() if _NO_ANSWER.search(value):
                yield Diagnostic(file, 0, "", name, f"found {value.strip()!r}; expected an answer")
