"""Where an op lives: as a task of the megakernel, launched alone, or on the CPU."""

MEGAKERNEL, STANDALONE, CPU = "fused_megakernel", "standalone", "cpu"
ENVELOPES = (MEGAKERNEL, STANDALONE, CPU)
