"""Pages of ops, specs, kernels, runs and workers."""

from django.urls import path

from kernels.views import (
    calculators,
    kernels,
    ops,
    rules,
    runs,
    spec_editor,
    spec_import,
    spec_search,
    specs,
    sweeps,
    waivers,
)

app_name = "kernels"

spec_pages = [
    path("specs/", specs.spec_list, name="spec_list"),
    path("specs/new/", specs.spec_new, name="spec_new"),
    path("specs/import/", spec_import.spec_import, name="spec_import"),
    path("specs/search/", spec_search.spec_search, name="spec_search"),
    path("specs/<str:code>/", specs.spec_detail, name="spec_detail"),
    path("specs/<str:code>/edit/", spec_editor.edit, name="spec_edit_start"),
    path("specs/<str:code>/edit/finish/", spec_editor.save_revision, name="spec_finish"),
    path("specs/<str:code>/edit/rebase/", spec_editor.rebase, name="spec_rebase"),
    path("specs/<str:code>/edit/discard/", spec_editor.discard, name="spec_discard"),
    path("specs/<str:code>/edit/sweep/", sweeps.draft_sweep, name="spec_draft_sweep"),
    path("specs/<str:code>/edit/<slug:section>/", spec_editor.edit, name="spec_edit"),
    path("specs/<str:code>/edit/choices/<str:choice_id>/", spec_editor.edit_choice, name="spec_edit_choice"),
    path("specs/<str:code>/r<int:number>/", specs.spec_detail, name="spec_revision"),
    path("specs/<str:code>/r<int:number>/spec.<str:extension>", spec_import.spec_export, name="spec_export"),
    path("specs/<str:code>/r<int:number>/sweep/", sweeps.revision_sweep, name="spec_sweep"),
    path("specs/<str:code>/r<int:number>/gate/", specs.gate_page, name="spec_gate"),
    path("specs/<str:code>/r<int:number>/gate/store/", specs.gate_store, name="spec_gate_store"),
    path("specs/<str:code>/r<int:number>/submit/", specs.submit_revision, name="spec_submit"),
    path("specs/<str:code>/r<int:number>/comment/", specs.comment, name="spec_comment"),
    path("specs/<str:code>/r<int:number>/position/", specs.position, name="spec_position"),
    path("specs/<str:code>/r<int:number>/sign/", specs.sign, name="spec_sign"),
    path("specs/<str:code>/r<int:number>/close/", specs.close, name="spec_close"),
    path("specs/<str:code>/searches/<int:pk>/bring/", spec_search.bring, name="spec_search_bring"),
    path("specs/<str:code>/waivers/", waivers.ask, name="spec_waiver_ask"),
    path("specs/<str:code>/waivers/<int:pk>/", waivers.answer, name="spec_waiver_answer"),
    path("specs/<str:code>/diff/<int:old>..<int:new>/", specs.spec_diff_page, name="spec_diff"),
]
op_pages = [
    path("ops/", ops.op_list, name="op_list"),
    path("ops/new/", ops.op_new, name="op_new"),
    path("ops/<slug:slug>/", ops.op_detail, name="op_detail"),
    path("ops/<slug:slug>/edit/", ops.op_edit, name="op_edit"),
    path("ops/<slug:slug>/stop/", ops.op_stop, name="op_stop"),
    path("families/", ops.family_questions, name="family_questions"),
]
kernel_pages = [
    path("kernels/", kernels.kernel_list, name="kernel_list"),
    path("kernels/new/", kernels.kernel_new, name="kernel_new"),
    path("kernels/<slug:slug>/", kernels.kernel_detail, name="kernel_detail"),
    path("kernels/<slug:slug>/versions/new/", kernels.version_new, name="version_new"),
    path("kernels/<slug:slug>/v<int:number>/", kernels.version_detail, name="version_detail"),
    path("anchors/", kernels.anchor_list, name="anchor_list"),
    path("anchors/<slug:name>/stale/", kernels.anchor_stale, name="anchor_stale"),
    path("ops/<slug:slug>/anchors/new/", kernels.anchor_new, name="anchor_new"),
]
rule_pages = [path("rules/", rules.rule_list, name="rule_list")]
calculator_pages = [
    path("calculators/", calculators.calculator_list, name="calculator_list"),
    path("calculators/<slug:name>/", calculators.calculator, name="calculator"),
]
run_pages = [
    path("runs/", runs.run_list, name="run_list"),
    path("ops/<slug:slug>/run/", runs.run_new, name="run_new"),
    path("runs/<str:public_id>/", runs.run_detail, name="run_detail"),
    path("runs/<str:public_id>/live/", runs.run_live, name="run_live"),
    path("runs/<str:public_id>/cancel/", runs.run_cancel, name="run_cancel"),
    path("workers/", runs.worker_list, name="worker_list"),
]
urlpatterns = [*spec_pages, *op_pages, *kernel_pages, *run_pages, *calculator_pages, *rule_pages]
