"""Addresses of the evidence pages."""

from django.urls import path

from evidence.views import board, experiments, imports, levers, proposals, rows, searches

app_name = "evidence"

urlpatterns = [
    path("", board.row_list, name="row_list"),
    path("searches/save/", searches.search_save, name="search_save"),
    path("searches/<int:pk>/delete/", searches.search_delete, name="search_delete"),
    path("searches/<int:pk>/seen/", searches.search_seen, name="search_seen"),
    path("import/", imports.import_map, name="import"),
    path("experiments/", experiments.experiment_list, name="experiment_list"),
    path("experiments/new/", experiments.experiment_new, name="experiment_new"),
    path("experiments/<int:pk>/", experiments.experiment_detail, name="experiment_detail"),
    path("experiments/<int:pk>/correct/", experiments.experiment_correct, name="experiment_correct"),
    path("numbers/", proposals.number_preview, name="number_preview"),
    path("proposals/", proposals.proposal_list, name="proposal_list"),
    path("proposals/<int:pk>/", proposals.proposal_detail, name="proposal_detail"),
    path("proposals/<int:pk>/revise/", proposals.proposal_revise, name="proposal_revise"),
    path("proposals/<int:pk>/accept/", proposals.proposal_accept, name="proposal_accept"),
    path("proposals/<int:pk>/reject/", proposals.proposal_reject, name="proposal_reject"),
    path("proposals/<int:pk>/withdraw/", proposals.proposal_withdraw, name="proposal_withdraw"),
    path("levers/", levers.lever_list, name="lever_list"),
    path("levers/new/", levers.lever_new, name="lever_new"),
    path("levers/<slug:slug>/", levers.lever_detail, name="lever_detail"),
    path("levers/<slug:slug>/edit/", levers.lever_edit, name="lever_edit"),
    path("levers/<slug:slug>/aliases/add/", levers.alias_add, name="alias_add"),
    path("levers/<slug:slug>/aliases/remove/", levers.alias_remove, name="alias_remove"),
    path("levers/<slug:slug>/archive/", levers.lever_archive, name="lever_archive"),
    path("levers/<slug:slug>/restore/", levers.lever_restore, name="lever_restore"),
    path("rows/new/", proposals.row_new, name="row_new"),
    path("rows/<str:code>/", rows.row_detail, name="row_detail"),
    path("rows/<str:code>/revisions/<int:number>/", rows.row_revision, name="row_revision"),
    path("rows/<str:code>/propose/", proposals.row_propose, name="row_propose"),
    path("rows/<str:code>/flag/", rows.row_flag, name="row_flag"),
    path("rows/<str:code>/flags/<int:pk>/confirm/", rows.flag_confirm, name="flag_confirm"),
    path("rows/<str:code>/flags/<int:pk>/clear/", rows.flag_clear, name="flag_clear"),
    path("rows/<str:code>/supersede/", rows.row_supersede, name="row_supersede"),
    path("rows/<str:code>/archive/", rows.row_archive, name="row_archive"),
    path("rows/<str:code>/restore/", rows.row_restore, name="row_restore"),
]
