"""Files of other tools as one experiment."""

import os

from orrery import _orrery
from orrery.result import Section
from orrery.runs import override_list


class Imported(Section):
    """Holds an import, as `orrery import --report` writes it, with attributes: `files`, `items` (what became of each key
    of a file), `experiment`, which `simulate` takes. `yaml` is the experiment with a comment behind each key that says
    where it comes from; str() gives the report that `orrery import` prints."""

    __slots__ = ("text", "yaml")

    def __str__(self):
        return self.text

    def to_pandas(self):
        """A DataFrame with a row for each item: its fate, file, line, key, what was found and the key it became."""
        import pandas

        return pandas.DataFrame(self["items"])


def read_files(files, settings=None, *, kind="", approximate=False):
    """One experiment out of files of other tools: of a model, a launch, a machine, a log, merged from left to right.

    files        paths, one or several
    settings     a dict that decides over all files: keys of the experiment, launch.gpus, or variables of a script
    kind         reads every file as this kind (`orrery import --list`); each is recognised by its content without
    approximate  takes the nearest where an experiment cannot say what a file says, and tells how

    Raises ExperimentError for files of no known kind, and with every contradiction and every value that is missing.
    """
    paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    found, text, yaml = _orrery.read_files([os.fspath(path) for path in paths], override_list(settings, {}), kind, approximate,
                                           Section)
    imported = Imported(found)
    imported.text, imported.yaml = text, yaml
    return imported
