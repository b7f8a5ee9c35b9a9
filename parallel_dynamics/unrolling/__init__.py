"""Kernels unrolled for one robot, as straight machine code.

The kernels read the robot as data, which lets one compiled program serve every robot; it pays to
write the program for one. ``structure`` tells what stands in the code from what it reads,
``tracing`` runs the kernels' own source on symbols, ``tape`` records what they calculate,
``machine_code`` has LLVM turn it into instructions, for one state or for eight at once,
``library`` keeps it for the next process, ``programs`` runs it. A state outside the guards of the
recording goes to the kernels.
"""
