"""The one limit of every wait in this folder. Only a hang reaches it, however slow the machine is."""

LIMIT_S = 900
