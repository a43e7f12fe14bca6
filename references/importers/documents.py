"""Importing markdown: what is new, changed, unchanged or refused, and storing it through the service."""

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from references.importers.anchors import Heading, PathKey, heading_paths, slugify
from references.importers.archive import Files, same_place
from references.importers.catalogue import looks_like_catalogue, read_catalogue
from references.importers.markdown import MAX_SECTIONS, parse_markdown
from references.importers.markdown import Document as Parsed
from references.models import Document, Section
from references.policies import require_import
from references.services.documents import PreparedDocument, PreparedSection, PreparedSnapshot, save_documents
from v2kb.core.actor import Actor
from v2kb.rules.words import counted

MAX_NOTE_CHARS = 300
NEW, CHANGED, UNCHANGED, REFUSED, SKIPPED = "new", "changed", "unchanged", "refused", "skipped"


@dataclass
class ImportLine:
    """What happens to one file. `is_stored`: the document exists already; `notes` are worth reading and block nothing;
    `fix` says what to do about a refusal.
    """

    path: str
    state: str
    slug: str = ""
    title: str = ""
    sections: int = 0
    code: str = ""
    message: str = ""
    fix: str = ""
    is_stored: bool = False
    notes: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


@dataclass
class ImportReport:
    """One line per file, in path order. `applied` says whether it was stored or only looked at."""

    lines: list[ImportLine]
    applied: bool

    def of(self, state: str) -> list[ImportLine]:
        """The lines in this state."""
        return [line for line in self.lines if line.state == state]

    @property
    def counts(self) -> dict[str, int]:
        """State -> number of files, every state named."""
        return {state: len(self.of(state)) for state in (NEW, CHANGED, UNCHANGED, REFUSED, SKIPPED)}

    @property
    def has_changes(self) -> bool:
        return any(line.state in (NEW, CHANGED) for line in self.lines)

    @property
    def summary(self) -> str:
        """One sentence: "6 new, 1 changed, 2 unchanged, 0 refused, 1 skipped"."""
        return ", ".join(f"{count} {state}" for state, count in self.counts.items())


def import_documents(actor: Actor, *, files: Files, source: str = "", dry_run: bool = False) -> ImportReport:
    """Compare the files with what is stored and, unless `dry_run`, store what is new or changed in one transaction.

    Raises Forbidden, and what save_documents raises. A file that can't be read is refused alone; the others go on.
    """
    require_import(actor)
    report, prepared = _plan(files)
    if not dry_run and prepared:
        save_documents(actor, documents=prepared, source=source)
        report.applied = True
    return report


def slug_of_paths(paths: list[str]) -> dict[str, str]:
    """A slug per path: that of the file's name, with its folder's in front where two files share a name."""
    stems = {path: _slug_of_name(PurePosixPath(path).stem) for path in paths}
    shared = {slug for slug, count in Counter(stems.values()).items() if count > 1}
    slugs = {}
    for path, slug in stems.items():
        folder = PurePosixPath(path).parent.name
        slugs[path] = slugify(f"{folder}-{slug}") if folder and slug in shared else slug
    return slugs


def _slug_of_name(stem: str) -> str:
    """The name's slug; a name without any letter or digit of ASCII gets one made of its hash."""
    if any(sign.isascii() and sign.isalnum() for sign in stem):
        return slugify(stem)
    return f"document-{hashlib.sha256(stem.encode()).hexdigest()[:8]}"


def _plan(files: Files) -> tuple[ImportReport, list[PreparedDocument]]:
    lines = [ImportLine(path, SKIPPED, message=why) for path, why in files.skipped]
    lines += [
        ImportLine(item.path, REFUSED, code=item.code, message=item.message, fix=item.fix) for item in files.refused
    ]
    slugs = slug_of_paths([path for path, _ in files.texts])
    twice = {slug for slug, count in Counter(slugs[path] for path, _ in files.texts).items() if count > 1}
    stored = {
        document.slug: document
        for document in Document.objects.filter(slug__in=slugs.values()).select_related("head").defer("head__text")
    }
    heads = _head_sections(stored)
    prepared = []
    for path, text in files.texts:
        document = stored.get(slugs[path])
        if slugs[path] in twice:
            message = f"Another file of this import is called {slugs[path]} too."
            lines.append(_refused(path, slugs[path], message, code="document.same_name", fix="Rename one of them."))
            continue
        line, ready = _plan_one(path, slugs[path], text, document, heads.get(slugs[path], []))
        line.is_stored = document is not None
        lines.append(line)
        if ready:
            prepared.append(ready)
    lines.sort(key=lambda line: line.path)
    return ImportReport(lines, applied=False), prepared


def _head_sections(stored: dict[str, Document]) -> dict[str, list[Section]]:
    heads: dict[str, list[Section]] = defaultdict(list)
    sections = Section.objects.filter(revision__head_of__slug__in=stored).defer("text", "blocks")
    for section in (
        sections.select_related("revision__document").defer("revision__text", "text", "blocks").order_by("order")
    ):
        heads[section.revision.document.slug].append(section)
    return heads


def _refused(path: str, slug: str, message: str, *, code: str, fix: str) -> ImportLine:
    return ImportLine(path, REFUSED, slug=slug, code=code, message=message, fix=fix)


def _plan_one(
    path: str, slug: str, text: str, document: Document | None, head: list[Section]
) -> tuple[ImportLine, PreparedDocument | None]:
    digest = hashlib.sha256(text.encode()).hexdigest()
    if document and document.archived_at:
        why = f"{document.title} ({slug}) is archived."
        return _refused(path, slug, why, code="references.archived", fix="Restore the document first."), None
    if document and document.head and document.head.content_hash == digest:
        return ImportLine(path, UNCHANGED, slug=slug, title=document.title, sections=len(head)), None
    parsed = parse_markdown(text, PurePosixPath(path).stem, previous_anchors(head))
    if not parsed.sections:
        why = f"{path} holds front matter and no text."
        return _refused(path, slug, why, code="document.empty", fix="Add the text."), None
    if len(parsed.sections) > MAX_SECTIONS:
        why = f"{path} has {len(parsed.sections):,} headings; a document may have {MAX_SECTIONS:,}."
        return _refused(path, slug, why, code="document.too_large", fix="Split the document."), None
    snapshot, unread = _snapshot(parsed)
    prepared = PreparedDocument(
        slug=slug,
        path=path,
        title=parsed.title,
        text=text,
        content_hash=digest,
        base_id=document.head_id if document else None,
        sections=[_section(section) for section in parsed.sections],
        front_matter=[{"name": name, "values": values} for name, values in parsed.front_matter.fields],
        snapshot=snapshot,
    )
    line = ImportLine(
        path, NEW if not document else CHANGED, slug=slug, title=parsed.title, sections=len(parsed.sections)
    )
    line.notes = _notes(path, document, head, prepared)
    line.unread = parsed.problems + unread
    return line, prepared


def previous_anchors(head: list[Section]) -> list[tuple[PathKey, str]]:
    """(path key, anchor) of a stored revision's sections, for parse_markdown to keep them."""
    index_of = {section.pk: index for index, section in enumerate(head)}
    first_heading = next((index for index, section in enumerate(head) if section.level), None)
    headings = [
        Heading(
            title=section.title,
            number=section.number,
            parent=index_of.get(section.parent_id),
            is_document_title=section.level == 0 or (section.level == 1 and index == first_heading),
        )
        for index, section in enumerate(head)
    ]
    return [(key, section.anchor) for key, section in zip(heading_paths(headings), head, strict=True)]


def _section(section) -> PreparedSection:
    return PreparedSection(
        level=section.level,
        number=section.number,
        title=section.title,
        anchor=section.anchor,
        parent=section.parent,
        text=section.text,
        blocks=[block.to_dict() for block in section.blocks],
        first_line=section.start_line,
        last_line=section.end_line,
        content_hash=hashlib.sha256(section.text.encode()).hexdigest(),
    )


def _notes(path: str, document: Document | None, head: list[Section], prepared: PreparedDocument) -> list[str]:
    notes = []
    if prepared.front_matter:
        names = ", ".join(field["name"] for field in prepared.front_matter)
        notes.append(f"Front matter: {names}"[:MAX_NOTE_CHARS])
    if prepared.snapshot:
        snapshot = prepared.snapshot
        notes.append(
            f"Upstream snapshot {snapshot.repository} {snapshot.branch} @ {snapshot.commit}: "
            f"{counted(len(snapshot.kernels), 'kernel')}, {counted(len(snapshot.families), 'family', 'families')}"
        )
    if document is None:
        return notes
    before = {section.anchor: section.content_hash for section in head}
    after = {section.anchor: section.content_hash for section in prepared.sections}
    added = [anchor for anchor in after if anchor not in before]
    changed = [anchor for anchor in after if anchor in before and after[anchor] != before[anchor]]
    gone = [anchor for anchor in before if anchor not in after]
    for what, anchors in (("New sections", added), ("Changed sections", changed), ("Sections that are gone", gone)):
        if anchors:
            more = f" and {len(anchors) - 10} more" if len(anchors) > 10 else ""
            notes.append(f"{what}: {', '.join(anchors[:10])}{more}")
    if document.path and not same_place(document.path, path):
        notes.append(f"The document was imported from {document.path} before; make sure that this is the same one.")
    return notes


def _snapshot(parsed: Parsed) -> tuple[PreparedSnapshot | None, list[str]]:
    """The snapshot that a catalogue describes, and what could not be read of it."""
    if not looks_like_catalogue(parsed):
        return None, []
    catalogue = read_catalogue(parsed)
    unread = [str(item) for item in catalogue.unread]
    found = catalogue.snapshot
    if not found.commit or not found.repository:
        return None, [*unread, "No snapshot is stored: repository and commit must be known."]
    families = [
        {
            "letter": family.letter,
            "title": family.title[:200],
            "idiom": family.idiom[:120],
            "when_to_copy": family.when_to_copy,
            "anchor": family.anchor,
        }
        for family in catalogue.families
    ]
    kernels = [
        {
            "name": kernel.name[:200],
            "family": kernel.family,
            "files": kernel.files,
            "task_type": " / ".join(kernel.task_types)[:300],
            "task_ids": kernel.task_ids,
            "arities": [list(arity) for arity in kernel.arities],
            "note": kernel.note,
        }
        for kernel in catalogue.kernels
    ]
    prepared = PreparedSnapshot(
        found.repository, found.branch, found.commit, found.studied_on, found.merge_base, families, kernels, unread
    )
    return prepared, unread
