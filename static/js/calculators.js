// A calculator answers while one types: fields with something wrong beside them are marked as invalid, others no more.
"use strict";
document.addEventListener("htmx:afterSettle", () => {
  for (const field of document.querySelectorAll("#calculator [aria-describedby]")) {
    const wrong = Boolean(document.getElementById(field.getAttribute("aria-describedby"))?.childElementCount);
    if (wrong) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
    field.closest(".field")?.classList.toggle("field-invalid", wrong);
  }
});
