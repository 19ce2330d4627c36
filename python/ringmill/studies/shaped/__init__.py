"""Programs shaped as a paper counts them: limb programs for machines that are simulated and not run.

A paper's program is known by its parameters and counts, not by its text. The modules here write limb programs
of that shape (docs/limb-program.md), with the paper's degree, primes and digits. Constants are 1 and
plaintexts are unknown, since a schedule depends on neither: the programs compute nothing of use.

`text` writes instructions, `switching` key switches, `operations` what is made of them, `bootstrap` a whole
bootstrapping.
"""
