"""`graphbrain wacz` and `graphbrain mirror`: what is made of the WARC files of a crawl. It needs no brain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from graphbrain.cli.common import Size, needing
from graphbrain.terminal import show

if TYPE_CHECKING:
    from graphbrain.crawl.warc import Mended

__all__ = ["COMMANDS", "mended", "need_wacz", "packed"]

PACKAGES = ("scrapy", "twisted", "warcio")


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--wacz-size", type=Size(1), default="10G", help="Pack no more bytes of WARC files (10G).")
def wacz(folder: Path, file: Path, wacz_size: int) -> int:
    """Pack the WARC files of a directory into one WACZ file.

    DIR is that of 'graphbrain crawl --warc DIR', after one run or several. ReplayWeb.page opens FILE, which lists each
    page, with its title and text, as it was first and each time that it had changed. An earlier FILE is replaced. Needs
    the extra 'wacz', and no brain. Files that are being written are left out.
    """
    need_wacz(file)
    mended(folder)
    packed(folder, file, wacz_size)
    return 0


@click.command()
@click.argument("warcs", metavar="WARC...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--size", type=Size(1), default="10G", help="Write no more bytes (10G).")
@click.option("--scripts", is_flag=True, help="Let the scripts of pages run; they may lead to the web.")
def mirror(warcs: tuple[Path, ...], folder: Path, size: int, scripts: bool) -> int:
    """Write a mirror of WARC files that opens from the disk.

    WARC is a file, or a directory of 'graphbrain crawl --warc'. DIR must be empty, or not there yet. It gets the last
    good version of each page and file, and index.html with the list of pages. Links, images and styles lead to the
    files; what is not there is left out, so that a browser asks the web for nothing. Needs the extra 'crawl', and no
    brain.
    """
    with needing("'graphbrain mirror'", "crawl", *PACKAGES):
        from graphbrain.crawl.mirror import mirror as write
    # Finish what a killed crawl has left.
    for path in warcs:
        if path.is_dir():
            mended(path)
    mirrored = write(warcs, folder, size, scripts=scripts)
    # Name what the mirror does not have.
    for url in mirrored.too_large:
        show.say(f"graphbrain: {url} is larger than is read, so its file is empty.")
    if mirrored.lost:
        records = show.counted(mirrored.lost, "record")
        show.say(f"graphbrain: {records} refer to payloads that are in none of these files; name all of an archive.")
    pages, files = show.counted(mirrored.pages, "page"), show.counted(mirrored.files, "file")
    show.say(f"graphbrain: {folder / 'index.html'} lists {pages}; {files} in all.")
    return 0


def need_wacz(file: Path) -> None:
    """Raise GraphbrainError where a package that packs WACZ files is missing, with how to install it; BadInput where
    this file cannot be one."""
    with needing("A WACZ file", "wacz", "wacz", *PACKAGES):
        import wacz  # noqa: F401

        from graphbrain.crawl.wacz import check_target
    check_target(file)


def packed(folder: Path, file: Path, most: int) -> None:
    """Pack a folder, and print what came of it."""
    from graphbrain.crawl.wacz import pack

    pages, silent = pack(folder, file, most)
    omitted = f"; the texts of {show.counted(silent, 'page')} are left out, because the list would be too long"
    show.say(f"graphbrain: {file} has {show.counted(pages, 'page')}{omitted if silent else ''}.")


def mended(folder: Path) -> None:
    """Finish the WARC files that killed crawls have left, with a sentence on each."""
    from graphbrain.crawl.warc import mend

    for remark in mend(folder):
        show.say(f"graphbrain: {_said_of(remark)}")


def _said_of(mended: Mended) -> str:
    """Return the sentence on a WARC file that a killed crawl has left."""
    cut = show.counted(mended.cut, "byte")
    torn = f"a torn record ({cut}) is cut off its end" if mended.cut else "no record is torn"
    if not mended.records:
        return f"{mended.file} was left by a crawl that was killed, without a whole record, and is removed."
    return (
        f"{mended.file} was left by a crawl that was killed: {torn}, and it is finished with "
        f"{show.counted(mended.records, 'whole record')}."
    )


COMMANDS = (wacz, mirror)
