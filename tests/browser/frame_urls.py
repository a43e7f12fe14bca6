"""Addresses of the frame's browser tests: the styleguide and small parts that answer htmx in each way."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import engines
from django.urls import include, path

from v2kb.core.errors import Conflict

PAGE = """{% extends "base.html" %}{% load ui %}
{% block title %}Parts{% endblock %}{% block heading %}Parts{% endblock %}
{% block content %}
<form method="post" action="/refused/" id="box" hx-post="/refused/" hx-target="#box" data-autosave="autosave">
  {% csrf_token %}{% include "htmx/autosave.html" %}
  <label for="lever">Lever</label><input id="lever" name="lever">
  <button class="btn" type="submit">Send</button>
</form>
<button class="btn" id="conflict" hx-post="/conflict/" hx-target="#there">Conflict</button>
<button class="btn" id="swap" hx-get="/part/" hx-target="#there">Swap</button>
<div id="there"></div>
<table class="table" data-rows><caption>Rows</caption><tbody>
  <tr data-row><td><a href="/one/">one</a></td></tr>
  <tr data-row><td><a href="/two/">two</a></td></tr>
</tbody></table>
<label for="comment">Comment</label><textarea id="comment" data-key="c"></textarea>
{% endblock %}"""


def _page(request: HttpRequest) -> HttpResponse:
    return HttpResponse(engines["django"].from_string(PAGE).render({}, request))


def _styleguide(request: HttpRequest) -> HttpResponse:
    return render(request, "styleguide.html")


def _refused(request: HttpRequest) -> HttpResponse:
    body = '<div data-error-summary tabindex="-1"><h2>Lever: say which one</h2></div>'
    return HttpResponse(body, status=422)


def _conflict(request: HttpRequest) -> HttpResponse:
    raise Conflict("spec.stale", "The draft moved on.", rule="AL2", fix="Reload and compare.")


def _part(request: HttpRequest) -> HttpResponse:
    return HttpResponse('<p data-announce="3 rows">rows</p>')


def _plain(request: HttpRequest, **_: str) -> HttpResponse:
    return HttpResponse("<!doctype html><html lang='en'><title>x</title><h1>there</h1></html>")


evidence = ([path("", _plain, name="row_list")], "evidence")

urlpatterns = [
    path("", _page, name="home"),
    path("styleguide/", _styleguide, name="styleguide"),
    path("evidence/", include(evidence)),
    path("search/", _plain, name="search"),
    path("sign-in/", _plain, name="login"),
    path("sign-out/", _plain, name="logout"),
    path("refused/", _refused),
    path("conflict/", _conflict),
    path("part/", _part),
    path("one/", _plain),
    path("two/", _plain),
]
