// Without this script the page shows everything; with it, only one kind of verdict if asked for.
(() => {
  const bar = document.getElementById("filter");
  const buttons = [...bar.querySelectorAll("button")];
  bar.hidden = false;
  for (const button of buttons) {
    button.addEventListener("click", () => {
      document.documentElement.dataset.show = button.value;
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
    });
  }
})();
