"""Geometry of the pictures of a design: plain values of `v2kb.rules` in, SVG units and table rows out."""

from v2kb.core.ui.maps.layers import layer_map
from v2kb.core.ui.maps.pages import smem_map, smem_queue
from v2kb.core.ui.maps.roles import role_map
from v2kb.core.ui.maps.semaphores import sem_map
from v2kb.core.ui.maps.tmem import tmem_map

__all__ = ["layer_map", "role_map", "sem_map", "smem_map", "smem_queue", "tmem_map"]
