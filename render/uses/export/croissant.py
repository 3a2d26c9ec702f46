"""croissant.json: the dataset described in Croissant 1.1 and its minimal RAI fields, for mlcroissant and reviewers.

A format that can be described has a function `croissant_parts(out)`, which returns its files and record sets, made of
the functions of this module. FileSets are read from the folder of croissant.json.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from diorama.render import __version__
from diorama.render.uses.export.about import About
from diorama.render.uses.export.dataset_facts import OWN, Facts

Node = dict[str, Any]
# As in the specification of Croissant 1.1.
_CONTEXT: Node = json.loads((files("diorama.render.uses.export") / "croissant_context.json").read_text("utf-8"))
_SPLITS = {"train": "cr:TrainingSplit", "val": "cr:ValidationSplit", "test": "cr:TestSplit"}


def file_object(out: Path, name: str, encoding: str) -> Node:
    """Return a file of the export, with its SHA-256."""
    with (out / name).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    facts = {"contentSize": f"{(out / name).stat().st_size} B", "encodingFormat": encoding, "sha256": digest}
    return {"@type": "cr:FileObject", "@id": name, "name": name, "contentUrl": name, **facts}


def file_set(name: str, includes: str, encoding: str, archives: Sequence[Node] = ()) -> Node:
    """Files by pattern, in the folder or in archives."""
    inside = {"containedIn": [{"@id": archive["@id"]} for archive in archives]} if archives else {}
    return {
        "@type": "cr:FileSet", "@id": name, "name": name, "encodingFormat": encoding, "includes": includes, **inside
    }  # fmt: skip


def source(files: str, path: str = "", **extract: str) -> Node:
    """Where a field comes from: column="...", jsonPath="..." or fileProperty="...".

    Args:
        path: a JSON path inside it.
    """
    inner = {"transform": {"jsonPath": path}} if path else {}
    return {"source": {"fileSet": {"@id": files}, "extract": extract, **inner}}


def field(name: str, kind: str, text: str, **more: Any) -> Node:
    """Return a field.

    Args:
        name: `<record set>/<name>`.
        more: `source(...)`, repeated, subField.
    """
    short = name.rpartition("/")[2]
    typed = {"dataType": kind} if kind else {}
    return {"@type": "cr:Field", "@id": name, "name": short, "description": text, **typed, **more}


def objects_field(name: str, files: str, mask: str, box: str, **extract: str) -> Node:
    """Return the objects of an image or episode: names, boxes, masks.

    Args:
        mask: path of the run-length encoding's counts.
        box: data type; mlcroissant reads cr:BoundingBox from JSON, and from Parquet only arrays of numbers.
    """
    kinds = {
        "name": ("sc:Text", "name", "name of the object in its scene"),
        "bbox": (box, "bbox", "measured box [x, y, width, height] in pixels, origin top left; null if not visible"),
        "mask": ("sc:Text", mask, "measured mask: counts of COCO's compressed run-length encoding"),
        "shape": ("sc:Text", "shape", "shape or model"),
        "color": ("sc:Text", "color", "name of the color"),
        "visible_pixels": ("sc:Integer", "visible_pixels", "number of pixels of the mask"),
    }
    return list_field(name, files, "objects of all images", kinds, **extract)


def list_field(name: str, files: str, text: str, kinds: Mapping[str, tuple[str, str, str]], **extract: str) -> Node:
    """Return a list of records.

    Args:
        kinds: name in them -> data type, path, description.
    """
    inner = [
        field(f"{name}/{key}", kind, about, repeated=True, **source(files, path, **extract))
        for key, (kind, path, about) in kinds.items()
    ]
    return field(name, "", text, repeated=True, subField=inner, **source(files, **extract))


def record_set(name: str, text: str, fields: Sequence[Node]) -> Node:
    """Return a record set."""
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "description": text, "field": list(fields)}


def _splits_record_set(names: Sequence[str]) -> Node:
    data = [{"splits/name": name, **({"splits/url": _SPLITS[name]} if name in _SPLITS else {})} for name in names]
    fields = [field("splits/name", "sc:Text", "name"), field("splits/url", "sc:URL", "meaning")]
    known = {**record_set("splits", "The splits of the dataset.", fields), "dataType": "cr:Split"}
    return {**known, "key": {"@id": "splits/name"}, "data": [{"splits/url": "", **row} for row in data]}


def croissant(about: About, facts: Facts, licenses: Mapping[str, str], limits: Sequence[str], biases: Sequence[str],
              distribution: Sequence[Node], record_sets: Sequence[Node]) -> Node:  # fmt: skip
    """Return the whole document, as JSON data."""
    versions = ", ".join(f"{name} {' and '.join(sorted(values))}" for name, values in sorted(facts.versions.items()))
    steps = {
        "Specification": f"specs with {len(facts.seeds)} seeds, generated or written for Diorama {__version__}",
        "Compilation and rendering": f"{facts.episodes} episodes, {facts.images} images; {versions}",
        "Measurement": "boxes, masks and relations computed from the passes of each rendered image, without annotators",
        "Export": f"SHA-256 over the identities of all episodes: {facts.digest}",
    }
    creators = [
        {"@type": "sc:Organization" if creator.name else "sc:Person", "name": creator.full_name,
         **({"sameAs": creator.orcid} if creator.orcid else {})}
        for creator in about.creators
    ]  # fmt: skip
    plan = " ".join(text for text in (about.maintenance, about.hosting, about.contact) if text)
    foreign = sorted({*licenses.values(), *facts.sources} - {OWN})
    return {
        "@context": _CONTEXT, "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": about.name, "description": about.description, "version": about.version,
        "license": license_url(about.license), "url": about.url, "creator": creators,
        "datePublished": about.date_published.isoformat(), "inLanguage": list(about.language),
        "keywords": ["synthetic", *about.keywords], "citeAs": about.bibtex, "isLiveDataset": False,
        "rai:hasSyntheticData": True,
        "prov:wasGeneratedBy": [
            {"@type": "prov:Activity", "prov:label": name, "sc:description": text} for name, text in steps.items()
        ],
        "prov:wasDerivedFrom": foreign or ["none: everything was generated by Diorama from its own assets"],
        "rai:dataLimitations": list(limits), "rai:dataBiases": list(biases), "rai:dataUseCases": [about.use_cases],
        "rai:dataSocialImpact": about.social_impact,
        **({"rai:dataReleaseMaintenancePlan": plan} if plan else {}),
        "rai:personalSensitiveInformation": ["none: rendered objects and generated texts, no data about people"],
        "rai:dataCollection": "Rendered from specifications.", "rai:dataCollectionType": ["Others"],
        "rai:dataAnnotationProtocol": ["Measured in the rendered images by Diorama; no human annotators."],
        "distribution": list(distribution),
        "recordSet": [*record_sets, _splits_record_set(sorted(facts.counters.get("split", ())))],
    }  # fmt: skip


def license_url(name: str) -> str:
    """Return the address of an SPDX license; an address stays as it is."""
    return name if "://" in name else f"https://spdx.org/licenses/{name}.html"
