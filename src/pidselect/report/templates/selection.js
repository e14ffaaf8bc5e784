// Adds the choice of light or dark, and sorting, searching and filtering of features.
(() => {
  const themes = ["system", "light", "dark"];
  const theme = document.getElementById("theme");
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    const next = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
    root.dataset.theme = next;
    theme.lastElementChild.textContent = next;
  });
  // Browsers without light-dark() are light: see base.css.
  theme.hidden = getComputedStyle(document.documentElement).colorScheme === "light";

  const table = document.getElementById("roles");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.querySelectorAll("tr")];
  const heads = [...table.tHead.rows[0].cells];
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  const key = (cell, isNumber) => {
    const text = cell.dataset.value ?? cell.textContent.trim();
    return isNumber ? (text === "" ? NaN : Number(text)) : text;
  };
  const sort = (column) => {
    const head = heads[column];
    const isNumber = head.dataset.sort === "number";
    const up = isNumber && head.dataset.first !== "up" ? "descending" : "ascending";
    const other = up === "ascending" ? "descending" : "ascending";
    const direction = head.getAttribute("aria-sort") === up ? other : up;
    const sign = direction === "ascending" ? 1 : -1;
    const keys = new Map();
    for (const cell of body.querySelectorAll(`tr > :nth-child(${column + 1})`)) {
      keys.set(cell.parentNode, key(cell, isNumber));
    }
    const keyed = rows.map((row, place) => ({ row, place, key: keys.get(row) }));
    keyed.sort((a, b) => {
      if (!isNumber) return sign * collator.compare(a.key, b.key) || a.place - b.place;
      // Unknown values come last in both directions.
      if (Number.isNaN(a.key) || Number.isNaN(b.key)) {
        return Number.isNaN(a.key) - Number.isNaN(b.key) || a.place - b.place;
      }
      return (a.key === b.key ? 0 : sign * (a.key < b.key ? -1 : 1)) || a.place - b.place;
    });
    // Replacing all rows at once is a hundred times faster than moving them one by one.
    body.replaceChildren();
    const sorted = document.createDocumentFragment();
    for (const item of keyed) sorted.append(item.row);
    body.append(sorted);
    for (const one of heads) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction);
  };
  table.classList.add("sortable");
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(column));
    head.append(button);
  });

  const search = document.getElementById("search");
  const role = document.getElementById("role");
  const shown = document.getElementById("shown");
  const names = rows.map((row) => row.querySelector("th").textContent.toLowerCase());
  const filter = () => {
    const wanted = search.value.trim().toLowerCase();
    let count = 0;
    rows.forEach((row, place) => {
      const fits = names[place].includes(wanted) && (!role.value || row.dataset.role === role.value);
      row.hidden = !fits;
      count += fits;
    });
    shown.textContent = `${count} of ${rows.length} shown`;
  };
  search.addEventListener("input", filter);
  role.addEventListener("change", filter);
  filter();
  document.querySelector(".controls").hidden = false;

  // A link to a hidden feature resets the filter.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#feature-"]');
    if (!link || !document.getElementById(link.hash.slice(1)).hidden) return;
    search.value = role.value = "";
    filter();
  });
})();
