"""Forms of the reference pages."""

from collections.abc import Iterable

from django import forms
from django.core.files.uploadedfile import UploadedFile

from references.importers.archive import MAX_MEMBERS, MAX_TOTAL_BYTES, ArchiveRefused, Files, read_uploads
from references.services.documents import MAX_SOURCE_CHARS


class ManyFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """Several uploaded files, read into `Files`. Refuses what the archive reader refuses, with its code."""

    widget = ManyFilesInput(attrs={"accept": ".md,.markdown,.zip", "data-max-bytes": MAX_TOTAL_BYTES})

    def clean(self, data: Iterable[UploadedFile] | UploadedFile | None, initial: object = None) -> Files:
        uploads = list(data) if isinstance(data, (list, tuple)) else [data] if data else []
        if not uploads:
            raise forms.ValidationError("Choose a zip or some .md files.", code="required")
        if len(uploads) > MAX_MEMBERS or sum(upload.size or 0 for upload in uploads) > MAX_TOTAL_BYTES:
            raise forms.ValidationError(
                f"At most {MAX_MEMBERS} files of {MAX_TOTAL_BYTES // 1024 // 1024} MB together can be sent at once.",
                code="archive.too_large",
            )
        try:
            files = read_uploads([(upload.name or "", upload.read()) for upload in uploads])
        except ArchiveRefused as error:
            raise forms.ValidationError(f"{error.message} {error.fix}", code=error.code) from error
        if not files.texts and not files.refused:
            raise forms.ValidationError("There is no markdown file (.md) among them.", code="archive.no_markdown")
        return files


class UploadForm(forms.Form):
    """A zip or several markdown files, and where they come from."""

    files = ManyFilesField(
        label="Files",
        help_text="One .zip, or several .md files. A second import adds a revision only where text changed.",
    )
    source = forms.CharField(
        label="Source",
        required=False,
        max_length=MAX_SOURCE_CHARS,
        help_text="Repository, path and licence of the texts; shown with every revision.",
    )


class ArchiveForm(forms.Form):
    """Why a document is taken off the lists."""

    reason = forms.CharField(label="Reason", required=False, max_length=1000)
