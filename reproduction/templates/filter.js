// Without this script the page shows everything; with it, only one kind of verdict if asked for.
(() => {
  const bar = document.getElementById("filter");
  const buttons = [...bar.querySelectorAll("button")];
  const show = (verdict) => {
    document.documentElement.dataset.show = verdict;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.value === verdict));
  };
  bar.hidden = false;
  for (const button of buttons) button.addEventListener("click", () => show(button.value));
  // A link to what is hidden brings everything back.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && !document.getElementById(link.hash.slice(1)).getClientRects().length) show("all");
  });
})();
