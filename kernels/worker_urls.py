"""The door for workers: /worker/v1/."""

from django.urls import path

from kernels.views import worker_api

urlpatterns = [
    path("hello", worker_api.hello, name="worker_hello"),
    path("runs/<str:run_id>/claim", worker_api.claim, name="worker_claim"),
    path("runs/<str:run_id>/files/<str:sha256>", worker_api.file, name="worker_file"),
    path("runs/<str:run_id>/ping", worker_api.ping, name="worker_ping"),
    path("runs/<str:run_id>/log", worker_api.log, name="worker_log"),
    path("runs/<str:run_id>/result", worker_api.result, name="worker_result"),
]
