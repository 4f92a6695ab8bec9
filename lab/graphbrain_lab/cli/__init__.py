"""The commands of the laboratory, a module each; `bench` is a group, with a command for each measure."""
