// On paper everything is shown, but for figures of which nothing was measured.
"use strict";
addEventListener("beforeprint", () => {
  for (const d of document.querySelectorAll("section.figure:not(.unmeasured) details, .missing")) d.open = true;
});
