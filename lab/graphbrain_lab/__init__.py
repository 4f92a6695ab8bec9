"""The laboratory of graphbrain: measurements, simulations of policies, replays of recorded crawls, and attacks.

May touch: the product, files of recordings, processes and servers that it starts itself. The product does
not import the laboratory. `graphbrain` finds its commands by `graphbrain_lab.commands`.
"""

__version__ = "0.1.0"
