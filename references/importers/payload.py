"""Read files to a JSON document and back, so that an upload can be kept between preview and import."""

from dataclasses import asdict

from references.importers.archive import Files, RefusedFile


def payload_of_files(files: Files) -> dict:
    """JSON form of read files."""
    return {
        "texts": [list(pair) for pair in files.texts],
        "skipped": [list(pair) for pair in files.skipped],
        "refused": [asdict(item) for item in files.refused],
    }


def files_of_payload(payload: dict) -> Files:
    """The read files of a kept upload."""
    return Files(
        texts=[(path, text) for path, text in payload["texts"]],
        skipped=[(path, why) for path, why in payload["skipped"]],
        refused=[RefusedFile(**item) for item in payload["refused"]],
    )
