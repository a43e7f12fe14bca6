"""What the editor says of a field: in the words of the form, with what to enter, and which amendment sets it."""

import html
import re
from urllib.parse import parse_qsl, urlencode

import pytest
from django.urls import reverse

from kernels.editor.layout import SECTIONS, every_table
from kernels.editor.screen import Page
from kernels.models import SpecDraft, SpecRevision
from kernels.selectors.reviews import what_is_missing
from tests import factories as f
from tests.web.test_spec_page_design import full_spec
from v2kb.rules.field_words import field_words, spoken
from v2kb.rules.formulas import FORMULAS
from v2kb.rules.spec_document import empty_row

# What an amendment sets, the page that shows it, and the id of the field there.
SET = (
    ("sems.num_op_sems", "31", "sems", "f-sems-num_op_sems"),
    ("smem.regions[0].size_bytes", "64*128", "smem", "f-smem-regions-0-size_bytes"),
    ("smem.regions[8].slices[1].offset_bytes", "16", "smem", "f-smem-regions-8-slices-1-offset_bytes"),
    ("sems.rows[2].reinit_owner", "consumer", "ledger", "f-sems-rows-2-reinit_owner"),
    ("roles.rows[0].inactive_pages", "all", "roles", "f-roles-rows-0-inactive_pages"),
    ("roles.release.owners", "codegen, storer", "roles", "f-roles-release-owners"),
    ("symbols.STAGES", "12", "overview", "f-symbols-0-value"),
    ("choices[0].title", "Another title", "choices/C1", "f-title"),
    ("granularity[0].justification", "", "granularity", "f-granularity-0-justification"),
)


def page_with(client, forms_world, section: str, document) -> str:
    """The page of a section of a draft that holds `document`."""
    code = forms_world["spec"].code
    client.get(reverse("kernels:spec_edit", args=[code, "overview"]))
    draft = SpecDraft.objects.get(user=f.designer().user)
    SpecDraft.objects.filter(pk=draft.pk).update(content={**draft.content, **document})
    name, _, choice = section.partition("/")
    url = reverse("kernels:spec_edit_choice", args=[code, choice]) if choice else None
    return client.get(url or reverse("kernels:spec_edit", args=[code, name])).content.decode()


def said_at(page: str, field: str) -> str:
    """What stands beside the field with this id."""
    return re.search(rf'<div class="say" id="{field}-say">(.*?)</div>', page)[1]


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "value", "section", "field"), SET)
def test_a_field_that_an_amendment_sets_says_so_and_leads_there(client, forms_world, path, value, section, field):
    document = full_spec()
    del document["choices"], document["ops"]
    fields = [{"field": "smem.regions[1].name", "value": "W1"}, {"field": path, "value": value}]
    document["amendments"] = [{**empty_row("amendments"), "id": "A3", "fields": fields}]
    page = page_with(client, forms_world, section, document)
    if path.startswith("symbols."):  # PostgreSQL keeps the symbols in an order of its own
        field = f"f-symbols-{list(SpecDraft.objects.get().content['symbols']).index(path.partition('.')[2])}-value"
    said = said_at(page, field)
    assert f"A3 sets this to {value}, which the rules read." in said if value else "A3 empties this" in said
    assert f"/specs/{forms_world['spec'].code}/edit/amendments/#f-amendments-0-fields-1" in said
    assert 'data-level="amended"' in said
    assert 'id="level-amended"' in page
    if section == "roles" and "rows" in path:
        assert 'id="paths-f-roles-rows-0" open' in page
    plain = page_with(client, forms_world, section, {**document, "amendments": []})
    assert "A3" not in said_at(plain, field)
    assert 'id="level-amended"' not in plain


@pytest.mark.django_db
def test_a_long_value_of_an_amendment_is_told_by_its_beginning(client, forms_world):
    value = "as the reference does it, " * 30
    document = full_spec()
    del document["choices"], document["ops"]
    fields = [{"field": "summary", "value": value}]
    document["amendments"] = [{**empty_row("amendments"), "id": "A3", "fields": fields}]
    said = said_at(page_with(client, forms_world, "overview", document), "f-summary")
    assert "A3 sets this to as the reference does it, as the" in said
    assert "…, which the rules read." in said
    assert value.strip() not in said


def test_messages_call_each_number_as_its_form_does():
    inputs = {i.name: i.label for section in SECTIONS for i in section.inputs}
    for section in SECTIONS:
        for path, table in every_table(section.tables):
            inputs |= {f"{path}.{i.name}": i.label for i in table.all_inputs}
    numbers = [p for p in inputs if p.rpartition(".")[2] in FORMULAS or p.startswith("wiring.tasks.")]
    assert len(numbers) > 60
    assert [p for p in numbers if field_words(p).lower() != inputs[p].lower()] == []
    assert spoken("smem.regions[2].size_bytes") == "smem regions, row 3: size (B)"
    assert spoken("sems.num_op_sems") == "sems: number of semaphores"
    assert spoken("title") == "title"


@pytest.mark.django_db
def test_the_missing_inputs_of_a_row_are_one_line_and_each_says_its_field_and_what_to_enter(client, forms_world):
    document = full_spec()
    del document["choices"], document["ops"]
    document["wiring"]["tasks"].append({**empty_row("wiring.tasks"), "type": "tail"})
    number = len(document["wiring"]["tasks"])
    page = page_with(client, forms_world, "wiring", document)
    group = re.search(rf"<summary>Task type {number}: (\d+) missing inputs</summary>(.*?)</details>", page, re.S)
    lines = re.findall(r"<li .*?</li>", group[2], re.S)
    assert len(lines) == int(group[1]) > 8
    for line in lines:
        label = re.search(r"</span> (.+?)</a>", line)[1]
        said = re.search(r"data-said>(.*?)</span>", line)[1]
        assert label.lower() in said.lower()
        assert re.search(r"data-fix>(Write|Count|Answer|Choose|Name)\b", line), line
    assert 'tail: register split is not given. <span class="muted">Write after' in said_at(
        page, f"f-wiring-tasks-{number - 1}-register_split"
    )


@pytest.mark.django_db
def test_a_formula_without_a_value_names_its_field(client, forms_world):
    document = full_spec()
    del document["choices"], document["ops"]
    document["smem"]["regions"][0]["size_bytes"], document["amendments"] = "2,1", []
    page = page_with(client, forms_world, "smem", document)
    assert "smem regions, row 1: size (B) &quot;2,1&quot; has no value" in said_at(page, "f-smem-regions-0-size_bytes")


@pytest.mark.django_db
def test_a_section_that_the_gate_blocks_says_so_beside_its_name(client, forms_world):
    code = forms_world["spec"].code
    choices = reverse("kernels:spec_edit", args=[code, "choices"])
    counted = re.compile(rf'href="{choices}"[^>]*>Choices.*?data-gate>gate (\d+)', re.S)
    client.get(choices)
    document = SpecDraft.objects.get(user=f.designer().user).content
    choice = {**document["choices"][0], "polarity": "adopts", "citations": [], "prediction": None}
    page = page_with(client, forms_world, "sems", {"choices": [choice]})
    (blocked,) = counted.findall(page)
    assert int(blocked) == len(re.findall(r"/choices/C1/#f-", page[page.index('id="gate"') :]))
    page = page_with(client, forms_world, "sems", {"choices": []})
    assert "AL1" in page
    assert counted.findall(page) == ["1"]


@pytest.mark.django_db
def test_an_op_that_a_part_lacks_is_said_while_one_types_and_in_the_same_words_at_every_door(client, forms_world):
    spec = forms_world["spec"]
    overview = reverse("kernels:spec_edit", args=[spec.code, "overview"])
    said = {"w2": "There is no op w2.", "": "W2 names no op, so no contract says what it computes."}
    for slug, sentence in said.items():
        draft = SpecDraft.objects.get(user=f.designer().user)
        typed = parse_qsl(Page("overview").form_of(draft.content), keep_blank_values=True)
        typed = [pair for pair in typed if not pair[0].startswith(("ops.total", "ops[1]"))]
        typed += [("ops.total", "2"), ("ops[1].name", "W2"), ("ops[1].op", slug)]
        body = urlencode([*typed, ("version", draft.version), ("action", "autosave")])
        form = "application/x-www-form-urlencoded"
        panel = client.post(overview, body, content_type=form, headers={"HX-Request": "true"}).content.decode()
        assert f'data-at="ops-1-op" data-level="{"error" if slug else "missing"}"' in panel
        assert sentence in panel[panel.index('id="checks"') :]
        assert sentence in said_at(client.get(overview).content.decode(), "f-ops-1-op")
    finish = {"version": SpecDraft.objects.get(user=f.designer().user).version, "action": "submit"}
    refused = client.post(reverse("kernels:spec_finish", args=[spec.code]), finish)
    assert refused.status_code == 422
    assert said[""] in html.unescape(refused.content.decode())
    revision = SpecRevision.objects.get(spec=spec, number=2)
    assert any(sentence.startswith(said[""]) for sentence in what_is_missing(revision))
    assert said[""] in client.get(spec.get_absolute_url()).content.decode()
