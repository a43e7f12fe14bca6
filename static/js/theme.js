// Runs before the first paint: the stored choice wins over the system's, so no page flashes.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  let stored = null;
  try { stored = localStorage.getItem("v2kb.theme"); } catch { stored = null; }
  if (stored === "light" || stored === "dark") root.dataset.theme = stored;
  else if (stored === "auto") delete root.dataset.theme;
})();
